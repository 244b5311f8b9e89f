"""Rows of a CSV or TSV text whose cells may be long: the csv module's limit is the whole program's, and left alone."""

from __future__ import annotations

import csv
import threading
from collections.abc import Iterator
from typing import Protocol

_LIMIT = threading.Lock()


class Cells(Protocol):
    """What `csv.reader` returns."""

    line_num: int

    def __iter__(self) -> Iterator[list[str]]: ...

    def __next__(self) -> list[str]: ...


def next_row(cells: Cells, longest: int) -> list[str] | None:
    """The next row, a cell of which may have `longest` characters; None after the last."""
    with _LIMIT:
        others = csv.field_size_limit(longest)
        try:
            return next(cells, None)
        finally:
            csv.field_size_limit(others)
