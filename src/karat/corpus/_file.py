"""File: one file of a corpus, opened with care, and what a reader says about it."""

from __future__ import annotations

import io
import os
import stat
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import IO

from karat.core.docs import Problem
from karat.corpus._decode import Decoded, decode, plain, printable

Progress = Callable[[str, int, int], None]
"""What is being done, how much of it is done, and how much there is."""

LINE_LIMIT = 64 << 20
"""The longest line that is read, in bytes."""

SIZE_LIMIT = 2 << 30
"""The most that is read of one file, in bytes after decompression."""

ROWS_NAMED = 20
"""How many rows with the same kind of problem are named one by one."""

HEAD = 64 << 10
_PIECE = 1 << 20
_GZIP = b"\x1f\x8b"
_OTHER_ENCODING = "Save it as UTF-8 if it reads wrongly."


class ReadError(Exception):
    """Why a file is not read: becomes its Problem."""

    def __init__(self, kind: str, reason: str, remedy: str = "", *, fatal: bool = True) -> None:
        super().__init__(reason)
        self.kind, self.reason, self.remedy, self.fatal = kind, reason, remedy, fatal


@dataclass
class File:
    """A regular file to be read, and the problems met in it.

    `id` is the document's id when the file is one document; `place` names the file in messages. gzip is unpacked,
    told by its first bytes.
    """

    path: Path
    id: str
    place: str
    named: bool = False  # given by its own name, not found in a folder
    columns: Mapping[str, str] = field(default_factory=dict)
    progress: Progress = lambda what, done, total: None
    problems: list[Problem] = field(default_factory=list)
    fields: set[str] = field(default_factory=set)  # what its records call their fields, where columns are named
    _rows: Counter[str] = field(default_factory=Counter)

    def problem(self, kind: str, reason: str, remedy: str = "", *, fatal: bool = False) -> None:
        """Something to know about this file, which is read all the same."""
        self.problems.append(Problem(self.place, kind, reason, remedy, fatal))

    def row_problem(self, row: int, kind: str, reason: str, remedy: str = "", *, fatal: bool = True) -> None:
        """A record that is not read (or, not fatal, one to know about); the rest of the file goes on."""
        self._rows[kind] += 1
        if self._rows[kind] <= ROWS_NAMED:
            self.problems.append(Problem(f"{self.place}:{row}", kind, reason, remedy, fatal))

    def repeated(self, reason: str, fatal: bool) -> None:
        """A document whose id another one has."""
        kind = "duplicate" if not fatal else "clash"
        self._rows[kind] += 1
        if self._rows[kind] <= ROWS_NAMED:
            remedy = "Give each its own id." if fatal else ""
            self.problems.append(Problem(self.place, kind, reason, remedy, fatal))

    def sum_up(self) -> None:
        """Count the rows that were not named one by one."""
        for kind, count in self._rows.items():
            if count > ROWS_NAMED:
                fatal = next(p.fatal for p in self.problems if p.kind == kind)
                more = count - ROWS_NAMED
                reason = f"{more:,} more rows have the same kind of problem, {count:,} in all."
                self.problems.append(Problem(self.place, kind, reason, fatal=fatal, count=more))
        self._rows.clear()

    @property
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
        return os.path.splitext(name[:-3] if self.is_gzip and name.lower().endswith(".gz") else name)[0]

    @cached_property
    def is_gzip(self) -> bool:
        with self._open() as file:
            return file.read(2) == _GZIP

    @cached_property
    def head(self) -> bytes:
        """The first 64 KiB, unpacked."""
        head = bytearray()
        for piece in self._pieces(HEAD):
            head += piece
            if len(head) >= HEAD:
                break
        return bytes(head[:HEAD])

    def data(self, limit: int = SIZE_LIMIT) -> bytes:
        """All bytes, unpacked; refused over the limit."""
        whole = io.BytesIO()
        for piece in self._pieces(_PIECE):
            if whole.tell() + len(piece) > limit:
                raise ReadError("large", f"is larger than {limit >> 20:,} MB, the most that is read.", "Split it.")
            whole.write(piece)
        return whole.getvalue()

    def text(self, declared: str | None = None) -> str:
        """The whole file as text; an encoding other than UTF-8 is said."""
        decoded = decode(self.data(), declared)
        self.say_encoding(decoded, declared)
        return plain(decoded.text)

    def say_encoding(self, decoded: Decoded, declared: str | None = None) -> None:
        """Say what encoding was assumed, unless it was UTF-8 or declared."""
        if decoded.encoding not in ("UTF-8", declared):
            self.problem("encoding", f"is not UTF-8; read as {decoded.encoding}.", _OTHER_ENCODING)
        if decoded.replaced:
            places = "one place" if decoded.replaced == 1 else f"{decoded.replaced:,} places"
            self.problem(
                "encoding", f"{places} could not be decoded as {decoded.encoding} and read \ufffd.", _OTHER_ENCODING
            )

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """Lines with their numbers from 1, without their ends; one over LINE_LIMIT is named and left out."""
        row, held, size = 0, [b""], 0
        for piece in self._pieces(_PIECE):
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

    @contextmanager
    def _open(self) -> Iterator[IO[bytes]]:
        with explained(), open(self.path, "rb", buffering=0, opener=_without_waiting) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise ReadError("unsupported", "is no regular file (a pipe, socket or device).")
            yield file

    def _pieces(self, size: int) -> Iterator[bytes]:
        with self._open() as file:
            if not self.is_gzip:
                while piece := file.read(size):
                    yield piece
            else:
                yield from _unpacked(file, size)


@contextmanager
def explained() -> Iterator[None]:
    """Turn what the operating system or zlib says into ReadError."""
    try:
        yield
    except FileNotFoundError:
        raise ReadError("unreadable", "was there when the folder was listed, but is gone.", "Index again.") from None
    except PermissionError:
        raise ReadError("unreadable", "cannot be read: permission denied.", "Check its permissions.") from None
    except zlib.error as error:
        raise ReadError("broken", f"is a damaged gzip file ({error}).", "Make or download it again.") from None
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise ReadError("unreadable", f"cannot be read: {why}.", "Check the disk and the path.") from None


def _without_waiting(path: str, flags: int) -> int:
    """Open without waiting for the other end of a pipe."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))


def _unpacked(file: IO[bytes], size: int) -> Iterator[bytes]:
    member = zlib.decompressobj(wbits=31)
    packed, started = b"", False
    while packed or (packed := file.read(_PIECE)):
        if member.eof:
            packed, started = packed.lstrip(b"\0"), False  # zeros may pad the end of a member
            if not packed:
                continue
            member = zlib.decompressobj(wbits=31)
        started = True
        piece = member.decompress(packed, size)
        packed = member.unused_data if member.eof else member.unconsumed_tail
        if piece:
            yield piece
    if started and not member.eof:
        raise ReadError("broken", "is a truncated gzip file: it ends before its data does.", "Download it again.")
