"""Arrow: a file in Arrow's stream format, as Hugging Face datasets are kept in, once its headers say that it is safe.

A batch may claim any number of rows of nothing, and a packed buffer any size: both are counted before polars reads.
"""

from __future__ import annotations

import io
from mmap import mmap
from pathlib import Path
from typing import TYPE_CHECKING

from karat.io.limits import REPEATED_FREE, unpacked_most
from karat.io.parquet import VALUE, checked_size, held_bytes, read_soundly, too_large

if TYPE_CHECKING:
    import polars as pl

SIGN = b"\xff\xff\xff\xff"
# Kinds of messages, and the fields of Arrow's metadata by their numbers in its Flatbuffers definition.
_DICTIONARY, _BATCH = 2, 3
_KIND, _HEADER, _BODY = 1, 2, 3
_ROWS, _NODES, _BUFFERS, _COMPRESSION = 0, 1, 2, 3
_DATA = 1
_PAIR = 16  # bytes of a node (length, nulls) and of a buffer (place, length)


def read_arrow(source: Path | bytes, place: str) -> pl.DataFrame:
    """The rows of a file, or of its bytes; FileRefusedError where it unpacks to too much or is damaged."""
    import polars as pl

    packed = checked_size(source, _unpacked_size, place, "Arrow")
    with read_soundly(place, "Arrow"):
        frame = pl.read_ipc_stream(io.BytesIO(source) if isinstance(source, bytes) else source)
    if held_bytes(frame) > (most := max(REPEATED_FREE, unpacked_most(packed))):
        raise too_large(most, packed, place)
    return frame


def _unpacked_size(data: bytes | mmap, most: int) -> int:
    """What the batches of a stream take once they are unpacked, in bytes; counting ends beyond `most`."""
    at = size = 0
    while size <= most:
        if data[at : at + 4] != SIGN:
            raise ValueError("no message")
        length = _number(data, at + 4, 4)
        if not length:  # a file that was cut between two messages lacks this end
            break
        message = _Struct(data, at + 8 + _number(data, at + 8, 4))
        body, end = at + 8 + length, at + 8 + length + message.number(_BODY, 8)
        if length < 0 or end < body or end > len(data):
            raise ValueError("a message that ends beyond the file")
        kind = message.number(_KIND, 1)
        if kind in (_DICTIONARY, _BATCH):
            header = message.struct(_HEADER)
            size += _batch_size(data, header.struct(_DATA) if kind == _DICTIONARY else header, body, end)
        at = end
    return size


def _batch_size(data: bytes | mmap, batch: _Struct, body: int, end: int) -> int:
    size = VALUE * _counted(batch.number(_ROWS, 8))
    for node in batch.pairs(_NODES):
        size += VALUE * _counted(_number(data, node, 8))
    if batch.place(_COMPRESSION) is not None:
        for buffer in batch.pairs(_BUFFERS):
            place, length = _number(data, buffer, 8), _number(data, buffer + 8, 8)
            if min(place, length) < 0 or body + place + length > end:
                raise ValueError("a buffer that ends beyond its message")
            if length >= 8:
                size += max(0, _number(data, body + place, 8))  # -1: not packed
    return size


def _counted(number: int) -> int:
    if number < 0:
        raise ValueError("less than nothing")
    return number


def _number(data: bytes | mmap, at: int, size: int) -> int:
    if at < 0 or at + size > len(data):
        raise IndexError("ends early")
    return int.from_bytes(data[at : at + size], "little", signed=True)


class _Struct:
    """A table of Flatbuffers: its fields by their numbers."""

    def __init__(self, data: bytes | mmap, at: int) -> None:
        self.data, self.at = data, at
        self.fields = at - _number(data, at, 4)

    def place(self, field: int) -> int | None:
        """Where a field stands; None where it has its default."""
        entry = 4 + 2 * field
        if entry + 2 > _number(self.data, self.fields, 2):
            return None
        offset = _number(self.data, self.fields + entry, 2)
        return self.at + offset if offset else None

    def number(self, field: int, size: int) -> int:
        """A number; 0 by default."""
        place = self.place(field)
        return 0 if place is None else _number(self.data, place, size)

    def struct(self, field: int) -> _Struct:
        """A table within it."""
        place = self.place(field)
        if place is None:
            raise ValueError("a header is missing")
        return _Struct(self.data, place + _number(self.data, place, 4))

    def pairs(self, field: int) -> range:
        """Where each pair of a list of pairs stands."""
        place = self.place(field)
        if place is None:
            return range(0)
        start = place + _number(self.data, place, 4)
        count = _number(self.data, start, 4)
        if count < 0 or start + 4 + _PAIR * count > len(self.data):
            raise ValueError("a list that ends beyond the file")
        return range(start + 4, start + 4 + _PAIR * count, _PAIR)
