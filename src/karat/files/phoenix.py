"""phoenix: spans as Arize Phoenix exports them, one a row: a dataframe as JSON, JSONL, CSV or Parquet, or its API."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from karat.core.run import Run
from karat.files._format import Fit, Format, Kind
from karat.files._span_content import ContentReader, flat, kind_of, seconds_since_1970
from karat.files._span_texts import parsed
from karat.files._spans import Span
from karat.files._traces import TraceReader, error_of, keys_of, otel_id, wrapper_of
from karat.io import cells
from karat.io.input import Input

_TRACE = "context.trace_id"
_WRAPPERS = ("data", "spans")
_ATTRIBUTES = "attributes"


def _sniff(input: Input, kind: Kind) -> Fit | None:
    keys = keys_of(input) if kind == "results" else frozenset[str]()
    names = (_TRACE, *(f"{wrapper}.{_TRACE}" for wrapper in _WRAPPERS))
    trace_key = next((name for name in names if name in keys), None)
    if trace_key is None:
        return None
    start = trace_key.removesuffix(_TRACE)
    is_span = f"{start}span_kind" in keys or any(key.startswith(f"{start}{_ATTRIBUTES}") for key in keys)
    return Fit(1.0, "context.trace_id and attributes of spans") if is_span else None


def _spans_of(row: Mapping[str, Any], content: ContentReader) -> Iterator[Span]:
    if isinstance(row.get(_TRACE), dict):  # a dataframe by columns, as pandas writes it unless told otherwise
        for index in row[_TRACE]:
            cells_of = {name: column.get(index) for name, column in row.items() if isinstance(column, dict)}
            yield from _spans_of(cells_of, content)
        return
    context = row.get("context")
    context = context if isinstance(context, dict) else {}
    trace = otel_id(row.get(_TRACE, context.get("trace_id")))
    own = otel_id(row.get("context.span_id", context.get("span_id", row.get("span_id"))))
    if trace is None or own is None:
        return
    name, events = row.get("name"), parsed(row.get("events"))
    span = Span(
        trace=trace,
        id=own,
        parent=otel_id(row.get("parent_id")),
        name=name if isinstance(name, str) else "",
        kind=kind_of(row.get("span_kind")),
        start=seconds_since_1970(row.get("start_time")),
        end=seconds_since_1970(row.get("end_time")),
        error=error_of(row.get("status_code", ""), row.get("status_message")),
    )
    nested = parsed(row.get(_ATTRIBUTES))
    attributes = flat(nested) if isinstance(nested, dict) else {}
    columns = {key: value for key, value in row.items() if key.startswith(f"{_ATTRIBUTES}.")}
    attributes |= flat({
        key.removeprefix(f"{_ATTRIBUTES}."): value for key, value in columns.items() if not cells.is_missing(value)
    })  # fmt: skip
    yield content.by_attributes(span, attributes, events if isinstance(events, list) else ())


def _read(input: Input) -> tuple[list[Run], list[str]]:
    return TraceReader(input).read(wrapper_of(keys_of(input), _WRAPPERS, _TRACE), _spans_of)


FORMAT = Format(
    name="phoenix",
    about="spans of Arize Phoenix: JSON, JSONL, CSV or Parquet",
    sniff=_sniff,
    read_results=_read,
    by_head=True,
)
