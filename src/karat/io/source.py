"""Source: one file to read, opened with care: gzip, encodings, long lines and what is no text at all."""

from __future__ import annotations

import codecs
import os
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from functools import cached_property
from itertools import chain
from pathlib import Path

from karat.core.errors import InputError
from karat.io import arrow, parquet
from karat.io.limits import LINE_LIMIT, TEXT_LIMIT
from karat.io.opening import HEAD, PIECE, first_bytes, is_gzip, pieces, read_whole, refusing

_ENDINGS = (".gz", ".trec", ".jsonl", ".json", ".ndjson", ".csv", ".tsv", ".txt", ".run", ".parquet", ".arrow", ".xlsx")
_ZIP = b"PK\x03\x04"
_REFUSED = {
    codecs.BOM_UTF32_LE: ("is encoded as UTF-32", "Save it as UTF-8."),
    codecs.BOM_UTF32_BE: ("is encoded as UTF-32", "Save it as UTF-8."),
    codecs.BOM_UTF16_LE: ("is encoded as UTF-16", "Save it as UTF-8."),
    codecs.BOM_UTF16_BE: ("is encoded as UTF-16", "Save it as UTF-8."),
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": ("is a file of an old Office, such as .xls", "Save it as .xlsx or CSV."),
}
"""Files that are not read, by how they begin: what to say of them, and what to do."""


class Source:
    """A file that exists, is not empty and may be text; opening it refuses everything else with a remedy.

    `name` is the path as the user gave it, for messages. `head` holds the first 64 KiB, unpacked, without a byte
    order mark. gzip is told by its first bytes, never by the file's name.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path, self.name = Path(path), str(path)
        with refusing(self.name):
            self.is_gzip = is_gzip(self.name)
            head = first_bytes(self.name, HEAD + len(codecs.BOM_UTF8))
        for mark, (problem, remedy) in _REFUSED.items():
            if head.startswith(mark):
                raise self.error(problem, remedy=remedy)
        self._mark = len(codecs.BOM_UTF8) if head.startswith(codecs.BOM_UTF8) else 0
        self.head = head[self._mark : self._mark + HEAD]
        if not self.head.strip():
            raise self.error("is empty", remedy="Give a file with at least one row.")
        if self.head.startswith(_ZIP) and not self.is_workbook:
            raise self.error("is a zip archive", remedy="Unpack it, and name a file in it.")
        if b"\0" in self.head and not self.is_parquet and not self.is_arrow and not self.is_workbook:
            raise self.error(
                "is a binary file, not text", remedy="Give a text file (JSON, JSONL, CSV, TSV, TREC), or Parquet."
            )

    @property
    def is_small(self) -> bool:
        """Whether the head is all of it: then it is read sooner than polars is imported."""
        return len(self.head) < HEAD

    @property
    def is_parquet(self) -> bool:
        return self.head.startswith(parquet.SIGN)

    @property
    def is_arrow(self) -> bool:
        return self.head.startswith(arrow.SIGN)

    @cached_property
    def is_workbook(self) -> bool:
        """Whether this is a workbook of Excel (.xlsx): a zip archive with a folder xl."""
        if not self.head.startswith(_ZIP) or self.is_gzip:
            return False
        with refusing(self.name), suppress(zipfile.BadZipFile), zipfile.ZipFile(self.path) as archive:
            return any(name.startswith("xl/") for name in archive.namelist())
        return False

    @cached_property
    def stem(self) -> str:
        """The file's name without folder and extensions: what a system is called when the file does not say."""
        name = self.path.name
        for ending in _ENDINGS:
            if name.lower().endswith(ending) and len(name) > len(ending):
                name = name[: -len(ending)]
        return name

    def error(
        self,
        problem: str,
        *,
        row: int | None = None,
        unit: str = "line",
        field: str | None = None,
        remedy: str | None = None,
    ) -> InputError:
        """An InputError that names this file."""
        return InputError(problem, place=self.name, row=row, unit=unit, field=field, remedy=remedy)

    def _pieces(self, size: int) -> Iterator[bytes]:
        """The file's bytes, unpacked, in pieces of at most `size`."""
        with refusing(self.name):
            yield from pieces(self.name, size)

    def blocks(self, size: int = 16 << 20) -> Iterator[bytes]:
        r"""Blocks of whole lines; each ends with \n, except perhaps the last. A line over LINE_LIMIT is refused.

        Holds one block and one partial line.
        """
        partial: list[bytes] = []
        drop, done, pending = self._mark, 0, 0
        for piece in self._pieces(size):
            if drop:
                piece, drop = piece[drop:], max(0, drop - len(piece))
            cut = piece.rfind(b"\n") + 1
            if pending + (piece.find(b"\n") if cut else len(piece)) > LINE_LIMIT:
                raise self._too_long(done)
            if cut:
                block = b"".join((*partial, piece[:cut])) if partial or cut < len(piece) else piece
                partial, pending = [], 0
                done += len(block)
                yield block
            if cut < len(piece):
                partial.append(piece[cut:])
                pending += len(piece) - cut
        if partial:
            yield b"".join(partial)

    def _too_long(self, start: int) -> InputError:
        """What is said of a line over the limit, which begins at this byte after the mark."""
        row, left = 1, start + self._mark
        for piece in self._pieces(PIECE):
            row += piece.count(b"\n", 0, left)
            left -= len(piece)
            if left <= 0:
                break
        return self.error(
            f"the line is longer than {LINE_LIMIT >> 20} MB, the most that is read",
            row=row,
            remedy="Write one record a line, or leave out long texts.",
        )

    def lines(self) -> Iterator[tuple[int, str]]:
        """Lines with their numbers from 1, decoded, without their ends; blank lines included."""
        row = 0
        for block in self.blocks(PIECE):
            text = self._decoded(block, row + 1)
            for line in text.removesuffix("\n").split("\n"):
                row += 1
                yield row, line.removesuffix("\r")

    def texts(self, size: int = PIECE) -> Iterator[str]:
        """The text in pieces that may end anywhere, of files that need not be made of lines."""
        decoder = codecs.getincrementaldecoder("utf-8")()
        drop, row = self._mark, 1
        for piece in chain(self._pieces(size), (b"",)):
            try:
                yield decoder.decode(piece[drop:], final=not piece)
            except UnicodeDecodeError:
                raise self.error("the text is not UTF-8", row=row, remedy="Save it as UTF-8.") from None
            drop = max(0, drop - len(piece))
            row += piece.count(b"\n")

    def _decoded(self, data: bytes, row: int) -> str:
        """Whole lines, of which the first has this number, as text; what is not UTF-8 is refused."""
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError as problem:
            raise self.error(
                f"the text is not UTF-8 (byte 0x{data[problem.start]:02x})",
                row=row + data.count(b"\n", 0, problem.start),
                remedy="Save it as UTF-8.",
            ) from None

    def text(self, limit: int | None = None) -> str:
        """The whole file, decoded; a file over the limit is refused before it is read."""
        return self._decoded(self.data(limit), 1)

    def data(self, limit: int | None = None) -> bytes:
        """All bytes, unpacked, without a byte order mark; refused over the limit, else over TEXT_LIMIT."""
        with refusing(self.name):
            return read_whole(self.name, limit or TEXT_LIMIT)[self._mark :]

    @cached_property
    def first_line(self) -> str:
        """The first line that is not blank, as far as it lies in the head; undecodable bytes replaced."""
        for line in self.head.split(b"\n"):
            if line.strip():
                return line.decode("utf-8", "replace").removesuffix("\r")
        return ""
