"""Objects: documents and chunks as JSON objects, and back; a field without a value is left out."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict
from json.encoder import encode_basestring as _quoted
from typing import Any

from karat.core.docs import Chunk, Doc, Page, Section

_NOT_AS_IT_IS = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_READABLE = json.JSONEncoder(ensure_ascii=False)


def chunk_fields(chunk: Chunk) -> dict[str, Any]:
    """A chunk as a JSON object."""
    return _filled(
        id=chunk.id,
        doc=chunk.doc,
        text=chunk.text,
        title=chunk.title,
        url=chunk.url,
        pages=chunk.pages or None,
        labels=chunk.labels or None,
        span=chunk.span,
        tokens=chunk.tokens,
        meta=dict(chunk.meta) or None,
    )


def doc_fields(doc: Doc) -> dict[str, Any]:
    """A document as a JSON object."""
    pages = [_filled(number=page.number, start=page.start, end=page.end, label=page.label) for page in doc.pages]
    sections = [asdict(section) for section in doc.sections]
    return _filled(
        id=doc.id,
        text=doc.text,
        title=doc.title,
        url=doc.url,
        pages=pages or None,
        sections=sections or None,
        part_of=doc.part_of,
        meta=dict(doc.meta) or None,
    )


def _filled(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def json_line(row: Mapping[str, Any]) -> bytes:
    """A row as a line of JSON: readable, but for characters that end a line somewhere or cannot be written."""
    line = f"{{{', '.join([f'{_quoted(name)}: {_value(value)}' for name, value in row.items()])}}}"
    if (not line.isascii() or "\x7f" in line) and _NOT_AS_IT_IS.search(line):
        line = json.dumps(row)
    return f"{line}\n".encode()


def _value(value: Any) -> str:
    """A value in JSON; most are texts and numbers, which need no encoder to be made."""
    if type(value) is str:
        return _quoted(value)
    if type(value) is int:
        return str(value)
    return _READABLE.encode(value)


def chunk_of(row: Mapping[str, Any]) -> Chunk:
    """The chunk of a JSON object; KeyError, TypeError or ValueError where it is none."""
    span = _list(row, "span", int)
    if span and len(span) != 2:
        raise ValueError(f"its 'span' has {len(span)} numbers, not a start and an end")
    return Chunk(
        _text(row, "id"),
        _text(row, "doc"),
        _text(row, "text"),
        title=_maybe(row, "title", str),
        url=_maybe(row, "url", str),
        pages=_list(row, "pages", int),
        labels=_list(row, "labels", str),
        span=(span[0], span[1]) if span else None,
        tokens=_maybe(row, "tokens", int),
        meta=_meta(row),
    )


def doc_of(row: Mapping[str, Any]) -> Doc:
    """The document of a JSON object; KeyError, TypeError or ValueError where it is none."""
    return Doc(
        _text(row, "id"),
        _text(row, "text"),
        _maybe(row, "title", str),
        url=_maybe(row, "url", str),
        pages=tuple(
            Page(_number(page, "number"), _number(page, "start"), _number(page, "end"), _maybe(page, "label", str))
            for page in _list(row, "pages", dict)
        ),
        sections=tuple(
            Section(_text(part, "title"), _number(part, "level"), _number(part, "start"))
            for part in _list(row, "sections", dict)
        ),
        part_of=_maybe(row, "part_of", str),
        meta=_meta(row),
    )


def doc_of_chunk(id_: str, chunk: Chunk) -> Doc:
    """The document that a chunk is, where the whole of it is one chunk and nothing else is known of it."""
    part_of = chunk.doc if chunk.span is None else None
    return Doc(id_, chunk.text, chunk.title, url=chunk.url, part_of=part_of, meta=chunk.meta)


def _required(kind: type) -> Callable[[Mapping[str, Any], str], Any]:
    def value_of(row: Mapping[str, Any], field: str) -> Any:
        return _as(row[field], kind, field)

    return value_of


_text, _number = _required(str), _required(int)


def _maybe(row: Mapping[str, Any], field: str, kind: type) -> Any:
    value = row.get(field)
    return None if value is None else _as(value, kind, field)


def _list(row: Mapping[str, Any], field: str, kind: type) -> tuple[Any, ...]:
    return tuple([_as(value, kind, field) for value in _as(row[field], list, field)]) if field in row else ()


def _meta(row: Mapping[str, Any]) -> dict[str, str]:
    meta = _as(row["meta"], dict, "meta") if "meta" in row else {}
    return {name: _as(value, str, f"meta.{name}") for name, value in meta.items()}


def _as(value: Any, kind: type, field: str) -> Any:
    if type(value) is not kind:
        raise TypeError(f"its {field!r} holds {type(value).__name__} where {kind.__name__} belongs")
    return value
