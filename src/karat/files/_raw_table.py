"""RawTable: a table as its file spells it, cell by cell, for those who check what was printed."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from karat.core.errors import InputError
from karat.io import cells
from karat.io.cells import CellError, Record
from karat.io.fields import RESULTS, TESTSET, field_name
from karat.io.input import Input
from karat.io.pages import page_text
from karat.io.records import cell_rows, named_rows

STATISTICS = frozenset({
    "mean", "avg", "average", "std", "sd", "var", "sem", "count", "n", "size", "min", "max", "median", "sum",
    "25%", "50%", "75%", "first", "last", "nunique",
})  # fmt: skip


@dataclass(frozen=True)
class RawTable:
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
        names = (name for field in fields for table in (RESULTS, TESTSET) for name in table.get(field, ()))
        return next((spelled[name] for name in names if name in spelled), None)

    def lists(self, column: str) -> list[tuple[str, ...] | None]:
        """The cells of a column as lists of ids (JSON, Python literals, or one id); a missing page is an empty text."""
        items_of = cells.page_items if "page" in column else cells.as_list
        lists: list[tuple[str, ...] | None] = []
        for row, record in enumerate(self.rows):
            try:
                items = items_of(record.get(column))
                lists.append(None if items is None else tuple(page_text(item) or "" for item in items))
            except CellError as error:
                raise self.error(error.problem, row=row, field=column, remedy=error.remedy or "") from None
        return lists


def read_raw_table(table: Any, name: str = "table") -> RawTable:
    """A table of a path (CSV, TSV, JSON, JSONL, Parquet, Markdown with one table), a frame, a list of dicts, a dict."""
    tables = read_tables(table, name)
    if len(tables) > 1:
        raise InputError(f"holds {len(tables)} tables", place=tables[0].name, remedy="Keep one of them.")
    return tables[0]


def read_tables(table: Any, name: str = "table") -> tuple[RawTable, ...]:
    """The same as `read_raw_table`, but Markdown may hold several tables."""
    if isinstance(table, Mapping):
        return (RawTable(name, (), (), (), "record", table),)
    input = Input.from_any(table, name)
    if not isinstance(table, str | os.PathLike):
        input.name = name
    if input.name.lower().endswith((".md", ".markdown")):
        return _markdown(input)
    try:
        return (_table(input),)
    except InputError:
        if input.name.lower().endswith((".txt", ".tex", ".html")) and input.shape in ("csv", "tsv"):
            raise _no_table(input) from None  # a text whose first line holds a comma
        raise


def _markdown(input: Input) -> tuple[RawTable, ...]:
    """The tables of a Markdown file, their cells without marks of emphasis."""
    from markdown_it import MarkdownIt

    tables: list[RawTable] = []
    lines: list[list[str]] = []
    numbers: list[int] = []
    for token in MarkdownIt("commonmark").enable("table").parse(input.need_source().text()):
        if token.type == "tr_open":
            lines.append([])
            numbers.append((token.map or [0])[0] + 1)
        elif token.type == "inline" and lines:
            lines[-1].append("".join(child.content for child in token.children or ()).strip())
        elif token.type == "table_close":
            columns = tuple(head or f"column {i}" for i, head in enumerate(lines[0], 1))
            rows = tuple(dict(zip(columns, line, strict=True)) for line in lines[1:])
            if rows:
                tables.append(RawTable(input.name, columns, rows, tuple(numbers[1:])))
            lines, numbers = [], []
    if not tables:
        raise input.error("holds no table", remedy="Give CSV, TSV, JSON, JSONL, Parquet, or Markdown with a table.")
    return tuple(tables)


def _no_table(input: Input) -> InputError:
    return input.error("is no table with named columns", remedy="Give CSV, TSV, JSON, JSONL, Parquet or Markdown.")


def _table(input: Input) -> RawTable:
    if input.shape in ("text", "columns", "folder"):
        raise _no_table(input)
    document = input.document if input.shape == "json object" else None
    if document is not None and not input.wrapper:
        return RawTable(input.name, (), (), (), "record", document)
    numbered = _two_headers(input) or [(row, dict(record)) for row, record in input.raw_rows()]
    if not numbered:
        raise input.error("no rows", remedy="Give at least one.")
    if len(numbered) == 1 and any(isinstance(value, dict) for value in numbered[0][1].values()):
        return RawTable(input.name, (), (), (), "record", document or numbered[0][1])
    columns = tuple(dict.fromkeys(str(name) for _, record in numbered for name in record))
    rows = tuple({str(name): _without_nan(value) for name, value in record.items()} for _, record in numbered)
    return RawTable(input.name, columns, rows, tuple(row for row, _ in numbered), input.unit, document)


def _without_nan(value: Any) -> Any:
    return None if isinstance(value, float) and value != value else value


def _two_headers(input: Input) -> list[tuple[int, Record]] | None:
    """Records under a header of two lines, measures over statistics, as pandas writes them; None where it is one."""
    if input.shape not in ("csv", "tsv"):
        return None

    def refuse(row: int | None, problem: str, remedy: str) -> None:
        raise input.error(problem, row=row, remedy=remedy)

    lines = (f"{line}\n" for _, line in input.need_source().lines())
    numbered = cell_rows(lines, input.delimiter, refuse)
    first = list(islice(numbered, 3))
    if len(first) < 3:
        return None
    top, below, third = (values for _, values in first)
    labels = [cell.strip().lower() for cell in below if cell.strip()]
    if len(top) != len(below) or not labels or not set(labels) <= STATISTICS or len(set(top)) == len(top):
        return None
    names_index = len(third) == len(top) and not any(c.strip() for c, s in zip(third, below, strict=True) if s)
    header = [
        f"{upper} {lower}".strip() if lower.strip() else (third[i] if names_index else upper or f"column {i + 1}")
        for i, (upper, lower) in enumerate(zip(top, below, strict=True))
    ]
    rest = [*first[2:], *numbered] if not names_index else numbered
    return list(named_rows(header, rest, refuse))
