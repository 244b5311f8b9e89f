"""Records: rows of JSONL, tables and the like made into documents."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from karat.core.docs import Doc, Page
from karat.core.errors import UsageError, did_you_mean
from karat.corpus._decode import plain
from karat.corpus._file import File, ReadError
from karat.io.fields import FILE, URL, field_name, flattened
from karat.io.pages import PageReader, counts_from_0, page_number

FIELDS: dict[str, tuple[str, ...]] = {
    "id": ("id", "_id"),
    "chunk": ("chunk_id", "chunkid", "passage_id"),
    "doc": ("doc", "doc_id", "docid", "document_id", "pid"),
    "text": ("text", "content", "contents", "body", "passage", "page_content", "chunk"),
    "title": ("title",),
    "url": URL,
    "page": ("page",),
    "page_number": ("page_number",),
    "page_label": ("page_label",),
    "source": (*FILE, "document"),
}
"""What a record's fields may be called; the first that is filled counts."""

_KNOWN = frozenset(alias for aliases in FIELDS.values() for alias in aliases)
_HELD = frozenset(alias for field in ("id", "chunk", "text", "title", "url") for alias in FIELDS[field])
_MAP_REMEDY = "Name the column of the texts with --map COLUMN=text."

Row = tuple[int, Any]


def checked(columns: Mapping[str, str] | None) -> dict[str, str]:
    """The user's column -> field, with each field known."""
    made = {}
    for column, wanted in (columns or {}).items():
        name = field_name(str(wanted))
        if name not in FIELDS and name not in _KNOWN:
            raise UsageError(
                f"--map {column}={wanted}: there is no field {wanted!r}.{did_you_mean(name, FIELDS)} "
                f"Fields of a document: {', '.join(FIELDS)}."
            )
        made[str(column)] = next((field for field, aliases in FIELDS.items() if name in aliases), name)
    return made


def check_used(columns: Mapping[str, str], fields: Iterable[str]) -> None:
    """Refuse a column that no record has: a slip that would change nothing in silence."""
    known = dict.fromkeys(fields)
    for column, wanted in columns.items():
        if field_name(column) not in known:
            has = f"Fields of the records: {', '.join(known)[:200]}." if known else "There are no records."
            raise UsageError(
                f"--map {column}={wanted}: no record has a field {column!r}.{did_you_mean(column, known)} {has}"
            )


def docs_of(file: File, rows: Iterable[Row], unit: str = "line") -> Iterator[Doc]:
    """A document of each row that has a text; the others are named."""
    shape = _Shape(file.columns)
    made: list[Doc] = []
    pages = PageReader()
    textless: list[tuple[int, list[str]]] = []
    fault: ReadError | None = None
    try:
        for row, record in rows:
            if not isinstance(record, dict):
                what = "a list" if isinstance(record, list) else json.dumps(record, default=str)[:40]
                file.row_problem(row, "broken", f"the {unit} is {what}, not a record with fields.", "Write an object.")
                continue
            fields = flattened(record)
            if shape.columns:
                file.fields.update(fields)
            text = shape.first(fields, "text")
            if text is None:
                text = shape.title_for_text(fields)
            words = plain(_scalar(text) or "") if not isinstance(text, bool) else ""
            if words.strip():
                page = _page(fields, words, shape, pages, counts_from_0(record))
                made.append(_doc(file, row, fields, words, shape, page))
            elif shape.has(fields, "text"):
                file.row_problem(row, "empty", f"the {unit} has an empty text.", "Fill it, or leave the record out.")
            else:
                textless.append((row, list(fields)))
    except ReadError as stop:  # what came before it is kept
        fault = stop
    if textless and not made and fault is None:
        seen = ", ".join(dict.fromkeys(name for _, names in textless[:20] for name in names)) or "none"
        raise ReadError("unsupported", f"no {unit} has a text. Fields: {plain(seen)[:200]}.", _MAP_REMEDY)
    for row, names in textless:
        said = plain(", ".join(names))[:120] or "none"
        file.row_problem(row, "textless", f"the {unit} has no text. Fields: {said}.", _MAP_REMEDY)
    for note in pages.notes():
        file.problem("pages", f"{note}.")
    yield from made
    if fault is not None:
        raise fault


class _Shape:
    """How records' fields are called: by the user's map first, then by alias."""

    def __init__(self, columns: Mapping[str, str]) -> None:
        self.columns = {field_name(column): field for column, field in columns.items()}

    def mapped(self, field: str) -> list[str]:
        """The user's columns for a field."""
        return [column for column, wanted in self.columns.items() if wanted == field]

    def has(self, fields: Mapping[str, Any], field: str) -> bool:
        """Whether a record has this field, filled or not."""
        return any(alias in fields for alias in (*self.mapped(field), *FIELDS[field]))

    def title_for_text(self, fields: Mapping[str, Any]) -> Any:
        """The title of a record whose text is there but empty, as some of BEIR's are."""
        return self.first(fields, "title") if self.has(fields, "text") else None

    def first(self, fields: Mapping[str, Any], field: str) -> Any:
        """The first filled value of a field, or None."""
        for alias in (*self.mapped(field), *FIELDS[field]) if self.columns else FIELDS[field]:
            value = fields.get(alias)
            if (
                value is not None
                and not _is_blank(value)
                and (alias not in self.columns or alias in self.mapped(field))
            ):
                return value
        return None


def _doc(file: File, row: int, fields: Mapping[str, Any], text: str, shape: _Shape, page: Page | None) -> Doc:
    own, chunk, of = (_id_of(shape.first(fields, name)) for name in ("id", "chunk", "doc"))
    title, url, source = (_text_of(shape.first(fields, name)) for name in ("title", "url", "source"))
    line = f"{file.id}:{row}"
    id_, part_of = own or of or url or line, None
    if own is not None and of is not None and own != of:
        id_, part_of = own, of  # a piece of a document under an id of its own
    elif own is None and chunk is not None:
        id_, part_of = chunk, of or url or source or file.id
    elif own is None and (of or source) and (page is not None or "page_content" in fields):
        id_, part_of = line, of or source
    meta = {
        name: said
        for name, value in fields.items()
        if name not in _HELD and name not in shape.columns and (said := _scalar(value))
    }
    return Doc(id_, text, title, url, () if page is None else (page,), (), part_of, meta)


def _page(fields: Mapping[str, Any], text: str, shape: _Shape, pages: PageReader, from_0: bool) -> Page | None:
    """The page a record is from, if it has a number."""
    cells = [shape.first(fields, name) for name in ("page_number", "page", "page_label")]
    named = [cell if isinstance(cell, str | int | float) and not isinstance(cell, bool) else None for cell in cells]
    try:
        page, label = pages.read(*named, from_0=from_0)
    except ValueError:  # thousands of digits
        return None
    number = page_number(page)
    return None if number is None else Page(number, 0, len(text), label)


def _is_blank(value: Any) -> bool:
    if isinstance(value, str):
        return not value or value.isspace()
    return isinstance(value, float) and not math.isfinite(value)


def _id_of(value: Any) -> str | None:
    """An id as text: 7 and 7.0 are "7"."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return _text_of(value)


def _text_of(value: Any) -> str | None:
    return plain(said).strip() or None if (said := _scalar(value)) is not None else None


def _scalar(value: Any) -> str | None:
    """A single value as text; None for nothing and for lists and objects."""
    if isinstance(value, str):
        return plain(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        try:
            return str(value)
        except ValueError:  # thousands of digits
            return None
    return None


def parsed(file: File, data: bytes | str, row: int, unit: str = "line") -> Any:
    """JSON of a row, or ReadError that says where it breaks."""
    try:
        return json.loads(data)
    except RecursionError:
        raise ReadError("broken", f"the {unit} is nested too deeply.", "Write flat records.") from None
    except ValueError as error:
        where = f" at character {error.pos + 1}" if isinstance(error, json.JSONDecodeError) else ""
        what = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
        raise ReadError("broken", f"the {unit} is no JSON{where} ({what[:80]}).", "Correct it.") from None
