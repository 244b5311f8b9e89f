"""Parquet: a file as a frame, once its footer and the headers of its pages say that it unpacks to no more than it may.

A column stores a value once and names it in millions of rows, so a few kilobytes may stand for gigabytes.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import TYPE_CHECKING, Any

from karat.io.limits import REPEATED_FREE, unpacked_most
from karat.io.opening import FileRefusedError, open_regular, refusing

if TYPE_CHECKING:
    import polars as pl

SIGN = b"PAR1"
VALUE = 8  # bytes that a value takes at least, once it is unpacked
_DEEPEST = 20
_FIRST, _PIECE = 1 << 8, 1 << 18  # rows
_HEADS = {"Parquet": "metadata", "Arrow": "headers"}  # what says of a kind of file how much it holds
_REMEDY = "If you trust it, write it as several files, or as JSONL."
# Fields of Parquet's metadata by their numbers in its Thrift definition.
_ROW_GROUPS, _COLUMNS, _ABOUT = 4, 1, 3
_PACKED, _DATA, _DICTIONARY = 7, 9, 11
_PAGE_UNPACKED, _PAGE_PACKED, _PAGE_HEADS, _VALUES = 2, 3, (5, 7, 8), 1


def read_parquet(source: Path | bytes, place: str) -> pl.DataFrame:
    """The rows of a Parquet file, or of its bytes; FileRefusedError where it unpacks to too much or is damaged."""
    return next(_pieces(source, place, None, lambda begin: None))


def parquet_pieces(source: Path | bytes, place: str, columns: Sequence[str] | None = None) -> Iterator[pl.DataFrame]:
    """The same in pieces, of which the first is small, and of some columns alone."""
    return _pieces(source, place, columns, lambda begin: _PIECE if begin else _FIRST)


def check_parquet(path: Path, place: str) -> dict[str, pl.DataType]:
    """The columns of a file with their types, once it is known that it unpacks to no more than it may."""
    import polars as pl

    with refusing(place):
        if path.is_file() and not path.stat().st_size:
            raise damaged("it is empty", place)
        checked_size(path, _unpacked_size, place)
    with read_soundly(place):
        return dict(pl.scan_parquet(path).collect_schema())


def parquet_columns(path: Path, place: str, columns: Sequence[str], begin: int, count: int | None) -> pl.DataFrame:
    """Some columns of some rows of a file that was checked."""
    import polars as pl

    with read_soundly(place):
        frame = pl.scan_parquet(path).slice(begin, count).select(columns).collect()
    most = max(REPEATED_FREE, unpacked_most(path.stat().st_size))
    if held_bytes(frame) > most:
        raise too_large(most, path.stat().st_size, place)
    return frame


@contextmanager
def read_soundly(place: str, kind: str = "Parquet") -> Iterator[None]:
    """What polars says against a file becomes a FileRefusedError."""
    import polars as pl

    try:
        yield
    except MemoryError:
        raise
    except (pl.exceptions.PanicException, Exception) as error:
        what = (str(error).strip().splitlines() or [type(error).__name__])[0][:120].rstrip(".")
        raise damaged(what, place, kind) from None


def _pieces(
    source: Path | bytes, place: str, columns: Sequence[str] | None, size_at: Callable[[int], int | None]
) -> Iterator[pl.DataFrame]:
    """Pieces of the size that is said for the row where each begins; None for all rows."""
    import polars as pl

    packed = checked_size(source, _unpacked_size, place)
    most = max(REPEATED_FREE, unpacked_most(packed))
    begin = unpacked = 0
    while True:
        with read_soundly(place):
            scan = pl.scan_parquet(io.BytesIO(source) if isinstance(source, bytes) else source)
            size = size_at(begin)
            rows = scan.slice(begin, size) if size is not None else scan
            frame = (rows if columns is None else rows.select(columns)).collect()
            held = held_bytes(frame)
        unpacked += held
        if unpacked > most:
            raise too_large(most, packed, place)
        if begin and not frame.height:
            return
        yield frame
        begin += frame.height
        if size is None or frame.height < size:
            return


def checked_size(
    source: Path | bytes | mmap, unpacked_size: Callable[[bytes | mmap, int], int], place: str, kind: str = "Parquet"
) -> int:
    """The size of a file, or of its bytes, once `unpacked_size` says that they unpack to no more than they may."""
    if isinstance(source, Path):
        with open_regular(source) as file, mmap(file.fileno(), 0, access=ACCESS_READ) as data:
            return checked_size(data, unpacked_size, place, kind)
    most = unpacked_most(len(source))
    try:
        size = unpacked_size(source, most)
    except (IndexError, KeyError, TypeError, ValueError, RecursionError):
        raise damaged(f"its {_HEADS[kind]} cannot be read", place, kind) from None
    if size > most:
        raise too_large(most, len(source), place)
    return len(source)


def held_bytes(frame: pl.DataFrame) -> int:
    """What the values of a frame take, those counted again that it holds once and names in many rows."""
    import polars as pl

    named = frame.select(pl.col(pl.Categorical).cat.len_bytes().cast(pl.UInt64).sum())
    size: int = frame.estimated_size() + sum(named.row(0) if named.width else ())
    return size


def damaged(what: str, place: str, kind: str = "Parquet") -> FileRefusedError:
    """The refusal of a file in columns that cannot be read."""
    return FileRefusedError(
        "broken", f"is a damaged {kind} file ({what})", place=place, remedy="Make or download it again."
    )


def too_large(most: int, size: int, place: str) -> FileRefusedError:
    """The refusal of a file in columns that unpacks to more than it may."""
    return FileRefusedError(
        "large", f"unpacks to more than {most >> 20:,} MB, and has {size:,} bytes itself", place=place, remedy=_REMEDY
    )


def _unpacked_size(data: bytes | mmap, most: int) -> int:
    """What the pages of a file take once they are unpacked, in bytes; counting ends beyond `most`."""
    length = int.from_bytes(data[-8:-4], "little")
    if data[:4] != SIGN or data[-4:] != SIGN or length > len(data) - 12:
        raise ValueError("no footer")
    footer = _Thrift(data, len(data) - 8 - length).struct()
    size = 0
    for group in footer.get(_ROW_GROUPS, ()):
        for column in group[_COLUMNS]:
            about = column[_ABOUT]
            place = min(about[_DATA], about.get(_DICTIONARY) or about[_DATA])
            end = place + about[_PACKED]
            while place < end and size <= most:
                header = _Thrift(data, place)
                page = header.struct()
                values = sum(page[name][_VALUES] for name in _PAGE_HEADS if name in page)
                if min(page[_PAGE_UNPACKED], page[_PAGE_PACKED], values) < 0:
                    raise ValueError("a page of less than nothing")
                size += page[_PAGE_UNPACKED] + VALUE * values
                place = header.place + page[_PAGE_PACKED]
    return size


class _Thrift:
    """Reads structs of Thrift's compact protocol: values by the numbers of their fields."""

    def __init__(self, data: bytes | mmap, place: int) -> None:
        self.data, self.place, self.depth = data, place, 0

    def struct(self) -> dict[int, Any]:
        """The struct that begins here."""
        self.depth += 1
        if self.depth > _DEEPEST:
            raise ValueError("nested too deeply")
        values: dict[int, Any] = {}
        number = 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self._signed()
            values[number] = self._value(head & 15, in_list=False)
        self.depth -= 1
        return values

    def _value(self, kind: int, *, in_list: bool) -> Any:
        if kind in (1, 2):
            return self._byte() == 1 if in_list else kind == 1
        if kind == 3:
            return self._byte()
        if kind in (4, 5, 6):
            return self._signed()
        if kind == 7:
            return self._skip(8)
        if kind == 8:
            return self._skip(self._unsigned())
        if kind in (9, 10):
            head = self._byte()
            count = head >> 4 if head >> 4 < 15 else self._unsigned()
            return [self._value(head & 15, in_list=True) for _ in range(count)]
        if kind == 12:
            return self.struct()
        raise ValueError(f"unknown kind of value {kind}")

    def _byte(self) -> int:
        byte = self.data[self.place]
        self.place += 1
        return byte

    def _unsigned(self) -> int:
        value = shift = 0
        while (byte := self._byte()) & 128:
            value |= (byte & 127) << shift
            shift += 7
            if shift > 63:
                raise ValueError("a number of too many digits")
        return value | byte << shift

    def _signed(self) -> int:
        value = self._unsigned()
        return value >> 1 ^ -(value & 1)

    def _skip(self, length: int) -> None:
        self.place += length
        if self.place > len(self.data):
            raise IndexError("ends early")
