"""Records: rows with named fields, from JSON, JSONL, CSV, TSV or Parquet alike, each with its number."""

from __future__ import annotations

import csv
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NoReturn

from karat.core.errors import UsageError
from karat.core.text.wellformed import well_formed, well_formed_values
from karat.files._cells import Record
from karat.files._source import Source
from karat.io import parquet
from karat.io.formulas import original
from karat.io.limits import LINE_LIMIT
from karat.io.opening import FileRefusedError, check_zip, open_regular
from karat.io.rows import next_row

if TYPE_CHECKING:
    import polars as pl

Rows = Iterator[tuple[int, Record]]
_NO_CHARACTER = re.compile(r"\\u(?:[dD][89a-fA-F]|0000)")  # as JSON writes half of a pair, whole pairs and NUL

WRAPPERS = ("questions", "test_cases", "queries", "results", "records", "rows", "samples", "examples", "items", "data")
"""Keys under which a JSON object keeps its list of records."""


def parse_json(text: str, source: Source, row: int | None = None) -> Any:
    """A JSON value; doubled keys and endless nesting are refused, and what is no character is replaced."""
    try:
        value = json.loads(text, object_pairs_hook=_once)
    except json.JSONDecodeError as problem:
        place = problem.lineno if row is None else row
        raise source.error(
            f"not valid JSON ({problem.msg}, column {problem.colno})",
            row=place,
            remedy="Correct it, or write the file again.",
        ) from None
    except _DoubledError as problem:
        raise source.error(
            f"the field {json.dumps(str(problem))} stands twice in one object", row=row, remedy="Keep one of the two."
        ) from None
    except RecursionError:
        raise source.error("the JSON is nested too deeply", row=row, remedy="Flatten it.") from None
    except ValueError:
        raise source.error("a number in the JSON has too many digits", row=row, remedy="Write it as text.") from None
    return well_formed_values(value) if _NO_CHARACTER.search(text) else value


class _DoubledError(Exception):
    pass


def _once(pairs: list[tuple[str, Any]]) -> Record:
    made = dict(pairs)
    if len(made) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise _DoubledError(well_formed(key))
            seen.add(key)
    return made


def from_jsonl(source: Source) -> Rows:
    """An object a line; blank lines are passed over."""
    for row, line in source.lines():
        if not line or line.isspace():
            continue
        value = parse_json(line, source, row)
        if not isinstance(value, dict):
            _not_an_object(value, source, row, "line")
        yield row, value


def from_items(items: list[Any], source: Source) -> Rows:
    """The objects of a JSON list, numbered from 1."""
    for row, value in enumerate(items, 1):
        if not isinstance(value, dict):
            _not_an_object(value, source, row, "record")
        yield row, value


def _not_an_object(value: Any, source: Source, row: int, unit: str) -> NoReturn:
    what = {list: "a list", str: "text", int: "a number", float: "a number", bool: "a truth value"}.get(type(value))
    raise source.error(
        f"an object with named fields was expected, and {what or 'null'} stands there",
        row=row,
        unit=unit,
        remedy='Write {"id": ..., ...}.',
    )


def from_table(source: Source, delimiter: str) -> Rows:
    """The rows of a CSV or TSV file under its header, numbered by the line they start on."""
    numbers = iter(_Numbered(source))
    try:
        reader = csv.reader(numbers, delimiter=delimiter, strict=True)
        header = [original(name) for name in next_row(reader, LINE_LIMIT) or ()]
        _check_header(header, source)
        start = reader.line_num
        while (cells := next_row(reader, LINE_LIMIT)) is not None:
            row, start = start + 1, reader.line_num
            if not cells or (len(cells) == 1 and not cells[0].strip()):
                continue
            if len(cells) != len(header):
                raise source.error(
                    f"the row has {len(cells)} cells and the header has {len(header)}",
                    row=row,
                    remedy="Fill in the missing cells, and put quotation marks around cells that hold the separator.",
                )
            yield row, dict(zip(header, map(original, cells), strict=True))
    except csv.Error as problem:
        raise source.error(
            f"the quotation marks do not pair up ({problem})",
            row=numbers.row,
            remedy="Double the marks inside a quoted cell, and close every cell.",
        ) from None


class _Numbered:
    """Lines for the csv module, with their ends, remembering the number of the last."""

    def __init__(self, source: Source) -> None:
        self.lines, self.row, self.started = source.lines(), 0, False

    def __iter__(self) -> _Numbered:
        return self

    def __next__(self) -> str:
        self.row, line = next(self.lines)
        while not self.started and not line.strip():
            self.row, line = next(self.lines)
        self.started = True
        return line + "\n"


def _check_header(header: list[str], source: Source) -> None:
    counts = Counter(name.strip() for name in header)
    doubled = next((name for name, count in counts.items() if name and count > 1), None)
    if doubled is not None:
        raise source.error(f"the header names the column {doubled!r} twice", row=1, remedy="Rename one of the two.")


def from_frame(frame: pl.DataFrame) -> Rows:
    """The rows of a polars frame, numbered from 1; NaN is no value."""
    return enumerate(frame.iter_rows(named=True), 1)


def read_parquet(source: Source) -> pl.DataFrame:
    """A Parquet file as a frame; whatever is wrong with it becomes a sentence."""
    try:
        return parquet.read_parquet(source.data() if source.is_gzip else source.path, source.name)
    except FileRefusedError as refused:
        raise source.error(refused.problem, remedy=refused.remedy) from None


def read_workbook(source: Source) -> tuple[pl.DataFrame, str, list[str]]:
    """The first sheet of a workbook, its name, and the names of the others."""
    import zipfile

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
        return book.load_sheet(0, schema_sample_rows=None).to_polars()

    frame = guarded(read, source, "cannot be read as a workbook")
    return frame, names[0], names[1:]


def guarded(read: Callable[[], pl.DataFrame], source: Source, problem: str) -> pl.DataFrame:
    """What `read` returns; polars' errors and panics become an InputError."""
    import polars as pl

    try:
        return read()
    except MemoryError:
        raise
    except (pl.exceptions.PanicException, Exception) as error:
        reason = str(error).strip().split("\n")[0][:160].rstrip(".")
        raise source.error(f"{problem} ({reason})", remedy="Write the file again.") from None


def from_columns(document: Record) -> list[Record] | None:
    """Records of a JSON object of equally long lists, one a column; None when it is something else."""
    values = list(document.values())
    if len(values) < 2 or not all(isinstance(v, list) for v in values) or len({len(v) for v in values}) != 1:
        return None
    return [dict(zip(document, cells, strict=True)) for cells in zip(*values, strict=True)]


def wrapped(document: Record) -> tuple[str, list[Any]] | None:
    """The key and list of records inside a JSON object, or None."""
    lists = {k: v for k, v in document.items() if isinstance(v, list) and v and all(isinstance(i, dict) for i in v)}
    for key in WRAPPERS:
        if key in lists:
            return key, lists[key]
    return next(iter(lists.items())) if len(lists) == 1 else None


def without_nan(value: Any) -> Any:
    """None instead of NaN, which frames write where they have nothing."""
    return None if isinstance(value, float) and math.isnan(value) else value
