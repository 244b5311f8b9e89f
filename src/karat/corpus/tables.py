"""Chunks and documents on disk: `chunks.jsonl` and `docs.jsonl`, each beside a table of where its lines begin.

A line is one JSON object, for people and for any tool that reads JSONL; a field without a value is left out. It is
parsed when it is asked for.
"""

from __future__ import annotations

import json
import mmap
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

import numpy as np

from karat.core.docs import Chunk, Chunks, Doc
from karat.core.errors import InputError
from karat.corpus._json_rows import chunk_fields, chunk_of, doc_fields, doc_of
from karat.io.arrays import mapped_array
from karat.io.writing import replaced

if TYPE_CHECKING:
    from numpy.typing import NDArray

T = TypeVar("T", bound=Chunk | Doc)

_REMEDY = "It was changed or cut short after karat wrote it: build the index again."
_ID_FIRST = re.compile(rb'\{"id": "((?:[^"\\]|\\.)*+)"')
_NOT_AS_IT_IS = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff]")
Folder = str | os.PathLike[str]


def save_chunks(chunks: Iterable[Chunk], folder: Folder) -> None:
    """Write `chunks.jsonl` and `chunks.offsets.npy`, in the order given."""
    _write_rows(map(chunk_fields, chunks), Path(folder), "chunks")


def load_chunks(folder: Folder) -> Chunks:
    """The chunks of a folder; each is read from disk when it is asked for."""
    return _StoredChunks(StoredRows(Path(folder), "chunks", chunk_of))


def save_docs(docs: Iterable[Doc], folder: Folder) -> None:
    """Write `docs.jsonl` and `docs.offsets.npy`, in the order given."""
    _write_rows(map(doc_fields, docs), Path(folder), "docs")


def load_docs(folder: Folder) -> Docs:
    """The documents of a folder; each is read from disk when it is asked for."""
    return Docs(Path(folder), "docs", doc_of)


class _StoredChunks(Chunks):
    """Chunks read from disk row by row."""

    def __init__(self, rows: StoredRows[Chunk]) -> None:
        super().__init__(rows)
        self._rows = rows

    @cached_property
    def ids(self) -> list[str]:
        return self._rows.ids


def _write_rows(rows: Iterable[Mapping[str, Any]], folder: Path, name: str) -> None:
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


class StoredRows(Sequence[T], Generic[T]):
    """The rows of a table that `_write_rows` wrote, through the eyes of `parse`.

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

    @cached_property
    def ids(self) -> list[str]:
        """The id of each row, read from the front of its line."""
        ids = []
        for row, start in enumerate(self._offsets[:-1].tolist()):
            match = _ID_FIRST.match(self._bytes, start)
            inside = match[1] if match and match.end() <= self._offsets[row + 1] else b"\\"
            try:
                ids.append(self._row(row).id if b"\\" in inside else inside.decode())
            except UnicodeDecodeError as problem:
                raise self._broken(row, problem) from None
        return ids

    def _row(self, row: int) -> T:
        try:
            return self._parse(self._object(row))
        except (KeyError, TypeError, ValueError) as problem:
            raise self._broken(row, problem) from None

    def _object(self, row: int) -> dict[str, Any]:
        start, end = self._offsets[row : row + 2].tolist()
        try:
            value = json.loads(self._bytes[start:end])
        except (ValueError, RecursionError) as problem:
            raise self._broken(row, problem) from None
        if not isinstance(value, dict):
            raise self._broken(row, TypeError("it is no JSON object"))
        return value

    def _broken(self, row: int, problem: Exception) -> InputError:
        if isinstance(problem, KeyError):
            reason = f"it has no {problem.args[0]!r}"
        else:
            reason = str(problem) or type(problem).__name__
        return InputError(f"cannot be read: {reason}", place=str(self.path), row=row + 1, remedy=_REMEDY)


class Docs(StoredRows[Doc]):
    """Documents read from disk, by row or by id."""

    @cached_property
    def row_of(self) -> Mapping[str, int]:
        """The row of each id."""
        return {id_: row for row, id_ in enumerate(self.ids)}

    def by_id(self, id_: str) -> Doc:
        """The document of this id; KeyError when there is none."""
        return self[self.row_of[id_]]


def _load_offsets(path: Path) -> NDArray[np.int64]:
    offsets = mapped_array(path, np.int64, 1)
    if not len(offsets) or offsets[0] != 0 or (np.diff(offsets) <= 0).any():
        raise InputError("holds offsets that do not ascend from 0", place=str(path), remedy=_REMEDY)
    return offsets


def _map(path: Path) -> mmap.mmap | bytes:
    try:
        with path.open("rb") as file:
            if not file.seek(0, 2):
                return b""
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except FileNotFoundError:
        raise InputError("is missing", place=str(path), remedy=_REMEDY) from None
    except OSError as problem:
        raise InputError(f"cannot be read: {problem.strerror or problem}", place=str(path)) from None
