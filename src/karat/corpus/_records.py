"""Records: rows of JSONL, tables and the like made into documents."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from karat.core.docs import Doc, Page
from karat.core.errors import UsageError, did_you_mean
from karat.corpus._file import File, ReadError
from karat.io.cells import CellError, is_missing
from karat.io.decoding import plain
from karat.io.fields import DOCUMENT, field_name, flattened
from karat.io.pages import PageReader, counts_from_0, page_number
from karat.io.records import JSONError, parse_json

_FIELD_OF = {alias: field for field, aliases in DOCUMENT.items() for alias in (*aliases, field)}
_HELD = frozenset(alias for field in ("id", "chunk", "text", "title", "url") for alias in DOCUMENT[field])
_MAP_REMEDY = "Name the column of the texts with --map COLUMN=text."

Row = tuple[int, Any]


def checked(columns: Mapping[str, str] | None) -> dict[str, str]:
    """The user's column -> field, with each field known."""
    fields = {}
    for column, wanted in (columns or {}).items():
        name = field_name(str(wanted))
        if name not in _FIELD_OF:
            raise UsageError(
                f"--map {column}={wanted}: there is no field {wanted!r}.{did_you_mean(name, DOCUMENT)} "
                f"Fields of a document: {', '.join(DOCUMENT)}."
            )
        fields[str(column)] = _FIELD_OF[name]
    return fields


def check_used(columns: Mapping[str, str], fields: Iterable[str]) -> None:
    """Refuse a column that no record has: a slip that would change nothing in silence."""
    known = dict.fromkeys(fields)
    for column, wanted in columns.items():
        if field_name(column) not in known:
            has = f"Fields of the records: {', '.join(known)[:200]}." if known else "There are no records."
            raise UsageError(
                f"--map {column}={wanted}: no record has a field {column!r}.{did_you_mean(column, known)} {has}"
            )


class _Record:
    """The fields of a record, found by the user's map first, then by alias."""

    def __init__(self, record: Mapping[str, Any], columns: Mapping[str, str]) -> None:
        self.fields = flattened(record)
        self.names = list(self.fields)
        self.counts_from_0 = counts_from_0(record)
        self._mapped: dict[str, list[Any]] = {}
        for column, field in columns.items():
            if column in self.fields:
                self._mapped.setdefault(field, []).append(self.fields.pop(column))

    def has(self, field: str) -> bool:
        """Whether there is such a field, filled or not."""
        return field in self._mapped or any(alias in self.fields for alias in DOCUMENT[field])

    def first(self, field: str) -> Any:
        """The first filled value of a field, or None."""
        for value in self._mapped.get(field, ()):
            if not is_missing(value):
                return value
        for alias in DOCUMENT[field]:
            value = self.fields.get(alias)
            if value is not None and not is_missing(value):
                return value
        return None

    def text(self) -> str:
        """The text; where that is there and empty, as some of BEIR's are, the title."""
        value = self.first("text")
        if value is None and self.has("text"):
            value = self.first("title")
        return "" if isinstance(value, bool) else plain(_scalar(value) or "")


def docs_of(file: File, rows: Iterable[Row], unit: str = "line") -> Iterator[Doc]:
    """A document of each row that has a text; the others are named."""
    columns = {field_name(column): field for column, field in file.columns.items()}
    docs: list[Doc] = []
    pages = PageReader()
    textless: list[tuple[int, list[str]]] = []
    fault: ReadError | None = None
    try:
        for row, value in rows:
            if not isinstance(value, dict):
                what = "a list" if isinstance(value, list) else json.dumps(value, default=str)[:40]
                file.row_problem(row, "broken", f"the {unit} is {what}, not a record with fields.", "Write an object.")
                continue
            record = _Record(value, columns)
            if columns:
                file.fields.update(record.names)
            text = record.text()
            if text.strip():
                docs.append(_doc(file, row, record, text, pages))
            elif record.has("text"):
                file.row_problem(row, "empty", f"the {unit} has an empty text.", "Fill it, or leave the record out.")
            else:
                textless.append((row, record.names))
    except ReadError as stop:  # what came before it is kept
        fault = stop
    if textless and not docs and fault is None:
        seen = ", ".join(dict.fromkeys(name for _, names in textless[:20] for name in names)) or "none"
        raise ReadError("unsupported", f"no {unit} has a text. Fields: {plain(seen)[:200]}.", _MAP_REMEDY)
    for row, names in textless:
        seen = plain(", ".join(names))[:120] or "none"
        file.row_problem(row, "textless", f"the {unit} has no text. Fields: {seen}.", _MAP_REMEDY)
    for note in pages.notes():
        file.problem("pages", f"{note}.")
    yield from docs
    if fault is not None:
        raise fault


def _doc(file: File, row: int, record: _Record, text: str, pages: PageReader) -> Doc:
    fields = ("id", "chunk", "doc", "title", "url", "source")
    own, chunk, of, title, url, source = (_text_of(record.first(field)) for field in fields)
    page = _page(record, text, pages)
    id_, part_of = own or of or url or f"{file.id}:{row}", None
    if own is not None and of is not None and own != of:
        part_of = of  # a piece of a document under an id of its own
    elif own is None and chunk is not None:
        id_, part_of = chunk, of or url or source or file.id
    elif own is None and (of or source) and (page is not None or "page_content" in record.fields):
        id_, part_of = f"{file.id}:{row}", of or source
    meta = {name: shown for name, value in record.fields.items() if name not in _HELD and (shown := _scalar(value))}
    return Doc(id_, text, title, url, () if page is None else (page,), (), part_of, meta)


def _page(record: _Record, text: str, pages: PageReader) -> Page | None:
    """The page a record is from, if it has a number."""
    cells = [record.first(name) for name in ("page_number", "page", "page_label")]
    named = [cell if isinstance(cell, str | int | float) and not isinstance(cell, bool) else None for cell in cells]
    try:
        page, label = pages.read(*named, from_0=record.counts_from_0)
    except CellError:  # thousands of digits
        return None
    number = page_number(page)
    return None if number is None else Page(number, 0, len(text), label)


def _text_of(value: Any) -> str | None:
    """An id, a title or an address as text: 7 and 7.0 are "7"."""
    text = _scalar(int(value) if isinstance(value, float) and value.is_integer() else value)
    return None if text is None else plain(text).strip() or None


def _scalar(value: Any) -> str | None:
    """A single value as text; None for nothing and for lists and objects."""
    if isinstance(value, bool):
        return "true" if value else "false"
    try:
        return plain(str(value)) if isinstance(value, str | int | float) else None
    except ValueError:  # thousands of digits
        return None


def parsed(text: str) -> Any:
    """JSON, or ReadError that says where it breaks."""
    try:
        return parse_json(text, strict=False)
    except JSONError as error:
        raise ReadError("broken", f"{error.problem}.", error.remedy) from None
