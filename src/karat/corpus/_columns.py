"""Columns: one field of all rows of a table as arrays on disk, mapped when they are read.

`TextColumn` holds the texts of rows one behind the other, and where each begins. `ValueColumn` holds each distinct
value once, a text as it is and lists as JSON, and for each row which it is; one without any value is not written.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from karat.core.errors import InputError
from karat.core.lazy import LazySequence
from karat.io.arrays import REMEDY, mapped_array
from karat.io.writing import replaced

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]


def save_array(path: Path, values: NDArray[Any]) -> None:
    """An array as a file that `mapped_array` maps."""
    with replaced(path) as part, part.open("wb") as out:
        np.save(out, values)


def load_offsets(path: Path, *, strictly: bool = False) -> Ints:
    """Where the items of another file begin, and the end; `strictly`: none of them is empty."""
    offsets = mapped_array(path, np.int64, 1)
    if not len(offsets) or offsets[0] != 0 or (np.diff(offsets) < strictly).any():
        raise InputError("holds offsets that do not ascend from 0", place=str(path), remedy=REMEDY)
    return offsets


class TextColumn(LazySequence[str]):
    """The texts that `save` wrote."""

    def __init__(self, folder: Path, name: str) -> None:
        self.path = folder / f"{name}.npy"
        self._offsets = load_offsets(folder / f"{name}.offsets.npy")
        blob = mapped_array(self.path, np.uint8, 1)
        if len(blob) != self._offsets[-1]:
            problem = f"has {len(blob):,} bytes where its offsets say {int(self._offsets[-1]):,}"
            raise InputError(problem, place=str(self.path), remedy=REMEDY)
        self._bytes = blob.data

    @staticmethod
    def save(texts: Iterable[str], folder: Path, name: str) -> None:
        """Write `name.npy` and `name.offsets.npy`."""
        encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
        save_array(folder / f"{name}.npy", np.frombuffer(b"".join(encoded), np.uint8))
        save_array(folder / f"{name}.offsets.npy", np.cumsum([0, *map(len, encoded)], dtype=np.int64))

    @staticmethod
    def exists(folder: Path, name: str) -> bool:
        """Whether it was written."""
        return (folder / f"{name}.offsets.npy").exists()

    @staticmethod
    def remove(folder: Path, name: str) -> None:
        """Remove what an earlier table left."""
        for ending in ("npy", "offsets.npy"):
            (folder / f"{name}.{ending}").unlink(missing_ok=True)

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def _at(self, number: int) -> str:
        return self._text(self.key(number))

    def __iter__(self) -> Iterator[str]:
        offsets, whole = self._offsets.tolist(), bytes(self._bytes)
        if whole.isascii():
            text = whole.decode()
            return (text[start:end] for start, end in pairwise(offsets))
        return (self._text(whole[start:end]) for start, end in pairwise(offsets))

    def key(self, row: int) -> bytes:
        """The bytes of a row's text, by whose order rows ascend."""
        return bytes(self._bytes[self._offsets[row] : self._offsets[row + 1]])

    def _text(self, text: bytes) -> str:
        try:
            return text.decode("utf-8", "surrogatepass")
        except UnicodeDecodeError:
            raise InputError("is damaged: it holds no text", place=str(self.path), remedy=REMEDY) from None


class ValueColumn:
    """The texts or tuples that `save` wrote, by row."""

    def __init__(self, folder: Path, name: str, rows: int, *, tuples: bool) -> None:
        path = folder / f"{name}.codes.npy"
        self.codes: NDArray[np.int32] = mapped_array(path, np.int32, 1)
        self._texts, self._tuples = TextColumn(folder, name), tuples
        if len(self.codes) != rows or (rows and not -1 <= self.codes.min() <= self.codes.max() < len(self._texts)):
            raise InputError("is damaged: it does not fit its table", place=str(path), remedy=REMEDY)

    @staticmethod
    def save(values: Iterable[Any], folder: Path, name: str, *, tuples: bool) -> None:
        """Write `name.codes.npy` beside the distinct values; None and () are no value."""
        code_of: dict[Any, int] = {}
        codes = [-1 if value is None or value == () else code_of.setdefault(value, len(code_of)) for value in values]
        if code_of:
            TextColumn.save(map(json.dumps, code_of) if tuples else code_of, folder, name)
            save_array(folder / f"{name}.codes.npy", np.array(codes, np.int32))
        else:
            TextColumn.remove(folder, name)
            (folder / f"{name}.codes.npy").unlink(missing_ok=True)

    @cached_property
    def values(self) -> list[Any]:
        """The distinct values."""
        return [tuple(json.loads(text)) for text in self._texts] if self._tuples else list(self._texts)
