"""mlflow: traces of MLflow, `info` and `data.spans`, one a document, a line, or a row of `search_traces`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from karat.core.run import Run
from karat.files._format import Fit, Format, Kind
from karat.files._span_content import ContentReader, seconds_since_1970
from karat.files._span_texts import parsed
from karat.files._spans import Span
from karat.files._traces import TraceReader, error_of, keys_of, otel_id, wrapper_of
from karat.io.input import Input

_SPANS = "data.spans"
_WRAPPERS = ("traces",)
_COLUMNS = frozenset(("trace", "spans", "trace_id"))  # of a frame of traces


def _sniff(input: Input, kind: Kind) -> Fit | None:
    keys = keys_of(input) if kind == "results" else frozenset[str]()
    fits = _SPANS in keys or f"{_WRAPPERS[0]}.{_SPANS}" in keys or keys >= _COLUMNS
    return Fit(1.0, "info and data.spans") if fits else None


def _spans_of(record: Mapping[str, Any], content: ContentReader) -> Iterator[Span]:
    whole = parsed(record.get("trace"))
    record = whole if isinstance(whole, dict) else record
    info, data = parsed(record.get("info")), parsed(record.get("data"))
    info = info if isinstance(info, dict) else {}
    spans = parsed(data.get("spans")) if isinstance(data, dict) else None
    trace = otel_id(info.get("trace_id", info.get("request_id")))
    failed = "error" in str(info.get("state", info.get("status"))).lower()
    for span in spans if isinstance(spans, list) else ():
        if isinstance(span, dict):
            yield from _span(span, trace, failed, content)


def _span(span: Mapping[str, Any], trace: str | None, failed: bool, content: ContentReader) -> Iterator[Span]:
    context, status, attributes = (span.get(name) for name in ("context", "status", "attributes"))
    context = context if isinstance(context, dict) else span
    status = status if isinstance(status, dict) else {}
    own, parent = otel_id(context.get("span_id")), otel_id(span.get("parent_span_id", span.get("parent_id")))
    trace = trace or otel_id(context.get("trace_id"))
    if own is None or trace is None:
        return
    name, events = span.get("name"), span.get("events")
    error = error_of(status.get("code", span.get("status_code", "")), status.get("message", span.get("status_message")))
    one = Span(
        trace=trace,
        id=own,
        parent=parent,
        name=name if isinstance(name, str) else "",
        start=seconds_since_1970(span.get("start_time_unix_nano", span.get("start_time"))),
        end=seconds_since_1970(span.get("end_time_unix_nano", span.get("end_time"))),
        error="" if error is None and failed and parent is None else error,
    )
    named = attributes if isinstance(attributes, dict) else {}
    yield content.by_attributes(one, named, events if isinstance(events, list) else ())


def _read(input: Input) -> tuple[list[Run], list[str]]:
    return TraceReader(input).read(wrapper_of(keys_of(input), _WRAPPERS, _SPANS), _spans_of)


FORMAT = Format(
    name="mlflow",
    about="traces of MLflow: JSON, JSONL, CSV or Parquet",
    sniff=_sniff,
    read_results=_read,
    by_head=True,
)
