"""Rows of JSON lines beside a table of where each begins: one is parsed when it is asked for."""

from __future__ import annotations

import json
import mmap
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

import numpy as np

from karat.core.errors import InputError
from karat.io.writing import replaced

if TYPE_CHECKING:
    from numpy.typing import NDArray

T = TypeVar("T")

_REMEDY = "The file was changed or cut short after karat wrote it: build the index again."
_ID_FIRST = re.compile(rb'\{"id": "((?:[^"\\]|\\.)*+)"')
_NOT_AS_IT_IS = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def write_rows(rows: Iterable[Mapping[str, Any]], folder: Path, name: str) -> None:
    """`name.jsonl`, one object a line in UTF-8, and `name.offsets.npy`: where each line begins, and the end."""
    readable, escaped = json.JSONEncoder(ensure_ascii=False), json.JSONEncoder()
    sizes = [0]
    with replaced(folder / f"{name}.jsonl") as part, part.open("wb") as out:
        for row in rows:
            line = readable.encode(row)
            if _NOT_AS_IT_IS.search(line):
                line = escaped.encode(row)
            sizes.append(out.write(line.encode() + b"\n"))
    with replaced(folder / f"{name}.offsets.npy") as part, part.open("wb") as out:
        np.save(out, np.cumsum(np.array(sizes, np.int64)))


class Rows(Sequence[T], Generic[T]):
    """The rows of a table that `write_rows` wrote, through the eyes of `parse`.

    Nothing is read but the offsets, and these by mmap. `parse` raises KeyError, TypeError or ValueError for an
    object that is no such row.
    """

    def __init__(self, folder: Path, name: str, parse: Callable[[Mapping[str, Any]], T]) -> None:
        self.path = folder / f"{name}.jsonl"
        self._parse = parse
        self._offsets = _load_offsets(folder / f"{name}.offsets.npy")
        self._bytes = _map(self.path)
        if len(self._bytes) != self._offsets[-1]:
            raise InputError(
                f"has {len(self._bytes):,} bytes where its offsets say {int(self._offsets[-1]):,}",
                place=str(self.path),
                remedy=_REMEDY,
            )

    def __len__(self) -> int:
        return len(self._offsets) - 1

    @overload
    def __getitem__(self, row: int) -> T: ...
    @overload
    def __getitem__(self, row: slice) -> list[T]: ...
    def __getitem__(self, row: int | slice) -> T | list[T]:
        if isinstance(row, slice):
            return [self._row(i) for i in range(*row.indices(len(self)))]
        place = row + len(self) if row < 0 else row
        if not 0 <= place < len(self):
            raise IndexError(f"row {row} of {len(self)}")
        return self._row(int(place))

    def __iter__(self) -> Iterator[T]:
        return map(self._row, range(len(self)))

    def ids(self) -> list[str]:
        """The id of each row, read from the front of its line."""
        found = []
        for row, start in enumerate(self._offsets[:-1].tolist()):
            match = _ID_FIRST.match(self._bytes, start)
            inside = match[1] if match and match.end() <= self._offsets[row + 1] else b"\\"
            try:
                found.append(self._id(row) if b"\\" in inside else inside.decode())
            except (KeyError, TypeError, ValueError) as problem:
                raise self._broken(row, problem) from None
        return found

    def _id(self, row: int) -> str:
        found = self._object(row)["id"]
        if not isinstance(found, str):
            raise TypeError(f"its 'id' holds {type(found).__name__} where str belongs")
        return found

    def _row(self, row: int) -> T:
        try:
            return self._parse(self._object(row))
        except (KeyError, TypeError, ValueError) as problem:
            raise self._broken(row, problem) from None

    def _object(self, row: int) -> dict[str, Any]:
        start, end = self._offsets[row : row + 2].tolist()
        try:
            found = json.loads(self._bytes[start:end])
        except (ValueError, RecursionError) as problem:
            raise self._broken(row, problem) from None
        if not isinstance(found, dict):
            raise self._broken(row, TypeError("it is no JSON object"))
        return found

    def _broken(self, row: int, problem: Exception) -> InputError:
        if isinstance(problem, KeyError):
            reason = f"it has no {problem.args[0]!r}"
        else:
            reason = str(problem) or type(problem).__name__
        return InputError(f"cannot be read: {reason}", place=str(self.path), row=row + 1, remedy=_REMEDY)


def _load_offsets(path: Path) -> NDArray[np.int64]:
    try:
        offsets = np.lib.format.open_memmap(path, mode="r")
    except FileNotFoundError:
        raise _missing(path) from None
    except (OSError, ValueError, EOFError) as problem:
        raise InputError(f"is no table of offsets ({problem})", place=str(path), remedy=_REMEDY) from None
    if offsets.ndim != 1 or offsets.dtype != np.int64 or not len(offsets):
        raise InputError("is no table of offsets", place=str(path), remedy=_REMEDY)
    if offsets[0] != 0 or (np.diff(offsets) <= 0).any():
        raise InputError("holds offsets that do not ascend from 0", place=str(path), remedy=_REMEDY)
    return offsets


def _map(path: Path) -> mmap.mmap | bytes:
    try:
        with path.open("rb") as file:
            if not file.seek(0, 2):
                return b""
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except FileNotFoundError:
        raise _missing(path) from None
    except OSError as problem:
        reason = problem.strerror or str(problem)
        raise InputError(f"cannot be read: {reason}", place=str(path)) from None


def _missing(path: Path) -> InputError:
    return InputError("is missing", place=str(path), remedy="Build the index again, or name the folder of one.")
