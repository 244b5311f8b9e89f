"""langsmith: runs of LangSmith, one a row or with their child runs inside, from its API, SDK or bulk export."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from karat.core.run import Run
from karat.files._format import Fit, Format, Kind
from karat.files._span_content import ContentReader, kind_of, seconds_since_1970
from karat.files._span_texts import parsed
from karat.files._spans import Span
from karat.files._traces import TraceReader, error_of, keys_of, otel_id, wrapper_of
from karat.io import cells
from karat.io.cells import known_number
from karat.io.input import Input

_KIND = "run_type"
_WRAPPERS = ("runs", "data", "items")
_PLACES = ("trace_id", "parent_run_id", "dotted_order", "child_runs")


def _sniff(input: Input, kind: Kind) -> Fit | None:
    keys = keys_of(input) if kind == "results" else ()
    starts = ("", *(f"{wrapper}." for wrapper in _WRAPPERS))
    fits = any(f"{start}{_KIND}" in keys and any(f"{start}{name}" in keys for name in _PLACES) for start in starts)
    return Fit(1.0, "run_type and trace_id") if fits else None


def _trace_of(run: Mapping[str, Any], own: str) -> str:
    """The trace of a run: as it says, or the first run of its dotted order, or itself."""
    trace, order = otel_id(run.get("trace_id")), run.get("dotted_order")
    if trace is None and isinstance(order, str):
        _, _, first = order.split(".", 1)[0].partition("Z")
        trace = otel_id(first)
    return trace or own


def _spans_of(record: Mapping[str, Any], content: ContentReader) -> Iterator[Span]:
    stack: list[tuple[Mapping[str, Any], str | None, str | None]] = [(record, None, None)]
    while stack:
        run, trace, parent = stack.pop()
        own = otel_id(run.get("id", run.get("run_id")))
        if own is None:
            continue
        trace = trace or _trace_of(run, own)
        yield _span(run, own, trace, otel_id(run.get("parent_run_id")) or parent, content)
        children = parsed(run.get("child_runs"))
        if isinstance(children, list):
            stack += [(child, trace, own) for child in children if isinstance(child, dict)]


def _span(run: Mapping[str, Any], own: str, trace: str, parent: str | None, content: ContentReader) -> Span:
    name, error = run.get("name"), run.get("error")
    extra = parsed(run.get("extra"))
    metadata = parsed(extra.get("metadata")) if isinstance(extra, dict) else None
    model = metadata.get("ls_model_name") if isinstance(metadata, dict) else None
    span = Span(
        trace=trace,
        id=own,
        parent=parent,
        name=name if isinstance(name, str) else "",
        kind=kind_of(run.get(_KIND)),
        start=seconds_since_1970(run.get("start_time")),
        end=seconds_since_1970(run.get("end_time")),
        error=None if cells.is_missing(error) else error_of("error", error),
        model=model if isinstance(model, str) else None,
        tokens=content.tokens(run.get("total_tokens"), run.get("prompt_tokens"), run.get("completion_tokens")),
        cost=known_number(run.get("total_cost")),
    )
    content.fill(span, [run.get("inputs")], [run.get("outputs")])
    return span


def _read(input: Input) -> tuple[list[Run], list[str]]:
    return TraceReader(input).read(wrapper_of(keys_of(input), _WRAPPERS, _KIND), _spans_of)


FORMAT = Format(
    name="langsmith",
    about="runs of LangSmith: JSON, JSONL, CSV or Parquet",
    sniff=_sniff,
    read_results=_read,
    by_head=True,
)
