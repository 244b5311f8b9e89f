"""Rows of a table on disk: one JSON object a line, where each line begins, and the ids as a column."""

from __future__ import annotations

import json
import mmap
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from operator import lt
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from karat.core.docs import Chunk, Doc
from karat.core.errors import InputError
from karat.core.lazy import LazySequence
from karat.corpus._columns import TextColumn, ValueColumn, load_offsets, save_array
from karat.corpus._json_rows import json_line
from karat.io.writing import replaced

T = TypeVar("T", bound=Chunk | Doc)

_REMEDY = "It was changed or cut short after karat wrote it: build the index again."
_ID_FIRST = re.compile(rb'\{"id": "((?:[^"\\]|\\.)*+)"')


def write_rows(rows: Iterable[Mapping[str, Any]], folder: Path, name: str, *, ascending: bool = False) -> None:
    """`name.jsonl`, one object a line in UTF-8, and `name.offsets.npy`: where each line begins, and the end.

    Beside them the ids as a column; where they have to be `ascending` and are not, there is none.
    """
    sizes, ids = [0], []
    with replaced(folder / f"{name}.jsonl") as part, part.open("wb") as out:
        for row in rows:
            ids.append(row["id"])
            sizes.append(out.write(json_line(row)))
    save_array(folder / f"{name}.offsets.npy", np.cumsum(np.array(sizes, np.int64)))
    keys = [id_.encode("utf-8", "surrogatepass") for id_ in ids] if ascending else []
    if all(map(lt, keys, keys[1:])):
        TextColumn.save(ids, folder, f"{name}.ids")
    else:
        TextColumn.remove(folder, f"{name}.ids")


class StoredRows(LazySequence[T]):
    """The rows of a table that `write_rows` wrote, through the eyes of `parse`.

    Nothing is read but the offsets, and these by mmap. `parse` raises KeyError, TypeError or ValueError for an
    object that is no such row.
    """

    def __init__(self, folder: Path, name: str, parse: Callable[[Mapping[str, Any]], T]) -> None:
        self.folder, self.name, self.path = folder, name, folder / f"{name}.jsonl"
        self._parse = parse
        self._offsets = load_offsets(folder / f"{name}.offsets.npy", strictly=True)
        self.has_ids = TextColumn.exists(folder, f"{name}.ids")
        self._bytes = _map(self.path)
        if len(self._bytes) != self._offsets[-1]:
            raise InputError(
                f"has {len(self._bytes):,} bytes where its offsets say {int(self._offsets[-1]):,}",
                place=str(self.path),
                remedy=_REMEDY,
            )

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def without(self, field: str) -> Iterator[T]:
        """The rows whose objects do not have a field."""
        return (self._at(row) for row in range(len(self)) if field not in self._object(row))

    @cached_property
    def ids(self) -> Sequence[str]:
        """The id of each row: of its column, or read from the front of its line, which is all that 0.3 wrote."""
        if self.has_ids:
            return self._ids
        ids = []
        for row, start in enumerate(self._offsets[:-1].tolist()):
            match = _ID_FIRST.match(self._bytes, start)
            inside = match[1] if match and match.end() <= self._offsets[row + 1] else b"\\"
            try:
                ids.append(self._at(row).id if b"\\" in inside else inside.decode())
            except UnicodeDecodeError as problem:
                raise self._broken(row, problem) from None
        return ids

    @cached_property
    def _ids(self) -> TextColumn:
        ids = TextColumn(self.folder, f"{self.name}.ids")
        if len(ids) != len(self):
            raise InputError("is damaged: it does not fit its table", place=str(ids.path), remedy=_REMEDY)
        return ids

    def key(self, row: int) -> bytes:
        """The id of a row as bytes."""
        return self._ids.key(row)

    def column(self, field: str, *, tuples: bool) -> list[Any]:
        """The values of a field that is kept as a column."""
        nothing = () if tuples and field != "span" else None
        name = f"{self.name}.{field}"
        if not TextColumn.exists(self.folder, name):
            return [nothing] * len(self)
        column = ValueColumn(self.folder, name, len(self), tuples=tuples)
        values = [*column.values, nothing]  # which -1 leads to
        return [values[code] for code in column.codes.tolist()]

    def text(self, row: int) -> str:
        """The text of a row."""
        text = self._object(row).get("text")
        return text if isinstance(text, str) else self._at(row).text  # which says what is wrong

    def _at(self, number: int) -> T:
        try:
            return self._parse(self._object(number))
        except (KeyError, TypeError, ValueError) as problem:
            raise self._broken(number, problem) from None

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
