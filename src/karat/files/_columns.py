"""Tables in columns: a file of rows as a frame under normalised names, with the number of each row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from karat.io import cells
from karat.io.cells import CellError
from karat.io.fields import field_name
from karat.io.formulas import MARKED
from karat.io.frames import polars_errors_named
from karat.io.input import FRAMES, Input

if TYPE_CHECKING:
    import polars as pl


def table_frame(input: Input) -> tuple[pl.DataFrame, Sequence[int]]:
    """The table with normalised column names, and the number of each row; of a text file every cell is text."""
    import polars as pl

    text = _text_table(input) if input.shape in ("csv", "tsv") else None
    if text is None and input.shape not in FRAMES:
        numbered = list(input.records())
        columns = {name: _series([record.get(name) for _, record in numbered]) for name in input.fields}
        return pl.DataFrame(columns), [row for row, _ in numbered]
    frame, rows = text or (input.frame, input.sheet_rows or range(1, input.frame.height + 1))
    mapped = {field_name(column): field for column, field in input.columns.items()}
    names: dict[str, str] = {}
    for column in frame.columns:
        names.setdefault(mapped.get(field_name(column), field_name(column)), column)
    return frame.select(pl.col(column).alias(name) for name, column in names.items()), rows


def _text_table(input: Input) -> tuple[pl.DataFrame, Sequence[int]] | None:
    """A CSV or TSV file read at once; None where its marks, cells or lines ask for a closer look."""
    import polars as pl

    source = input.need_source()
    data = source.data().replace(b"\r\n", b"\n")
    if source.head[:1] in b"\r\n" or any(mark in data for mark in MARKED):
        return None
    lines = _row_lines(data, input.delimiter)
    if lines is None:
        return None
    quote = '"' if b'"' in data else None

    def read() -> pl.DataFrame:
        return pl.read_csv(data, separator=input.delimiter, infer_schema=False, quote_char=quote)

    frame = polars_errors_named(read, source, "cannot be read as a table")
    return (frame, lines) if frame.height == len(lines) else None


def _row_lines(data: bytes, delimiter: str) -> Sequence[int] | None:
    """The line on which each row below the header begins; None unless all rows are filled, alike and well quoted.

    Well quoted: a mark that opens a cell stands behind a separator, one that closes it before one; others are doubled.
    """
    text = np.frombuffer(data if data.endswith(b"\n") else data + b"\n", np.uint8)
    separator, newline, mark = ord(delimiter), ord("\n"), ord('"')
    ends, cuts = np.flatnonzero(text == newline), np.flatnonzero(text == separator)
    lines: Sequence[int] = range(2, len(ends) + 1)
    marks = np.flatnonzero(text == mark)
    if len(marks):
        between = (separator, newline, mark)
        opening, closing = marks[::2], marks[1::2]
        if len(marks) % 2 or not np.isin(text[closing + 1], between).all():
            return None
        if not np.isin(text[opening[opening > 0] - 1], between).all():
            return None
        outside = np.searchsorted(marks, ends) % 2 == 0
        lines = (np.flatnonzero(outside)[:-1] + 2).tolist()
        ends, cuts = ends[outside], cuts[np.searchsorted(marks, cuts) % 2 == 0]
    cells_of = np.diff(np.searchsorted(cuts, ends), prepend=0)
    if (np.diff(ends, prepend=-1) - 1 == cells_of).any():  # nothing but separators
        return None
    return lines if (cells_of == cells_of[0]).all() else None


def _series(values: list[Any]) -> pl.Series:
    """A column of Python values: numbers if all are, else text."""
    import polars as pl

    if all(v is None or (isinstance(v, int | float) and not isinstance(v, bool)) for v in values):
        try:
            return pl.Series(values, strict=False)
        except (OverflowError, pl.exceptions.PolarsError):
            pass
    return pl.Series([v if v is None or isinstance(v, str) else cells.id_text(v) for v in values])


def id_column(column: pl.Series, *, from_floats: bool = False) -> pl.Series:
    """Ids as text: whole floats without their .0, blanks around text dropped, empty text as null.

    `from_floats`: text loses its .0 as well, where all of it were floats before it was written.
    """
    import polars as pl

    if column.dtype == pl.Object:
        values = [None if cells.is_missing(value) else cells.id_text(value) for value in column.to_list()]
        return pl.Series(column.name, values, dtype=pl.String)
    if column.dtype.is_float():
        finite = column.is_finite()
        whole = (column == column.floor()) & finite & (column.abs() < 2.0**62)
        text = column.cast(pl.String)
        as_whole = column.set(~whole.fill_null(False), None).cast(pl.Int64).cast(pl.String)
        ids = pl.select(pl.when(whole).then(as_whole).otherwise(text)).to_series()
        return pl.select(pl.when(finite).then(ids).otherwise(None)).to_series()
    if column.dtype.is_integer():
        return column.cast(pl.String)
    if column.dtype.is_nested() or column.dtype == pl.Binary:
        raise CellError(f"the column {column.name!r} holds {column.dtype} where ids are meant", "Give one id a row.")
    text = column.cast(pl.String).str.strip_chars()
    if from_floats and cells.were_floats(text):
        text = text.str.strip_suffix(".0")
    return text.set(text == "", None)
