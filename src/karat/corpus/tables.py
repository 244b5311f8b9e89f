"""Chunks and documents on disk: `chunks.jsonl` and `docs.jsonl`, each beside a table of where its lines begin.

A line is one JSON object, for people and for any tool that reads JSONL; a field without a value is left out.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, overload

from karat.core.docs import Chunk, Chunks, Doc, Page, Section
from karat.corpus._rows import Rows, write_rows

Folder = str | os.PathLike[str]


def save_chunks(chunks: Iterable[Chunk], folder: Folder) -> None:
    """Write `chunks.jsonl` and `chunks.offsets.npy`, in the order given."""
    write_rows(map(_of_chunk, chunks), Path(folder), "chunks")


def load_chunks(folder: Folder) -> Chunks:
    """The chunks of a folder; each is read from disk when it is asked for."""
    return _StoredChunks(Rows(Path(folder), "chunks", _chunk))


def save_docs(docs: Iterable[Doc], folder: Folder) -> None:
    """Write `docs.jsonl` and `docs.offsets.npy`, in the order given."""
    write_rows(map(doc_fields, docs), Path(folder), "docs")


def load_docs(folder: Folder) -> Docs:
    """The documents of a folder; each is read from disk when it is asked for."""
    return Docs(Rows(Path(folder), "docs", doc_of))


class _StoredChunks(Chunks):
    """Chunks read from disk row by row."""

    def __init__(self, rows: Rows[Chunk]) -> None:
        super().__init__(rows)
        self._rows = rows

    @cached_property
    def ids(self) -> list[str]:
        return self._rows.ids()


class Docs(Sequence[Doc]):
    """Documents read from disk, by row or by id."""

    def __init__(self, rows: Rows[Doc]) -> None:
        self._rows = rows

    @overload
    def __getitem__(self, row: int) -> Doc: ...
    @overload
    def __getitem__(self, row: slice) -> Sequence[Doc]: ...
    def __getitem__(self, row: int | slice) -> Doc | Sequence[Doc]:
        return self._rows[row]

    def __len__(self) -> int:
        return len(self._rows)

    @cached_property
    def ids(self) -> list[str]:
        """The id of each row."""
        return self._rows.ids()

    @cached_property
    def row_of(self) -> Mapping[str, int]:
        """The row of each id."""
        return {id_: row for row, id_ in enumerate(self.ids)}

    def by_id(self, id_: str) -> Doc:
        """The document of this id; KeyError when there is none."""
        return self[self.row_of[id_]]


def _of_chunk(chunk: Chunk) -> dict[str, Any]:
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
    sections = [
        _filled(title=section.title, level=section.level, start=section.start, anchor=section.anchor)
        for section in doc.sections
    ]
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


def _chunk(row: Mapping[str, Any]) -> Chunk:
    span = _list(row, "span", int)
    if span and len(span) != 2:
        raise ValueError(f"its 'span' has {len(span)} numbers, not a start and an end")
    return Chunk(
        _text(row, "id"),
        _text(row, "doc"),
        _text(row, "text"),
        _maybe(row, "title", str),
        _maybe(row, "url", str),
        _list(row, "pages", int),
        _list(row, "labels", str),
        (span[0], span[1]) if span else None,
        _maybe(row, "tokens", int),
        _meta(row),
    )


def doc_of(row: Mapping[str, Any]) -> Doc:
    """The document of a JSON object; KeyError, TypeError or ValueError where it is none."""
    return Doc(
        _text(row, "id"),
        _text(row, "text"),
        _maybe(row, "title", str),
        _maybe(row, "url", str),
        tuple(
            Page(_number(page, "number"), _number(page, "start"), _number(page, "end"), _maybe(page, "label", str))
            for page in _list(row, "pages", dict)
        ),
        tuple(
            Section(_text(part, "title"), _number(part, "level"), _number(part, "start"), _maybe(part, "anchor", str))
            for part in _list(row, "sections", dict)
        ),
        _maybe(row, "part_of", str),
        _meta(row),
    )


def _required(kind: type) -> Callable[[Mapping[str, Any], str], Any]:
    def value_of(row: Mapping[str, Any], field: str) -> Any:
        return _as(row[field], kind, field)

    return value_of


_text, _number = _required(str), _required(int)


def _maybe(row: Mapping[str, Any], field: str, kind: type) -> Any:
    value = row.get(field)
    return None if value is None else _as(value, kind, field)


def _list(row: Mapping[str, Any], field: str, kind: type) -> tuple[Any, ...]:
    return tuple(_as(value, kind, field) for value in _as(row.get(field, []), list, field))


def _meta(row: Mapping[str, Any]) -> dict[str, str]:
    meta = _as(row.get("meta", {}), dict, "meta")
    return {name: _as(value, str, f"meta.{name}") for name, value in meta.items()}


def _as(value: Any, kind: type, field: str) -> Any:
    if type(value) is not kind:
        raise TypeError(f"its {field!r} holds {type(value).__name__} where {kind.__name__} belongs")
    return value
