"""langfuse: traces of Langfuse with their observations, or observations one a row, from its API or its export."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from karat.core.run import Run
from karat.files._format import Fit, Format, Kind
from karat.files._span_content import ContentReader, kind_of, seconds_since_1970
from karat.files._span_texts import parsed
from karat.files._spans import Span
from karat.files._traces import TraceReader, error_of, keys_of, otel_id
from karat.io.cells import known_number
from karat.io.input import Input

_WRAPPERS = ("", "data.", "traces.")
_MARKS = ("observations.type", "observations.traceid", "observations.starttime", "parentobservationid",
          "parent_observation_id")  # fmt: skip
_PARENT = ("parentObservationId", "parent_observation_id")
_TRACE = ("traceId", "trace_id")


def _wrapper(input: Input) -> str | None:
    """Under what the records stand; None where there are none of Langfuse's."""
    keys = {key.lower() for key in keys_of(input)}
    starts = (start for start in _WRAPPERS if any(f"{start}{mark}" in keys for mark in _MARKS))
    return next((start.removesuffix(".") for start in starts), None)


def _sniff(input: Input, kind: Kind) -> Fit | None:
    return Fit(1.0, "observations of traces") if kind == "results" and _wrapper(input) is not None else None


def _get(record: Mapping[str, Any], *names: str) -> Any:
    return next((record[name] for name in names if record.get(name) is not None), None)


def _spans_of(record: Mapping[str, Any], content: ContentReader) -> Iterator[Span]:
    observations, trace = record.get("observations"), otel_id(_get(record, *_TRACE))
    if not isinstance(observations, list):
        if trace is not None:
            yield from _observation(record, trace, None, content)
        return
    own = otel_id(record.get("id")) or trace
    if own is None:
        return
    spans = [
        span
        for observation in observations
        if isinstance(observation, dict)
        for span in _observation(observation, own, own, content)
    ]
    starts = [span.start for span in spans if span.start is not None]
    ends = [span.end for span in spans if span.end is not None]
    name = record.get("name")
    root = Span(
        trace=own,
        id=own,
        name=name if isinstance(name, str) else "",
        kind="chain",
        start=min(starts, default=seconds_since_1970(record.get("timestamp"))),
        end=max(ends, default=None),
        error=next((span.error for span in spans if span.parent == own and span.error is not None), None),
    )
    content.fill(root, [record.get("input")], [record.get("output")])
    yield from (root, *spans)


def _observation(record: Mapping[str, Any], trace: str, root: str | None, content: ContentReader) -> Iterator[Span]:
    own = otel_id(record.get("id"))
    if own is None:
        return
    name, level = record.get("name"), record.get("level")
    model = _get(record, "model", "providedModelName", "provided_model_name")
    span = Span(
        trace=trace,
        id=own,
        parent=otel_id(_get(record, *_PARENT)) or root,
        name=name if isinstance(name, str) else "",
        kind=kind_of(record.get("type")),
        start=seconds_since_1970(_get(record, "startTime", "start_time")),
        end=seconds_since_1970(_get(record, "endTime", "end_time")),
        error=error_of("error", _get(record, "statusMessage", "status_message")) if level == "ERROR" else None,
        model=model if isinstance(model, str) else None,
        tokens=content.tokens(
            _get(record, "totalTokens"), _get(record, "promptTokens"), _get(record, "completionTokens"),
            usage=_get(record, "usageDetails", "usage_details", "usage"),
        ),
        cost=known_number(_get(record, "calculatedTotalCost", "totalCost", "total_cost")),
    )  # fmt: skip
    content.fill(span, [record.get("input")], [parsed(record.get("output"))])
    yield span


def _read(input: Input) -> tuple[list[Run], list[str]]:
    wrapper = _wrapper(input)
    return TraceReader(input).read({wrapper: {}} if wrapper else {}, _spans_of)


FORMAT = Format(
    name="langfuse",
    about="traces and observations of Langfuse: JSON or JSONL",
    sniff=_sniff,
    read_results=_read,
    by_head=True,
)
