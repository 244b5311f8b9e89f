"""table: CSV, TSV, Parquet and Arrow, a document a row."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from itertools import chain

from karat.core.docs import Doc
from karat.corpus._file import File
from karat.corpus._reader import Reader
from karat.corpus._records import Row, docs_of
from karat.io import arrow, parquet
from karat.io.decoding import is_binary
from karat.io.limits import LINE_LIMIT
from karat.io.records import cell_rows, named_rows

_SEPARATORS = ",\t;|"


def _sniff(file: File) -> bool | None:
    if file.head.startswith((parquet.SIGN, arrow.SIGN)):
        return True
    return False if file.ending in (".parquet", ".arrow") or is_binary(file.head) else None


def _read(file: File) -> Iterator[Doc]:
    if file.head.startswith((parquet.SIGN, arrow.SIGN)):
        yield from docs_of(file, _column_rows(file), "row")
    else:
        yield from docs_of(file, _rows(file, file.text()))


def _column_rows(file: File) -> Iterator[Row]:
    read = parquet.read_parquet if file.head.startswith(parquet.SIGN) else arrow.read_arrow
    frame = read(file.data() if file.is_gzip else file.path, file.place)
    return enumerate(frame.iter_rows(named=True), 1)


def _rows(file: File, text: str) -> Iterator[Row]:
    """Records of a table; a row with more or fewer cells than its first line is named and left out."""
    header = next((line for line in text.split("\n", 20) if line.strip()), "")[:LINE_LIMIT]
    separator = "\t" if file.ending == ".tsv" else max(_SEPARATORS, key=header.count)
    quoted = separator != "\t" or not _is_unquoted(text, header)

    def refuse(row: int | None, problem: str, remedy: str) -> None:
        file.row_problem(row or 1, "broken", f"{problem}.", remedy)

    rows = cell_rows(io.StringIO(text, newline=""), separator, refuse, quoted=quoted)
    if not quoted:
        rows = ((row, [_unquoted(cell) for cell in cells]) for row, cells in rows)
    for row, cells in rows:
        names = _without_header(file, cells)
        first = [] if names is None else [(row, cells)]
        yield from named_rows(names or cells, chain(first, rows), refuse)


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


def _unquoted(cell: str) -> str:
    return cell[1:-1].replace('""', '"') if re.fullmatch(r'"(?:[^"]|"")*"', cell) else cell


READER = Reader("table", "a table", (".csv", ".tsv", ".parquet", ".arrow"), _sniff, _read)
