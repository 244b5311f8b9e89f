"""Opening: regular files only, unpacked within bounds. Pipes, sockets and devices may never end and are refused."""

from __future__ import annotations

import gzip
import io
import os
import stat
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO

from karat.core.errors import InputError
from karat.io.limits import TEXT_LIMIT, unpacked_most

GZIP = b"\x1f\x8b"
PIECE = 1 << 20
HEAD = 64 << 10
"""Bytes at the beginning of a file by which it is told what it is."""
_BROKEN_PART = (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, ValueError)  # said by who reads it

Path = str | os.PathLike[str]


class FileRefusedError(InputError):
    """A file that is not read for what it is; `kind` is one word: unreadable, unsupported, large or broken."""

    def __init__(self, kind: str, problem: str, *, place: str, remedy: str) -> None:
        super().__init__(problem, place=place, remedy=remedy)
        self.kind = kind


@contextmanager
def refusing(place: Path) -> Iterator[None]:
    """What the operating system says against reading a file becomes a FileRefusedError."""
    try:
        yield
        return
    except FileNotFoundError:
        problem, remedy = "does not exist", "Check the path."
    except PermissionError:
        problem, remedy = "cannot be read: permission denied", "Check its permissions."
    except IsADirectoryError:
        problem, remedy = "is a folder where a file is meant", "Name a file in it."
    except OSError as error:
        problem, remedy = f"cannot be read: {error.strerror or error}", "Check the disk and the path."
    raise FileRefusedError("unreadable", problem, place=str(place), remedy=remedy)


def open_regular(path: Path) -> io.FileIO:
    """A regular file, opened for reading; anything else is refused without being waited for."""
    if "\0" in str(path):
        raise FileRefusedError("unreadable", "is no path: it holds a NUL", place=str(path), remedy="Check the path.")
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        problem = "is no path: it holds half of a character"
        raise FileRefusedError("unreadable", problem, place=ascii(str(path)), remedy="Check the path.") from None
    _check_regular(path, os.stat(path))
    file = io.FileIO(path, "rb", opener=_without_waiting)
    try:
        _check_regular(path, os.fstat(file.fileno()))
    except FileRefusedError:
        file.close()
        raise
    return file


def _check_regular(path: Path, status: os.stat_result) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(f"{os.fspath(path)} is a folder")
    if not stat.S_ISREG(status.st_mode):
        raise FileRefusedError(
            "unsupported", "is no regular file (a pipe, socket or device)", place=str(path),
            remedy="Save what it gives to a file, and name that.",
        )  # fmt: skip


def _without_waiting(path: str, flags: int) -> int:
    """Open without waiting for the other end of a pipe."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))


def is_gzip(path: Path) -> bool:
    """Whether a file is packed by gzip, told by its first bytes."""
    with open_regular(path) as file:
        return file.read(len(GZIP)) == GZIP


def first_bytes(path: Path, size: int) -> bytes:
    """The beginning of a file, unpacked."""
    head = bytearray()
    for piece in pieces(path, size):
        head += piece
        if len(head) >= size:
            break
    return bytes(head[:size])


def pieces(path: Path, size: int = PIECE) -> Iterator[bytes]:
    """A file's bytes in pieces of at most `size`; what gzip packed is unpacked, within bounds."""
    with open_regular(path) as file:
        piece = file.read(size)
        if piece.startswith(GZIP):
            file.seek(0)
            yield from _unpacked(file, size, str(path))
            return
        while piece:
            yield piece
            piece = file.read(size)


def range_pieces(path: Path, start: int, end: int, size: int = PIECE) -> Iterator[bytes]:
    """The bytes `start` to `end` of a file as it stands on disk, in pieces of at most `size`."""
    with open_regular(path) as file:
        file.seek(start)
        while start < end and (piece := file.read(min(size, end - start))):
            start += len(piece)
            yield piece


def read_whole(path: Path, limit: int = TEXT_LIMIT) -> bytes:
    """All bytes of a file, unpacked; refused over the limit."""
    whole = io.BytesIO()
    too_large = FileRefusedError(
        "large", f"is larger than {_size(limit)}, the most that is read as one document", place=str(path),
        remedy="Split it, or write JSON as JSONL, one record a line.",
    )  # fmt: skip
    if os.stat(path).st_size > limit:
        raise too_large
    for piece in pieces(path):
        if whole.tell() + len(piece) > limit:
            raise too_large
        whole.write(piece)
    return whole.getvalue()


def _unpacked(file: io.FileIO, size: int, place: str) -> Iterator[bytes]:
    """What gzip packed, member after member; the module unpacks no more at once than it is asked for."""
    packed = os.fstat(file.fileno()).st_size
    left = unpacked_most(packed)
    try:
        with gzip.GzipFile(fileobj=file) as unpacked:
            while piece := unpacked.read(size):
                left -= len(piece)
                if left < 0:
                    raise _too_packed(place, packed, "If you trust it, unpack it and name the result.")
                yield piece
    except EOFError:
        raise FileRefusedError(
            "broken", "is a truncated gzip file: it ends before its data does", place=place,
            remedy="Download it again.",
        ) from None  # fmt: skip
    except (zlib.error, gzip.BadGzipFile) as error:
        raise FileRefusedError(
            "broken", f"is a damaged gzip file ({error})", place=place, remedy="Make or download it again."
        ) from None


def check_zip(archive: IO[bytes], place: str) -> None:
    """Refuse a zip archive, such as a docx or xlsx, that unpacks to more than its size warrants.

    Its parts are unpacked piece by piece and counted: the sizes that an archive declares may be false. Raises
    zipfile.BadZipFile where there is no archive.
    """
    size = archive.seek(0, os.SEEK_END)
    left = unpacked_most(size)
    remedy = "If you trust it, split it, or save it in another format."
    try:
        parts = zipfile.ZipFile(archive)
    except (ValueError, NotImplementedError) as problem:  # places that lie before the start of the file
        raise zipfile.BadZipFile(str(problem)) from None
    with parts:
        for part in parts.infolist():
            if part.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise FileRefusedError(
                    "unsupported", "is an archive packed in an unusual way, which is not read", place=place,
                    remedy=remedy,
                )  # fmt: skip
            part.file_size = TEXT_LIMIT + 1  # to the end of its data
            with suppress(*_BROKEN_PART), parts.open(part) as data:
                while piece := data.read(PIECE):
                    left -= len(piece)
                    if left < 0:
                        raise _too_packed(place, size, remedy)


def _too_packed(place: str, size: int, remedy: str) -> FileRefusedError:
    most = unpacked_most(size) >> 20
    return FileRefusedError(
        "large", f"unpacks to more than {most:,} MB, and has {_size(size)} itself", place=place, remedy=remedy
    )


def _size(size: int) -> str:
    return f"{size >> 20:,} MB" if size >> 20 else f"{size:,} bytes"
