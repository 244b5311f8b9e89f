"""Workbook: sheets as one .xlsx file, the same bytes for the same sheets.

Numbers are numbers. Texts are written as texts, whatever they look like: no formula, link or number is made of one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from io import BytesIO
from math import isfinite
from typing import Any

from karat.core.errors import UsageError
from karat.core.loading import package
from karat.core.text.wellformed import well_formed
from karat.core.text.words import plural

MOST_ROWS, MOST_COLUMNS, MOST_CHARACTERS = 1_048_576, 16_384, 32_767
"""Of a sheet and of a cell; a spreadsheet counts characters beyond U+FFFF twice."""
WIDEST, NARROWEST = 60, 8
_EPOCH = datetime(2000, 1, 1)  # when every workbook says it was made
_WHOLE = 2**53  # up to here a cell holds every whole number

Row = Sequence[str | float | None]


@dataclass(frozen=True)
class Sheet:
    """A name, the titles of the columns and the rows below them, which are gone through once."""

    name: str
    titles: Sequence[str]
    rows: Iterable[Row]


def workbook(sheets: Iterable[Sheet], most_rows: int = MOST_ROWS) -> bytes:
    """The file. What a sheet cannot hold goes on in the next; a text that a cell cannot hold is cut, and says so.

    Whatever was done to make it fit is told in the last sheet.
    """
    xlsxwriter = package("xlsxwriter", "writing .xlsx", "xlsx")
    out = BytesIO()
    book = xlsxwriter.Workbook(out, {"constant_memory": True})
    book.set_properties({"created": _EPOCH})
    writer = _Writer(book, most_rows)
    *others, last = sheets
    for sheet in others:
        writer.add(sheet)
    writer.add(Sheet(last.name, last.titles, [*last.rows, *(("workbook", note) for note in writer.notes)]))
    book.close()
    return out.getvalue()


class _Writer:
    """Writes sheets, and notes what did not fit."""

    def __init__(self, book: Any, most_rows: int) -> None:
        self.book, self.most_rows = book, most_rows
        self.bold = book.add_format({"bold": True})
        self.notes: list[str] = []

    def add(self, sheet: Sheet) -> None:
        if len(sheet.titles) > MOST_COLUMNS:
            raise UsageError(
                f"{sheet.name} has {len(sheet.titles):,} columns, and a sheet holds {MOST_COLUMNS:,}. "
                "Write .csv or .parquet."
            )
        rows, number, cut = iter(sheet.rows), 1, dict[str, int]()
        row = next(rows, None)
        while row is not None or number == 1:
            name = sheet.name if number == 1 else f"{sheet.name} {number}"
            if number > 1:
                self.notes.append(f"{sheet.name} has more rows than a sheet holds; it goes on in {name}.")
            page = self.book.add_worksheet(name)
            # XlsxWriter writes a text from <r> to </r> into the file as it is, formulas in it too
            page._xml_rich_inline_string = partial(_write_escaped, page)
            page.freeze_panes(1, 0)
            page.ignore_errors({"number_stored_as_text": f"A1:XFD{MOST_ROWS}"})
            widths = [len(title) + 3 for title in sheet.titles]  # the arrow of the filter
            for column, title in enumerate(sheet.titles):
                page.write_string(0, column, self._fitting(title, title, cut), self.bold)
            line = 0
            while row is not None and line < self.most_rows - 1:
                line += 1
                for column, cell in enumerate(row):
                    widths[column] = max(widths[column], self._write(page, line, column, cell, sheet, cut))
                row = next(rows, None)
            page.autofilter(0, 0, line, len(sheet.titles) - 1)
            for column, width in enumerate(widths):
                page.set_column(column, column, min(max(width, NARROWEST), WIDEST))
            number += 1
        for title, count in cut.items():
            self.notes.append(
                f"{sheet.name}, {title}: {plural(count, 'text')} longer than the {MOST_CHARACTERS:,} characters that a "
                "cell holds, and cut there. Write .csv, .parquet or .json for all of it."
            )

    def _write(self, page: Any, line: int, column: int, cell: Any, sheet: Sheet, cut: dict[str, int]) -> int:
        """One cell; how many characters wide it is."""
        if cell is None or cell == "" or cell != cell:
            return 0
        if isinstance(cell, str):
            page.write_string(line, column, self._fitting(cell, sheet.titles[column], cut))
            return min(len(cell), WIDEST)
        if not isfinite(cell) or (isinstance(cell, int) and abs(cell) > _WHOLE):  # a cell would hold another number
            page.write_string(line, column, str(cell))
            return len(str(cell))
        page.write_number(line, column, _Exact(cell))
        return min(len(f"{cell:.10g}"), 12)

    def _fitting(self, text: str, title: str, cut: dict[str, int]) -> str:
        """The text as a cell can hold it."""
        text = well_formed(text)
        if _units(text) <= MOST_CHARACTERS:
            return text
        cut[title] = cut.get(title, 0) + 1
        mark = f" … [cut: {len(text):,} characters]"
        room = 2 * (MOST_CHARACTERS - len(mark))
        return text.encode("utf-16-le")[:room].decode("utf-16-le", "ignore") + mark


def _write_escaped(page: Any, text: str, attributes: Sequence[Any] = ()) -> None:
    page._xml_inline_string(text, False, attributes)


class _Exact(float):
    """A number with all its digits: XlsxWriter asks for 16, and 17 tell every two numbers apart."""

    def __format__(self, wanted: str) -> str:
        return repr(float(self))


def _units(text: str) -> int:
    """The characters of a text as a spreadsheet counts them."""
    return len(text) if len(text) <= MOST_CHARACTERS // 2 else len(text.encode("utf-16-le")) // 2
