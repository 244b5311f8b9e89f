"""Records: rows of JSONL, tables and the like made into documents."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from karat.core.docs import Doc, Page
from karat.core.errors import UsageError, did_you_mean
from karat.corpus._file import ROWS_NAMED, File, ReadError
from karat.io.cells import CellError, is_missing
from karat.io.decoding import cleaned
from karat.io.field_reader import MOST_SHAPES, FieldReader
from karat.io.fields import DOCUMENT, field_name, with_metadata
from karat.io.pages import PageReader, counts_from_0, page_number
from karat.io.records import JSONError, parse_json

_HELD = ("id", "chunk", "text", "title", "url")
_MAP_REMEDY = "Name the column of the texts with --map COLUMN=text."

Row = tuple[int, Any]


def refuse_unused_map(columns: Mapping[str, str], fields: Iterable[str]) -> None:
    """Refuse a column that no record has: a slip that would change nothing in silence."""
    known = dict.fromkeys(fields)
    for column, wanted in columns.items():
        if field_name(column) not in known:
            has = f"Fields of the records: {', '.join(known)[:200]}." if known else "There are no records."
            raise UsageError(
                f"--map {column}={wanted}: no record has a field {column!r}.{did_you_mean(column, known)} {has}"
            )


def docs_of(file: File, rows: Iterable[Row], unit: str = "line") -> Iterator[Doc]:
    """A document of each row that has a text; the others are named, those without a text once the file is read."""
    reader = _DocReader(file)
    docs: list[Doc] = []
    textless: list[tuple[int, list[str]]] = []
    count = 0
    fault: ReadError | None = None
    try:
        for row, value in rows:
            if not isinstance(value, dict):
                what = "a list" if isinstance(value, list) else json.dumps(value, default=str)[:40]
                file.row_problem(row, "broken", f"the {unit} is {what}, not a record with fields.", "Write an object.")
                continue
            if (doc := reader.passage(value)) is not None:
                docs.append(doc)
                continue
            record, fields = with_metadata(value), reader.read(value)
            if file.columns:
                file.fields.update(record)
            text = _text(fields)
            if text.strip():
                docs.append(reader.doc(row, value, record, fields, text))
            elif "text" in fields:
                file.row_problem(row, "empty", f"the {unit} has an empty text.", "Fill it, or leave the record out.")
            else:
                count += 1
                if count <= ROWS_NAMED:
                    textless.append((row, list(record)))
    except ReadError as stop:  # what came before it is kept
        fault = stop
    file.unit, file.textless, file.textless_count, file.page_counts = unit, textless, count, reader.pages.counts
    yield from docs
    if fault is not None:
        raise fault


def note_textless(file: File, *, has_docs: bool, fault: ReadError | None) -> ReadError | None:
    """Name the records without a text; where no record of the file has one, the fault of the whole file instead."""
    if file.textless and not has_docs and fault is None:
        seen = ", ".join(dict.fromkeys(name for _, names in file.textless for name in names)) or "none"
        return ReadError("unsupported", f"no {file.unit} has a text. Fields: {cleaned(seen)[:200]}.", _MAP_REMEDY)
    for row, names in file.textless:
        seen = cleaned(", ".join(names))[:120] or "none"
        file.row_problem(row, "textless", f"the {file.unit} has no text. Fields: {seen}.", _MAP_REMEDY)
    if file.textless:
        file.rows["textless"] = file.textless_count
    pages = PageReader()
    pages.add(file.page_counts)
    for note in pages.notes():
        file.problem("pages", f"{note}.")
    return fault


def _text(fields: Mapping[str, Any]) -> str:
    """The text of a record; where that is there and empty, as some of BEIR's are, the title."""
    value = fields.get("text")
    if is_missing(value) and "text" in fields:
        value = fields.get("title")
    return "" if is_missing(value) or isinstance(value, bool) else _scalar(value) or ""


class _DocReader:
    """Makes documents of the records of one file."""

    def __init__(self, file: File) -> None:
        self.file, self.fields, self.pages = file, FieldReader(DOCUMENT, file.columns), PageReader()
        names = self.fields.names.items()
        self._held = {name for name, (field, place) in names if place < 0 or field in _HELD}  # not kept as metadata
        self._plain_names = lru_cache(maxsize=MOST_SHAPES)(self._plain)

    def passage(self, record: Mapping[str, Any]) -> Doc | None:
        """The document of a record that has an id and a text, and at most a title and an address; None of any other.

        Most records of large corpora are such: they are read by the names of their fields, found once for all alike.
        """
        names = self._plain_names(tuple(record))
        if names is None:
            return None
        of, rest = names
        id_, text = record[of["id"]], record[of["text"]]
        if type(id_) is not str or type(text) is not str:
            return None
        id_, text = cleaned(id_).strip(), cleaned(text)
        if not id_ or not text or text.isspace():
            return None
        title, url = (_text_of(record[of[field]]) if field in of else None for field in ("title", "url"))
        meta = {name: shown for name, raw in rest.items() if (shown := _scalar(record[raw]))} if rest else {}
        return Doc(id_, text, title, url=url, meta=meta)

    def _plain(self, names: tuple[str, ...]) -> tuple[Mapping[str, str], Mapping[str, str]] | None:
        """For records of these names that `passage` reads: the name of each field, and by name those of metadata."""
        of = None if self.file.columns else self.fields.single(names)
        spelled = {field_name(name): name for name in names}
        if of is None or len(spelled) < len(names) or not {"id", "text"} <= of.keys() <= {"id", "text", "title", "url"}:
            return None
        return of, {name: raw for name, raw in spelled.items() if name not in self._held}

    def read(self, record: Mapping[str, Any]) -> dict[str, Any]:
        """The fields of a record; a file that it names itself stands before a document that its metadata names."""
        fields = self.fields.read(record)
        if "doc" in fields and "source" in fields:
            own = self.fields.read({name: value for name, value in record.items() if not isinstance(value, dict)})
            if "doc" not in own:
                fields["doc"] = own.get("source", fields["doc"])
        return fields

    def doc(
        self, row: int, raw: Mapping[str, Any], record: Mapping[str, Any], fields: Mapping[str, Any], text: str
    ) -> Doc:
        """The document of a record, as it stands and by names as aliases are spelled, with these fields and text."""
        names = ("id", "chunk", "doc", "title", "url", "source")
        own, chunk, of, title, url, source = (_text_of(fields.get(name)) for name in names)
        page = self._page(raw, fields, text)
        id_, part_of = own or of or url or self._by_row(row), None
        if own is not None and of is not None and own != of:
            part_of = of  # a piece of a document under an id of its own
        elif own is None and chunk is not None:
            id_, part_of = chunk, of or url or source or self.file.id
        elif own is None and (of or source) and (page is not None or "page_content" in record):
            id_, part_of = self._by_row(row), of or source
        meta = {name: shown for name, value in record.items() if name not in self._held and (shown := _scalar(value))}
        return Doc(
            id_, text, title, url=url, pages=() if page is None else (page,), sections=(), part_of=part_of, meta=meta
        )

    def _by_row(self, row: int) -> str:
        """An id for a record that has none."""
        self.file.by_row = True
        return f"{self.file.id}:{row}"

    def _page(self, raw: Mapping[str, Any], fields: Mapping[str, Any], text: str) -> Page | None:
        """The page a record is from, if it has a number."""
        values = [fields.get(name) for name in ("page_number", "page", "page_label")]
        if values == [None, None, None]:
            return None
        named = [v if isinstance(v, str | int | float) and not isinstance(v, bool) else None for v in values]
        try:
            page, label = self.pages.read(*named, from_0=counts_from_0(raw))
        except CellError:  # thousands of digits
            return None
        number = page_number(page)
        return None if number is None else Page(number, 0, len(text), label)


def _text_of(value: Any) -> str | None:
    """An id, a title or an address as text: 7 and 7.0 are "7"."""
    if is_missing(value):
        return None
    text = _scalar(int(value) if isinstance(value, float) and value.is_integer() else value)
    return None if text is None else cleaned(text).strip() or None


def _scalar(value: Any) -> str | None:
    """A single value as text; None for nothing and for lists and objects."""
    if isinstance(value, bool):
        return "true" if value else "false"
    try:
        return cleaned(str(value)) if isinstance(value, str | int | float) else None
    except ValueError:  # thousands of digits
        return None


def parsed_json(text: str) -> Any:
    """JSON, or ReadError that says where it breaks."""
    try:
        return parse_json(text, strict=False)
    except JSONError as error:
        raise ReadError("broken", f"{error.problem}.", error.remedy) from None
