"""otlp: OTLP/JSON, as the file exporter of an OpenTelemetry collector writes it, and as documents of `resourceSpans`.

Attributes are those of OpenInference, and `gen_ai.*` of OpenTelemetry's semantic conventions 1.41.0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

from karat.core.run import Run
from karat.files._format import Fit, Format, Kind
from karat.files._span_content import READ, ContentReader, seconds_since_1970
from karat.files._spans import Span
from karat.files._traces import TraceReader, error_of, keys_of, otel_id
from karat.io.cells import known_number
from karat.io.input import Input
from karat.io.json_stream import Inside

_SPANS: Inside = {"spans": {}}
_RESOURCES = "resourceSpans"
_SCOPES = ("scopeSpans", "instrumentationLibrarySpans")  # the second until 2022
_INSIDE: Inside = {_RESOURCES: dict.fromkeys(_SCOPES, _SPANS)}
_PLAIN = ("stringValue", "boolValue", "intValue", "doubleValue")
_DEEPEST = 20


def _sniff(input: Input, kind: Kind) -> Fit | None:
    keys = keys_of(input) if kind == "results" else ()
    return Fit(1.0, _RESOURCES) if _RESOURCES in keys else None


def value_of(value: Any, depth: int = 0) -> Any:
    """A value as OTLP wraps it: `{"stringValue": "a"}` is "a"; one that is not wrapped stays."""
    if not isinstance(value, dict) or depth > _DEEPEST:
        return None if isinstance(value, dict) else value
    for name in _PLAIN:
        if name in value:
            return value[name]
    if isinstance(inner := value.get("arrayValue"), dict):
        items = inner.get("values")
        return [value_of(item, depth + 1) for item in items] if isinstance(items, list) else []
    inner = value.get("kvlistValue")
    return _pairs(inner.get("values"), depth + 1, ("",)) if isinstance(inner, dict) else None


def _pairs(pairs: Any, depth: int = 0, starts: tuple[str, ...] = READ) -> dict[str, Any]:
    """Attributes by name, those alone that are looked at."""
    if not isinstance(pairs, list):
        return {}
    return {
        pair["key"]: value_of(pair.get("value"), depth)
        for pair in pairs
        if isinstance(pair, dict) and isinstance(pair.get("key"), str) and pair["key"].startswith(starts)
    }


def _spans_of(span: Mapping[str, Any], content: ContentReader) -> Iterator[Span]:
    trace = otel_id(span.get("traceId"))
    own = otel_id(span.get("spanId"))
    if trace is None or own is None:
        return
    content.cut_spans += (known_number(span.get("droppedAttributesCount")) or 0) > 0
    status, name = span.get("status"), span.get("name")
    status = status if isinstance(status, dict) else {}
    one = Span(
        trace=trace,
        id=own,
        parent=otel_id(span.get("parentSpanId")),
        name=name if isinstance(name, str) else "",
        start=seconds_since_1970(span.get("startTimeUnixNano")),
        end=seconds_since_1970(span.get("endTimeUnixNano")),
        error=error_of(status.get("code", ""), status.get("message")),
    )
    events = [
        {"name": event.get("name"), "attributes": _pairs(event.get("attributes"), 0, ("",))}
        for event in _objects(span.get("events"))
    ]
    yield content.by_attributes(one, _pairs(span.get("attributes")), events)


def _read(input: Input) -> tuple[list[Run], list[str]]:
    inside = _INSIDE if input.source is not None else {}
    return TraceReader(input).read(inside, _spans_of if inside else _spans_of_document)


def _spans_of_document(document: Mapping[str, Any], content: ContentReader) -> Iterator[Span]:
    """The spans of a whole document, which a caller has at hand."""
    for resource in _objects(document.get(_RESOURCES)):
        for scope in chain.from_iterable(_objects(resource.get(name)) for name in _SCOPES):
            for span in _objects(scope.get("spans")):
                yield from _spans_of(span, content)


def _objects(values: Any) -> list[Mapping[str, Any]]:
    return [value for value in values if isinstance(value, dict)] if isinstance(values, list) else []


FORMAT = Format(
    name="otlp",
    about="OTLP/JSON traces: OpenInference and gen_ai attributes",
    sniff=_sniff,
    read_results=_read,
    by_head=True,
)
