"""Frames: workbooks, and the frames of polars and pandas, as polars frames; pandas is never imported."""

from __future__ import annotations

import logging
import zipfile
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from karat.core.errors import InputError, UsageError
from karat.core.text.wellformed import well_formed_values
from karat.io.opening import check_zip, open_regular
from karat.io.source import Source

if TYPE_CHECKING:
    import polars as pl


def read_workbook(source: Source) -> tuple[pl.DataFrame, list[int], list[str]]:
    """The first sheet of a workbook, the number of each of its rows, and the names of all sheets.

    Rows are numbered as the sheet shows them, below the header in row 1; those without a filled cell are passed over.
    """
    try:
        import fastexcel
    except ImportError:
        raise UsageError(
            f"{source.name} is a workbook, and reading one needs fastexcel, which is not installed. "
            "Run: pip install 'karat[xlsx]', or export the sheet as CSV."
        ) from None
    try:
        with open_regular(source.path) as file:
            check_zip(file, source.name)
    except zipfile.BadZipFile as problem:
        raise source.error(f"cannot be read as a workbook ({problem})", remedy="Write the file again.") from None
    names: list[str] = []

    def read() -> pl.DataFrame:
        book = fastexcel.read_excel(str(source.path))
        names.extend(book.sheet_names)
        logger = logging.getLogger("fastexcel.types.dtype")
        logger.addFilter(_is_no_empty_column)
        try:
            return book.load_sheet(0, schema_sample_rows=None).to_polars()
        finally:
            logger.removeFilter(_is_no_empty_column)

    frame = polars_errors_named(read, source, "cannot be read as a workbook")
    filled = _filled_rows(frame)
    return frame[filled], [row + 2 for row in filled], names


def _filled_rows(frame: pl.DataFrame) -> list[int]:
    """The rows that have a filled cell; spreadsheets leave others behind."""
    import polars as pl
    from polars import selectors

    texts = selectors.string()
    filled = frame.select(pl.any_horizontal(texts.str.strip_chars() != "", (~texts).is_not_null()))
    return filled.to_series().fill_null(False).arg_true().to_list()


def _is_no_empty_column(record: logging.LogRecord) -> bool:
    """Whether a warning says more than that a column is empty, as karat's own workbooks have some."""
    return not record.getMessage().startswith("Could not determine dtype")


def polars_errors_named(read: Callable[[], pl.DataFrame], source: Source, problem: str) -> pl.DataFrame:
    """What `read` returns; polars' errors and panics become an InputError."""
    import polars as pl

    try:
        return read()
    except MemoryError:
        raise
    except (pl.exceptions.PanicException, Exception) as error:
        reason = str(error).strip().split("\n")[0][:160].rstrip(".")
        raise source.error(f"{problem} ({reason})", remedy="Write the file again.") from None


def is_frame(data: Any) -> bool:
    """Whether this is a polars or pandas frame, told without importing either."""
    kind = type(data)
    return kind.__name__ in ("DataFrame", "LazyFrame") and kind.__module__.split(".")[0] in ("polars", "pandas")


def polars_frame(data: Any) -> pl.DataFrame:
    """A polars frame of a polars or pandas one, whose index is left aside."""
    import polars as pl

    if type(data).__module__.split(".")[0] == "polars":
        frame: pl.DataFrame = data.collect() if type(data).__name__ == "LazyFrame" else data
        return frame
    columns: dict[str, pl.Series] = {}
    for place, name in enumerate(map(str, data.columns)):
        if name in columns:
            raise InputError(f"the frame has the column {name!r} twice", remedy="Rename one of the two.")
        column = data.iloc[:, place]
        if column.dtype.kind in "iuf":
            columns[name] = pl.Series(name, column.to_numpy())
            continue
        values = [_plain(value) for value in column.tolist()]
        texts = all(value is None or isinstance(value, str) for value in values)
        columns[name] = pl.Series(name, values, dtype=pl.String if texts else pl.Object)
    return pl.DataFrame(columns)


def _plain(value: Any) -> Any:
    """A Python value, None for what pandas has instead of one."""
    if value is None or type(value).__name__ in ("NAType", "NaTType") or value is np.nan:
        return None
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else well_formed_values(value)
