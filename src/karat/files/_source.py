"""Source: one file to read, opened with care: gzip, encodings, long lines and what is no text at all."""

from __future__ import annotations

import codecs
import io
import os
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path

from karat.core.errors import InputError
from karat.io import parquet
from karat.io.limits import LINE_LIMIT, TEXT_LIMIT
from karat.io.opening import PIECE, FileRefusedError, is_gzip, open_regular, pieces

LONG = 4 << 20
"""The length from which a line's end is looked for before more of it is kept, in bytes."""

ENDINGS = (".gz", ".trec", ".jsonl", ".json", ".ndjson", ".csv", ".tsv", ".txt", ".run", ".parquet", ".xlsx")
HEAD = 64 << 10

ZIP = b"PK\x03\x04"
OLD_OFFICE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
WIDE_MARKS = {
    codecs.BOM_UTF32_LE: "UTF-32",
    codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}


class Source:
    """A file that exists, is not empty and may be text; opening it refuses everything else with a remedy.

    `name` is the path as the user gave it, for messages. `head` holds the first 64 KiB, unpacked, without a byte
    order mark. gzip is told by its first bytes, never by the file's name.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path, self.name = Path(path), str(path)
        self.is_gzip = False
        with self._explained():
            if self.path.is_dir():
                raise self.error("is a folder where a file is meant", remedy="Name a file in it.")
            self.is_gzip = is_gzip(self.path)
            head = bytearray()
            for piece in self._pieces(HEAD):
                head += piece
                if len(head) >= HEAD + len(codecs.BOM_UTF8):
                    break
        for mark, encoding in WIDE_MARKS.items():
            if head.startswith(mark):
                raise self.error(f"is encoded as {encoding}", remedy="Save it as UTF-8.")
        self._mark = len(codecs.BOM_UTF8) if head.startswith(codecs.BOM_UTF8) else 0
        self.head = bytes(head[self._mark : self._mark + HEAD])
        if not self.head.strip():
            raise self.error("is empty", remedy="Give a file with at least one row.")
        if self.head.startswith(OLD_OFFICE):
            raise self.error("is a file of an old Office, such as .xls", remedy="Save it as .xlsx or CSV.")
        if self.head.startswith(ZIP) and not self.is_workbook:
            raise self.error("is a zip archive", remedy="Unpack it, and name a file in it.")
        if b"\0" in self.head and not self.is_parquet and not self.is_workbook:
            raise self.error(
                "is a binary file, not text", remedy="Give a text file (JSON, JSONL, CSV, TSV, TREC), or Parquet."
            )

    @property
    def is_parquet(self) -> bool:
        return self.head.startswith(parquet.SIGN)

    @cached_property
    def is_workbook(self) -> bool:
        """Whether this is a workbook of Excel (.xlsx): a zip archive with a folder xl."""
        if not self.head.startswith(ZIP) or self.is_gzip:
            return False
        with self._explained(), suppress(zipfile.BadZipFile), zipfile.ZipFile(self.path) as archive:
            return any(name.startswith("xl/") for name in archive.namelist())
        return False

    @property
    def stem(self) -> str:
        """The file's name without folder and extensions: what a system is called when the file does not say."""
        name = self.path.name
        for ending in ENDINGS:
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

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Turns what the operating system says into a sentence."""
        try:
            yield
        except FileRefusedError as refused:
            raise self.error(refused.problem, remedy=refused.remedy) from None
        except FileNotFoundError:
            raise self.error("does not exist", remedy="Check the path.") from None
        except PermissionError:
            raise self.error("cannot be read: permission denied", remedy="Check its permissions.") from None
        except IsADirectoryError:
            raise self.error("is a folder where a file is meant", remedy="Name a file in it.") from None
        except (OSError, ValueError) as problem:
            raise self.error(f"cannot be read: {problem}", remedy="Check the path.") from None

    def _pieces(self, size: int = PIECE) -> Iterator[bytes]:
        """The file's bytes, unpacked, in pieces of at most `size`."""
        with self._explained():
            yield from pieces(self.path, size)

    def _unmarked(self, size: int) -> Iterator[bytes]:
        """The pieces without a byte order mark."""
        drop = self._mark
        for piece in self._pieces(size):
            if drop:
                piece, drop = piece[drop:], max(0, drop - len(piece))
            if piece:
                yield piece

    def blocks(self, size: int = 16 << 20) -> Iterator[bytes]:
        r"""Blocks of whole lines; each ends with \n, except perhaps the last.

        Holds one block and one partial line. A line over LINE_LIMIT is refused without being held: once a line is
        known to be LONG, its end is looked for before more of it is kept.
        """
        if not self.is_gzip:
            yield from self._plain_blocks(size)
            return
        partial: list[bytes] = []
        pending = done = 0
        for piece in self._unmarked(size):
            cut = piece.rfind(b"\n") + 1
            if not cut:
                if _grows_long(pending, len(piece)):
                    self._refuse_too_long(done)
                partial.append(piece)
                pending += len(piece)
                continue
            rest = piece[cut:]
            block = b"".join((*partial, piece[:cut])) if partial or rest else piece
            partial, pending = ([rest], len(rest)) if rest else ([], 0)
            del piece, rest
            done += len(block)
            if _grows_long(0, pending):
                self._refuse_too_long(done)
            yield block
        if partial:
            yield b"".join(partial)

    def _plain_blocks(self, size: int) -> Iterator[bytes]:
        """Blocks of an unpacked file, without copying what was read more than once."""
        done = 0
        with self._explained(), io.BufferedReader(open_regular(self.path)) as file:
            file.seek(self._mark)
            while block := file.read(size):
                start = block.rfind(b"\n") + 1
                pending = len(block) - start
                rest: list[bytes] = []
                if _grows_long(0, pending):
                    self._refuse_too_long(done + start)
                while pending and (not rest or not rest[-1].endswith(b"\n")) and (more := file.readline(PIECE)):
                    if _grows_long(pending, len(more)):
                        self._refuse_too_long(done + start)
                    rest.append(more)
                    pending += len(more)
                done += len(block) + sum(map(len, rest))
                yield b"".join((block, *rest)) if rest else block

    def _refuse_too_long(self, start: int) -> None:
        """Measure the line that starts at this byte of the text, keeping none of it, and refuse it over LINE_LIMIT."""
        row, length = 1, 0
        for piece in self._unmarked(PIECE):
            if start >= len(piece):
                row += piece.count(b"\n")
                start -= len(piece)
                continue
            row += piece.count(b"\n", 0, start)
            end = piece.find(b"\n", start)
            length += (len(piece) if end < 0 else end) - start
            start = 0
            if length > LINE_LIMIT:
                raise self.error(
                    f"the line is longer than {LINE_LIMIT >> 20} MB, the most that is read",
                    row=row,
                    remedy="Write one record a line, or leave out long texts.",
                )
            if end >= 0:
                return

    def lines(self) -> Iterator[tuple[int, str]]:
        """Lines with their numbers from 1, decoded, without their ends; blank lines included."""
        row = 0
        for block in self.blocks(PIECE):
            lines = block.split(b"\n")
            if not lines[-1]:
                lines.pop()
            try:
                texts = block.decode("utf-8").split("\n")
            except UnicodeDecodeError:
                texts = []
            for place, line in enumerate(lines):
                row += 1
                text = texts[place] if texts else self.decoded(line, row)
                yield row, text.removesuffix("\r")

    def decoded(self, line: bytes, row: int | None = None) -> str:
        """These bytes as text; what is not UTF-8 is refused with the line's number."""
        try:
            return line.decode("utf-8")
        except UnicodeDecodeError as problem:
            byte = line[problem.start]
            raise self.error(
                f"the text is not UTF-8 (byte 0x{byte:02x})", row=row, remedy="Save it as UTF-8."
            ) from None

    def text(self) -> str:
        """The whole file, decoded; a file over TEXT_LIMIT is refused before it is read."""
        data = self.data()
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError as problem:
            row = data.count(b"\n", 0, problem.start) + 1
            byte = data[problem.start]
            raise self.error(
                f"the text is not UTF-8 (byte 0x{byte:02x})", row=row, remedy="Save it as UTF-8."
            ) from None

    def data(self) -> bytes:
        """All bytes, unpacked, without a byte order mark; refused over TEXT_LIMIT."""
        with self._explained():
            if not self.is_gzip and self.path.is_file() and self.path.stat().st_size > TEXT_LIMIT:
                raise self._too_large()
        whole = io.BytesIO()
        for piece in self._unmarked(PIECE):
            if whole.tell() + len(piece) > TEXT_LIMIT:
                raise self._too_large()
            whole.write(piece)
        return whole.getvalue()

    def whole_lines(self) -> bytes:
        """All lines at once, each within LINE_LIMIT and together within TEXT_LIMIT."""
        blocks: list[bytes] = []
        size = 0
        for block in self.blocks():
            size += len(block)
            if size > TEXT_LIMIT:
                raise self._too_large()
            blocks.append(block)
        return b"".join(blocks)

    def _too_large(self) -> InputError:
        limit = f"{TEXT_LIMIT / (1 << 30):g} GB"
        return self.error(
            f"is larger than {limit}, the most that is read as one document",
            remedy="Split it, or write JSON as JSONL, one record a line.",
        )

    @cached_property
    def first_line(self) -> str:
        """The first line that is not blank, as far as it lies in the head; undecodable bytes replaced."""
        for line in self.head.split(b"\n"):
            if line.strip():
                return line.decode("utf-8", "replace").removesuffix("\r")
        return ""


def _grows_long(held: int, more: int) -> bool:
    """Whether a line of which so much is held becomes long with so much more."""
    long = min(LONG, LINE_LIMIT)
    return held <= long < held + more
