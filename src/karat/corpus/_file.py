"""File: one file of a corpus, opened with care, and what a reader says about it."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from karat.core.docs import Problem
from karat.core.progress import Progress
from karat.io.dataset_folder import is_dataset_id
from karat.io.decoding import cleaned, decode, printable
from karat.io.limits import LINE_LIMIT, ReadLimits
from karat.io.opening import HEAD, FileRefusedError, first_bytes, is_gzip, pieces, range_pieces, read_whole, refusing


def no_progress(what: str, done: int, total: int) -> None:
    """A Progress that tells nobody."""


ROWS_NAMED = 20
"""How many rows with the same kind of problem are named one by one."""

_ENDLESS = 1 << 50  # bytes: what a dataset by its id may hold is not measured by a file
_OTHER_ENCODING = "Save it as UTF-8 if it reads wrongly."


class ReadError(Exception):
    """Why a file is not read: becomes its Problem."""

    def __init__(self, kind: str, reason: str, remedy: str = "", *, fatal: bool = True) -> None:
        super().__init__(reason)
        self.kind, self.reason, self.remedy, self.fatal = kind, reason, remedy, fatal


@dataclass(frozen=True)
class LineRange:
    """A range of the lines of a file: bytes `start` to `end`, the first of them in row `row`."""

    start: int
    end: int
    row: int


@dataclass
class File:
    """A regular file to be read, and what is met in it.

    `id` is the document's id when the file is one document; `place` names the file in messages. gzip is unpacked,
    told by its first bytes. Of a large file of lines a range may be read alone.
    """

    path: Path
    id: str
    place: str
    named: bool = False  # given by its own name, not found in a folder
    columns: Mapping[str, str] = field(default_factory=dict)
    progress: Progress = no_progress
    limits: ReadLimits = field(default_factory=ReadLimits)
    problems: list[Problem] = field(default_factory=list)
    fields: set[str] = field(default_factory=set)  # what its records call their fields, where columns are named
    rows: Counter[str] = field(default_factory=Counter)  # records with a problem of each kind
    part: LineRange | None = None
    unit: str = "line"  # what its records are called
    textless: list[tuple[int, list[str]]] = field(default_factory=list)  # the first records without a text: row, fields
    textless_count: int = 0
    page_counts: dict[str, Any] = field(default_factory=dict)  # as PageReader counts them
    by_row: bool = False  # whether an id is made of a row's number

    def notes(self) -> dict[str, Any]:
        """What was met in it, in plain values."""
        return {
            "problems": [asdict(problem) for problem in self.problems],
            "rows": dict(self.rows),
            "fields": sorted(self.fields),
            "unit": self.unit,
            "textless": self.textless,
            "textless_count": self.textless_count,
            "page_counts": self.page_counts,
            "by_row": self.by_row,
        }

    def take_notes(self, notes: Mapping[str, Any]) -> None:
        """What was met in it by another process."""
        self.problems += [Problem(**problem) for problem in notes["problems"]]
        self.rows.update(notes["rows"])
        self.fields.update(notes["fields"])
        self.textless += [(row, names) for row, names in notes["textless"]]
        self.textless_count += notes["textless_count"]
        self.unit, self.page_counts, self.by_row = notes["unit"], notes["page_counts"], notes["by_row"]

    def problem(self, kind: str, reason: str, remedy: str = "", *, fatal: bool = False) -> None:
        """Something to know about this file, which is read all the same."""
        self.problems.append(Problem(self.place, kind, reason, remedy=remedy, fatal=fatal))

    def row_problem(self, row: int | None, kind: str, reason: str, remedy: str = "", *, fatal: bool = True) -> None:
        """A record that is not read (or, not fatal, one to know about); the rest of the file goes on."""
        self.rows[kind] += 1
        if self.rows[kind] <= ROWS_NAMED:
            place = self.place if row is None else f"{self.place}:{row}"
            self.problems.append(Problem(place, kind, reason, remedy=remedy, fatal=fatal))

    def sum_up(self) -> None:
        """Count the rows that were not named one by one."""
        for kind, count in self.rows.items():
            if count > ROWS_NAMED:
                fatal = next(p.fatal for p in self.problems if p.kind == kind)
                more = count - ROWS_NAMED
                reason = f"{more:,} more rows have the same kind of problem, {count:,} in all."
                self.problems.append(Problem(self.place, kind, reason, fatal=fatal, count=more))
        self.rows.clear()

    @cached_property
    def ending(self) -> str:
        """The lower-case extension with its dot, without .gz; "" if there is none."""
        name = self.path.name.lower()
        if name.endswith(".gz") and self.is_gzip:
            name = name.removesuffix(".gz")
        return os.path.splitext(name)[1]

    @property
    def stem(self) -> str:
        """The file's name without folder and extension: its title when it has no other."""
        name = printable(self.path.name)
        return os.path.splitext(name[:-3] if name.lower().endswith(".gz") and self.is_gzip else name)[0]

    @cached_property
    def is_gzip(self) -> bool:
        return is_gzip(self.path)

    @cached_property
    def size(self) -> int:
        """What it takes on disk, in bytes."""
        return _ENDLESS if self.is_dataset_id else os.stat(self.path).st_size

    @property
    def is_dataset_id(self) -> bool:
        """Whether it is no file, but a dataset of ir_datasets."""
        return is_dataset_id(self.path)

    @cached_property
    def head(self) -> bytes:
        """The first 64 KiB, unpacked."""
        return b"" if self.is_dataset_id else first_bytes(self.path, HEAD)

    def data(self) -> bytes:
        """All bytes, unpacked."""
        return read_whole(self.path)

    def text(self, declared: str | None = None) -> str:
        """The whole file as text; an encoding other than UTF-8 is noted."""
        decoded = decode(self.data(), declared)
        if decoded.encoding not in ("UTF-8", declared):
            self.problem("encoding", f"is not UTF-8; read as {decoded.encoding}.", _OTHER_ENCODING)
        if decoded.replaced:
            places = "one place" if decoded.replaced == 1 else f"{decoded.replaced:,} places"
            reason = f"{places} could not be decoded as {decoded.encoding} and read \ufffd."
            self.problem("encoding", reason, _OTHER_ENCODING)
        return cleaned(decoded.text)

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """Lines with their numbers from 1, without their ends; one over LINE_LIMIT is named and left out."""
        row, held, size = self.part.row - 1 if self.part else 0, [b""], 0
        for piece in self._pieces():
            first, *rest = piece.split(b"\n")
            size += len(first)
            held.append(first if size <= LINE_LIMIT else b"")
            for line in rest:
                row += 1
                if size <= LINE_LIMIT:
                    yield row, b"".join(held)
                else:
                    self._too_long(row)
                held, size = [line], len(line)
        if size > LINE_LIMIT:
            self._too_long(row + 1)
        elif size:
            yield row + 1, b"".join(held)

    def _too_long(self, row: int) -> None:
        self.row_problem(
            row, "large", f"the line is longer than {LINE_LIMIT >> 20} MB, the most that is read.", "Split the record."
        )

    def _pieces(self) -> Iterator[bytes]:
        with as_read_errors():
            part = self.part
            yield from pieces(self.path) if part is None else range_pieces(self.path, part.start, part.end)


@contextmanager
def as_read_errors() -> Iterator[None]:
    """Whatever is said against opening a file becomes a ReadError."""
    try:
        with refusing(""):
            yield
    except FileRefusedError as refused:
        raise ReadError(refused.kind, f"{refused.problem}.", refused.remedy or "") from None
