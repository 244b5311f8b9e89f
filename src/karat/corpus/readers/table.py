"""table: CSV, TSV and Parquet, a document a row."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from typing import Any

from karat.core.docs import Doc
from karat.corpus._decode import is_binary
from karat.corpus._file import File, explained
from karat.corpus._reader import Reader
from karat.corpus._records import Row, docs_of
from karat.io import parquet
from karat.io.limits import LINE_LIMIT
from karat.io.rows import next_row

_SEPARATORS = ",\t;|"


def _sniff(file: File) -> bool | None:
    if file.head.startswith(parquet.SIGN):
        return True
    return False if file.ending == ".parquet" or is_binary(file.head) else None


def _read(file: File) -> Iterator[Doc]:
    if file.head.startswith(parquet.SIGN):
        yield from docs_of(file, _parquet_rows(file), "row")
    else:
        yield from docs_of(file, _rows(file, file.text()))


def _parquet_rows(file: File) -> Iterator[Row]:
    with explained():
        frame = parquet.read_parquet(file.data() if file.is_gzip else file.path, file.place)
    row = 0
    for part in frame.iter_slices(10_000):
        for record in part.iter_rows(named=True):
            row += 1
            yield row, record


def _rows(file: File, text: str) -> Iterator[Row]:
    """Records of a table; a row with more or fewer cells than its first line is named and left out."""
    header = next((line for line in text.split("\n", 20) if line.strip()), "")[:LINE_LIMIT]
    separator = "\t" if file.ending == ".tsv" else max(_SEPARATORS, key=header.count)
    bare = separator == "\t" and _is_unquoted(text, header)
    cells = csv.reader(
        io.StringIO(text, newline=""),
        delimiter=separator,
        quoting=csv.QUOTE_NONE if bare else csv.QUOTE_MINIMAL,
        strict=True,
    )
    names: Sequence[str] | None = None
    while True:
        row = cells.line_num + 1
        try:
            values = next_row(cells, LINE_LIMIT)
        except csv.Error as error:
            what = "a quote is opened and never closed" if "end of data" in str(error) else str(error)
            file.row_problem(row, "broken", f"the line cannot be read: {what}.", "Correct the quotes.")
            continue
        if values is None:
            return
        if not values or (len(values) == 1 and not values[0].strip()):
            continue
        if bare:
            values = [_unquoted(value) for value in values]
        if names is None:
            names = _without_header(file, values)
            first = "first line" if names else "header"
            if names is None:
                names = values
                continue
        if len(values) != len(names):
            reason = f"the line has {len(values)} cells, the {first} {len(names)}."
            file.row_problem(row, "broken", reason, "Quote cells that hold the separator.")
        else:
            yield row, dict(zip(names, values, strict=True))


def _without_header(file: File, cells: Sequence[str]) -> tuple[str, ...] | None:
    """The names of the columns of a table that begins with a record, as the passages and documents of MS MARCO do."""
    if len(cells) == 2 and cells[0].isdecimal() and any(map(str.isalpha, cells[1])):
        names: tuple[str, ...] = ("id", "text")
    elif len(cells) == 4 and cells[1].startswith(("http://", "https://")):
        names = ("id", "url", "title", "text")
    else:
        return None
    file.problem("header", f"has no header line; its columns were read as {', '.join(names)}.")
    return names


def _is_unquoted(text: str, header: str) -> bool:
    """Whether quotes in a tab-separated table are plain characters: each line has as many tabs as the header."""
    lines = [line for line in text[: 1 << 20].split("\n")[:1000] if line.strip()]
    whole = lines[:-1] if len(lines) > 2 else lines
    return all(line.count("\t") == header.count("\t") for line in whole)


def _unquoted(cell: Any) -> Any:
    return cell[1:-1].replace('""', '"') if re.fullmatch(r'"(?:[^"]|"")*"', cell) else cell


READER = Reader("table", "a table", (".csv", ".tsv", ".parquet"), _sniff, _read)
