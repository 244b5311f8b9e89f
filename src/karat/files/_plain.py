"""Plain: a table as its file spells it, cell by cell, for those who check what was printed."""

from __future__ import annotations

import csv
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from karat.core.errors import InputError
from karat.files import _aliases, _cells, _records
from karat.files._cells import CellError, Record
from karat.files._look import Look
from karat.files._objects import is_frame, polars_frame
from karat.io.fields import field_name
from karat.io.limits import LINE_LIMIT
from karat.io.rows import next_row

STATISTICS = frozenset({
    "mean", "avg", "average", "std", "sd", "var", "sem", "count", "n", "size", "min", "max", "median", "sum",
    "25%", "50%", "75%", "first", "last", "nunique",
})  # fmt: skip


@dataclass(frozen=True)
class Plain:
    """Rows under the names of their columns; cells of a text file are texts, so that printed digits are kept.

    `document` is a JSON object: figures lie somewhere in it, and rows too unless they are what it wraps.
    """

    name: str
    columns: tuple[str, ...]
    rows: tuple[Record, ...]
    numbers: tuple[int, ...]  # of each row: its line or record
    unit: str = "line"
    document: Mapping[str, Any] | None = None

    def error(self, problem: str, *, row: int | None = None, field: str | None = None, remedy: str = "") -> InputError:
        """An InputError that names the file, and the row by its place in `rows`."""
        number = None if row is None else self.numbers[row]
        return InputError(problem, place=self.name, row=number, unit=self.unit, field=field, remedy=remedy or None)

    def column(self, *fields: str) -> str | None:
        """The first column that other tools, too, call one of these fields of a test set or results."""
        spelled = {field_name(column): column for column in self.columns}
        names = (
            name for field in fields for names in (_aliases.RESULTS, _aliases.TESTSET) for name in names.get(field, ())
        )
        return next((spelled[name] for name in names if name in spelled), None)

    def lists(self, column: str) -> list[tuple[str, ...] | None]:
        """The cells of a column as lists of ids (JSON, Python literals, or one id); a missing page is an empty text."""
        found: list[tuple[str, ...] | None] = []
        for row, record in enumerate(self.rows):
            try:
                items = (
                    _cells.page_items(record.get(column)) if "page" in column else _cells.as_list(record.get(column))
                )
                found.append(None if items is None else tuple(_cells.page_text(item) or "" for item in items))
            except CellError as error:
                raise self.error(error.problem, row=row, field=column, remedy=error.remedy or "") from None
        return found


def read_plain(given: Any, name: str = "table") -> Plain:
    """A table of a path (CSV, TSV, JSON, JSONL, Parquet, Markdown with one table), a frame, a list of dicts, a dict."""
    tables = read_tables(given, name)
    if len(tables) > 1:
        raise InputError(f"holds {len(tables)} tables", place=tables[0].name, remedy="Keep one of them.")
    return tables[0]


def read_tables(given: Any, name: str = "table") -> tuple[Plain, ...]:
    """The same as `read_plain`, but Markdown may hold several tables."""
    if isinstance(given, str | os.PathLike):
        look = Look(given)
        if look.name.lower().endswith((".md", ".markdown")):
            return _markdown(look)
        try:
            return (_of_look(look),)
        except InputError:
            if look.name.lower().endswith((".txt", ".tex", ".html")) and look.shape in ("csv", "tsv"):
                raise _no_table(look) from None  # a text whose first line holds a comma
            raise
    if is_frame(given):
        return (_of_look(Look.of_frame(name, polars_frame(given))),)
    if isinstance(given, Mapping):
        return (Plain(name, (), (), (), "record", given),)
    if isinstance(given, Sequence):
        return (_of_look(Look.of_records(name, given)),)
    raise InputError(f"{type(given).__name__} is no table", place=name, remedy="Give a path, a frame or dicts.")


def _markdown(look: Look) -> tuple[Plain, ...]:
    """The tables of a Markdown file, their cells without marks of emphasis."""
    from markdown_it import MarkdownIt

    tables: list[Plain] = []
    lines: list[list[str]] = []
    numbers: list[int] = []
    for token in MarkdownIt("commonmark").enable("table").parse(look.need_source().text()):
        if token.type == "tr_open":
            lines.append([])
            numbers.append((token.map or [0])[0] + 1)
        elif token.type == "inline" and lines:
            lines[-1].append("".join(child.content for child in token.children or ()).strip())
        elif token.type == "table_close":
            columns = tuple(head or f"column {i}" for i, head in enumerate(lines[0], 1))
            rows = tuple(dict(zip(columns, line, strict=True)) for line in lines[1:])
            if rows:
                tables.append(Plain(look.name, columns, rows, tuple(numbers[1:])))
            lines, numbers = [], []
    if not tables:
        raise look.error("holds no table", remedy="Give CSV, TSV, JSON, JSONL, Parquet, or Markdown with a table.")
    return tuple(tables)


def _no_table(look: Look) -> InputError:
    return look.error("is no table with named columns", remedy="Give CSV, TSV, JSON, JSONL, Parquet or Markdown.")


def _of_look(look: Look) -> Plain:
    if look.shape in ("text", "columns", "folder"):
        raise _no_table(look)
    document = look.document if look.shape == "json object" and isinstance(look.document, dict) else None
    if document is not None and not look.wrapper:
        return Plain(look.name, (), (), (), "record", document)
    numbered = _two_headers(look) if look.shape in ("csv", "tsv") else None
    if numbered is None:
        numbered = [(row, dict(record)) for row, record in look.raw()]
    if not numbered:
        raise look.error("no rows", remedy="Give at least one.")
    if len(numbered) == 1 and any(isinstance(value, dict) for value in numbered[0][1].values()):
        return Plain(look.name, (), (), (), "record", document or numbered[0][1])
    columns = tuple(dict.fromkeys(str(name) for _, record in numbered for name in record))
    rows = tuple({str(k): _records.without_nan(v) for k, v in record.items()} for _, record in numbered)
    return Plain(look.name, columns, rows, tuple(row for row, _ in numbered), look.unit, document)


def _two_headers(look: Look) -> list[tuple[int, Record]] | None:
    """Records under a header of two lines, measures over statistics, as pandas writes them; None where it is one."""
    source = look.need_source()
    separator = "\t" if look.shape == "tsv" else look.delimiter
    lines = [(row, line) for row, line in source.lines() if line.strip()]
    if len(lines) < 3:
        return None

    def cells_of(row: int, line: str) -> list[str]:
        try:
            return next_row(csv.reader([line], delimiter=separator), LINE_LIMIT) or []
        except csv.Error as problem:
            told = str(problem).partition(" - ")[0]  # without advice on how to open files in Python
            raise source.error(f"cannot be read as a table ({told})", row=row, remedy="Mend the row.") from None

    top, below, third = (cells_of(row, line) for row, line in lines[:3])
    told = [cell.strip().lower() for cell in below if cell.strip()]
    if len(top) != len(below) or not told or not set(told) <= STATISTICS or len(set(top)) == len(top):
        return None
    named = (
        third if len(third) == len(top) and not any(c.strip() for c, s in zip(third, below, strict=True) if s) else []
    )
    header = [
        f"{upper} {lower}".strip() if lower.strip() else (named[i] if named else upper or f"column {i + 1}")
        for i, (upper, lower) in enumerate(zip(top, below, strict=True))
    ]
    found = []
    for row, line in lines[3 if named else 2 :]:
        cells = cells_of(row, line)
        if len(cells) != len(header):
            raise source.error(f"the row has {len(cells)} cells and the header has {len(header)}", row=row)
        found.append((row, dict(zip(header, cells, strict=True))))
    return found
