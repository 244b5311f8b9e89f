"""Records: numbered rows with named fields, of JSON, JSONL, CSV and TSV, for test sets, results and corpora alike.

What is wrong with a row is told to `refuse(row, problem, remedy)`: it raises, or notes the problem and lets the rest go
on.
"""

from __future__ import annotations

import csv
import json
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any, Literal

from karat.core.text.wellformed import well_formed, well_formed_values
from karat.core.text.words import plural
from karat.io.cells import Record
from karat.io.fields import ID, QUESTION, TESTSET, TURNS, field_name
from karat.io.limits import LINE_LIMIT

NumberedRecords = Iterator[tuple[int, Record]]
Refuse = Callable[[int | None, str, str], None]

WRAPPERS = ("questions", "test_cases", "queries", "results", "records", "rows", "samples", "examples", "items", "data")
"""Keys under which a JSON object keeps its list of records."""

NO_CHARACTER = re.compile(r"\\u(?:[dD][89a-fA-F]|0000)")
"""What JSON writes for half of a pair, for whole pairs and for NUL."""
_CSV_LIMIT = threading.RLock()  # the csv module's limit is the whole program's
_KINDS = {list: "a list", str: "text", int: "a number", float: "a number", bool: "a truth value"}


class JSONError(ValueError):
    """What is wrong with some JSON, and what to do; `row` is the line of it, where that is known."""

    def __init__(self, problem: str, remedy: str, row: int | None = None) -> None:
        super().__init__(problem)
        self.problem, self.remedy, self.row = problem, remedy, row


def parse_json(text: str, *, strict: bool = True) -> Any:
    """A JSON value; endless nesting is refused.

    `strict`: so is an object that names a field twice, of which else the last one counts; and what is no character is
    replaced.
    """
    try:
        value = _strictly(text) if strict else json.loads(text)
    except json.JSONDecodeError as problem:
        what = f"not valid JSON ({problem.msg}, column {problem.colno})"
        raise JSONError(what, "Correct it, or write the file again.", problem.lineno) from None
    except RecursionError:
        raise JSONError("the JSON is nested too deeply", "Flatten it.") from None
    except JSONError:
        raise
    except ValueError:
        raise JSONError("a number in the JSON has too many digits", "Write it as text.") from None
    return well_formed_values(value) if strict and NO_CHARACTER.search(text) else value


def _once(pairs: list[tuple[str, Any]]) -> Record:
    record = dict(pairs)
    if len(record) != len(pairs):
        names = [name for name, _ in pairs]
        doubled = next(name for place, name in enumerate(names) if name in names[:place])
        raise JSONError(f"the field {json.dumps(well_formed(doubled))} stands twice in one object", "Keep one of them.")
    return record


_STRICT = json.JSONDecoder(object_pairs_hook=_once)
_scan: Callable[[str, int], tuple[Any, int]] = _STRICT.scan_once  # type: ignore[attr-defined]


def _strictly(text: str) -> Any:
    """What the strict decoder gives; at once where no blanks stand around the value, as in lines of a file."""
    with suppress(StopIteration):  # where a value is missing, which the decoder says in words
        value, end = _scan(text, 0)
        if end == len(text):
            return value
    return _STRICT.decode(text)


def is_object(line: str) -> bool:
    """Whether a line is a JSON object."""
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def json_lines(lines: Iterable[tuple[int, str]], refuse: Refuse) -> NumberedRecords:
    """An object a line; blank lines are passed over."""
    for row, line in lines:
        if not line or line.isspace():
            continue
        try:
            value = parse_json(line)
        except JSONError as error:
            refuse(row, error.problem, error.remedy)
            continue
        if type(value) is dict:
            yield row, value
        else:
            yield from json_items([value], refuse, row)


def json_items(items: Iterable[Any], refuse: Refuse, first: int = 1) -> NumberedRecords:
    """The objects of a JSON list, numbered."""
    for row, value in enumerate(items, first):
        if isinstance(value, dict):
            yield row, value
        else:
            what = _KINDS.get(type(value), "null")
            problem = f"an object with named fields was expected, and {what} stands there"
            refuse(row, problem, 'Write {"id": ..., ...}.')


def cell_rows(
    lines: Iterable[str], delimiter: str, refuse: Refuse, *, quoted: bool = True
) -> Iterator[tuple[int, list[str]]]:
    """The rows of a CSV or TSV text as lists of cells, numbered by the line they start on.

    Rows without a filled cell, as spreadsheets leave behind, are passed over. A cell may have LINE_LIMIT characters.
    `quoted`: quotation marks hold a cell together.
    """
    quoting: Literal[0, 3] = csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE
    reader = csv.reader(lines, delimiter=delimiter, quoting=quoting, strict=True)
    while True:
        row = reader.line_num + 1
        try:
            cells = _next_row(reader)
        except csv.Error as problem:
            if "new-line character" in str(problem):
                refuse(row, "a carriage return stands within a line", "Quote the cell, or end lines with a line feed.")
            else:
                what = f"the quotation marks do not pair up ({problem})"
                refuse(row, what, "Double the marks inside a quoted cell, and close every cell.")
            continue
        if cells is None:
            return
        if any(map(str.strip, cells)):
            yield row, cells


def _next_row(reader: Iterator[list[str]]) -> list[str] | None:
    with _CSV_LIMIT:
        others = csv.field_size_limit(LINE_LIMIT)
        try:
            return next(reader, None)
        finally:
            csv.field_size_limit(others)


def named_rows(header: Sequence[str], rows: Iterable[tuple[int, Sequence[str]]], refuse: Refuse) -> NumberedRecords:
    """Rows under the names of their columns; each must have as many cells."""
    for row, cells in rows:
        if len(cells) == len(header):
            yield row, dict(zip(header, cells, strict=True))
        else:
            problem = f"the row has {plural(len(cells), 'cell')} and the header has {len(header)}"
            remedy = "Fill in the missing cells, and put quotation marks around cells that hold the separator."
            refuse(row, problem, remedy)


def from_columns(document: Record) -> list[Record] | None:
    """Records of a JSON object of equally long columns, lists or as pandas writes them; None where it is none."""
    columns = list(document.values())
    if any(isinstance(column, dict) for column in columns) and {*ID, *QUESTION} & set(map(field_name, document)):
        columns = [_by_row_number(column) for column in columns]
    if len(columns) < 2 or not all(isinstance(v, list) for v in columns) or len({len(v) for v in columns}) != 1:
        return None
    return [dict(zip(document, cells, strict=True)) for cells in zip(*columns, strict=True)]


def _by_row_number(column: Any) -> Any:
    """The cells of `{"0": cell, "1": cell}`, as pandas' to_json writes a column; anything else as it is."""
    if isinstance(column, dict) and column and all(key == str(row) for row, key in enumerate(column)):
        return list(column.values())
    return column


def wrapped(document: Record) -> tuple[str, list[Any]] | None:
    """The key and list of records inside a JSON object, or None; one with an id and turns is a conversation itself."""
    if TURNS in document and {*TESTSET["conversation"], *ID} & set(map(field_name, document)):
        return None
    lists = {k: v for k, v in document.items() if isinstance(v, list) and v and all(isinstance(i, dict) for i in v)}
    known = next((key for key in WRAPPERS if key in lists), None)
    if known is None and len(lists) != 1:
        return None
    key = known or next(iter(lists))
    return key, lists[key]
