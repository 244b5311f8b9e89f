"""Chunks and documents on disk: `chunks.jsonl` and `docs.jsonl`, each beside a table of where its lines begin.

A line is one JSON object, for people and for any tool that reads JSONL; a field without a value is left out. It is
parsed when it is asked for. Ids, and of chunks all but the texts, stand beside it in columns too, which are read
without a look at the lines.
"""

from __future__ import annotations

import os
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from itertools import chain
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from karat.core.docs import Chunk, Chunks, Doc
from karat.core.errors import InputError
from karat.core.lazy import LazySequence
from karat.corpus._chunk import chunk_ids
from karat.corpus._columns import ValueColumn
from karat.corpus._json_rows import chunk_fields, chunk_of, doc_fields, doc_of, doc_of_chunk
from karat.corpus._stored_rows import StoredRows, write_rows
from karat.io.arrays import REMEDY

if TYPE_CHECKING:
    from karat.core.judged import Ints

_TUPLES = ("pages", "labels", "span")
_COLUMNS = ("doc", "title", "url", *_TUPLES)  # fields of chunks that are kept as columns as well
Folder = str | os.PathLike[str]


def save_chunks(chunks: Iterable[Chunk], folder: Folder) -> None:
    """Write `chunks.jsonl` in the order given, `chunks.offsets.npy`, and where ids ascend the columns of `_COLUMNS`."""
    home = Path(folder)
    columns: dict[str, list[Any]] = {field: [] for field in _COLUMNS}
    fields = [
        (getter, columns[field].append) for field, getter in zip(_COLUMNS, map(attrgetter, _COLUMNS), strict=True)
    ]

    def rows() -> Iterator[Mapping[str, Any]]:
        for chunk in chunks:
            for value_of, add in fields:
                add(value_of(chunk))
            yield chunk_fields(chunk)

    write_rows(rows(), home, "chunks", ascending=True)
    for field, values in columns.items():
        ValueColumn.save(values, home, f"chunks.{field}", tuples=field in _TUPLES)


def load_chunks(folders: Folder | Sequence[Folder], orders: Sequence[Ints] | None = None) -> Chunks:
    """The chunks of a folder, or of the folders of several shards; each is read from disk when it is asked for.

    `orders` holds for each shard the row that each of its chunks has among all, ascending.
    """
    return _StoredChunks([StoredRows(home, "chunks", chunk_of) for home in _folders(folders)], orders)


def save_docs(docs: Iterable[Doc], folder: Folder, chunks: Chunks | None = None) -> None:
    """Write `docs.jsonl`, `docs.offsets.npy` and the column of ids, in the order given.

    Of a document that is one of the `chunks`, which are saved in the same folder, only the id of that is written.
    """
    known = {} if chunks is None else chunks.row_of
    rows = (doc_fields(doc) if chunks is None else _reference(doc, chunks, known) or doc_fields(doc) for doc in docs)
    write_rows(rows, Path(folder), "docs")


def load_docs(folders: Folder | Sequence[Folder], chunks: Chunks | None = None) -> Docs:
    """The documents of a folder, or of several one after another; each is read from disk when it is asked for.

    Those that are chunks are read from `chunks`, or from those of their folder.
    """
    return Docs([_doc_rows(home, chunks) for home in _folders(folders)])


def _doc_rows(folder: Path, chunks: Chunks | None) -> StoredRows[Doc]:
    @cache
    def known() -> Chunks:
        return load_chunks(folder) if chunks is None else chunks

    def parsed(row: Mapping[str, Any]) -> Doc:
        return doc_of_chunk(row["id"], known()[known().row_of[row["chunk"]]]) if "chunk" in row else doc_of(row)

    return StoredRows(folder, "docs", parsed)


def _reference(doc: Doc, chunks: Chunks, known: Mapping[str, int]) -> dict[str, str] | None:
    """A document by the chunk that is all of it; None where none is."""
    for id_ in (doc.id, *chunk_ids(doc.id, 1)):
        if id_ in known and doc_of_chunk(doc.id, chunks[known[id_]]) == doc:
            return {"id": doc.id, "chunk": id_}
    return None


def _folders(folders: Folder | Sequence[Folder]) -> list[Path]:
    return [Path(folder) for folder in ([folders] if isinstance(folders, str | os.PathLike) else folders)]


class _StoredChunks(Chunks):
    """Chunks read from disk row by row, of one shard or of several."""

    def __init__(self, shards: Sequence[StoredRows[Chunk]], orders: Sequence[Ints] | None) -> None:
        if orders is None and len(shards) != 1:
            raise ValueError("several shards need the order of their rows")
        self._shards = shards
        self._orders = None if len(shards) == 1 else orders
        self._rows: StoredRows[Chunk] | _Spread = shards[0] if self._orders is None else _Spread(shards, self._orders)
        super().__init__(self._rows)

    @cached_property
    def ids(self) -> Sequence[str]:
        return self._joined([list(shard.ids) for shard in self._shards])

    @cached_property
    def texts(self) -> Sequence[str]:
        return StoredTexts(self._rows)

    def column(self, field: str) -> list[Any]:
        if field not in _COLUMNS or not all(shard.has_ids for shard in self._shards):
            return super().column(field)
        return self._joined([shard.column(field, tuples=field in _TUPLES) for shard in self._shards])

    def sizes_of(self, docs: Container[str]) -> Counter[str]:
        sizes = Counter[str]()
        for shard in self._shards:
            sizes.update(doc for doc in _StoredChunks([shard], None).column("doc") if doc in docs)
        return sizes

    def _joined(self, parts: Sequence[list[Any]]) -> list[Any]:
        """Values of the rows of each shard, in the order of all rows."""
        if self._orders is None:
            return parts[0]
        values = np.empty(len(self), object)
        for order, part in zip(self._orders, parts, strict=True):
            column = np.empty(len(part), object)
            column[:] = part
            values[order] = column
        return values.tolist()

    @cached_property
    def row_of(self) -> Mapping[str, int]:
        if not all(shard.has_ids for shard in self._shards):
            return {id_: row for row, id_ in enumerate(self.ids)}
        return _RowsById(self._rows)


class _Spread(LazySequence[Chunk]):
    """The rows of several shards in the order of all."""

    def __init__(self, shards: Sequence[StoredRows[Chunk]], orders: Sequence[Ints]) -> None:
        self._shards = shards
        size = sum(map(len, shards))
        self._shard, self._local = np.full(size, -1, np.int32), np.empty(size, np.int32)
        for number, (shard, order) in enumerate(zip(shards, orders, strict=True)):
            if len(order) != len(shard) or (len(order) and not 0 <= order.min() <= order.max() < size):
                raise _disordered(shard)
            self._shard[order], self._local[order] = number, np.arange(len(shard), dtype=np.int32)
        if size and (self._shard < 0).any():
            raise _disordered(shards[0])

    def __len__(self) -> int:
        return len(self._shard)

    def _at(self, number: int) -> Chunk:
        shard, local = self._place(number)
        return shard[local]

    def text(self, row: int) -> str:
        """The text of a row."""
        shard, local = self._place(row)
        return shard.text(local)

    def key(self, row: int) -> bytes:
        """The id of a row, in the form by which rows ascend."""
        shard, local = self._place(row)
        return shard.key(local)

    def _place(self, row: int) -> tuple[StoredRows[Chunk], int]:
        return self._shards[self._shard[row]], int(self._local[row])


def _disordered(shard: StoredRows[Chunk]) -> InputError:
    problem = "is damaged: the order of the rows of all shards does not give each of them one row"
    return InputError(problem, place=str(shard.path), remedy=REMEDY)


class StoredTexts(LazySequence[str]):
    """The texts of rows, each read from disk when it is asked for."""

    def __init__(self, rows: StoredRows[Any] | _Spread) -> None:
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    def _at(self, number: int) -> str:
        return self._rows.text(number)


class _RowsById(Mapping[str, int]):
    """The row of each id, found by halving: rows ascend by id."""

    def __init__(self, rows: StoredRows[Chunk] | _Spread) -> None:
        self._rows = rows
        self._known: dict[str, int] = {}  # what was looked for; -1: no such id

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[str]:
        return (self._rows.key(row).decode("utf-8", "surrogatepass") for row in range(len(self)))

    def __getitem__(self, id_: str) -> int:
        row = self._known.get(id_)
        if row is None:
            row = self._known[id_] = self._find(id_.encode("utf-8", "surrogatepass"))
        if row < 0:
            raise KeyError(id_)
        return row

    def _find(self, key: bytes) -> int:
        row = bisect_left(range(len(self)), key, key=self._rows.key)
        return row if row < len(self) and self._rows.key(row) == key else -1


class Docs(LazySequence[Doc]):
    """Documents read from disk, of one folder or of several."""

    def __init__(self, tables: Sequence[StoredRows[Doc]]) -> None:
        self._tables = tables
        self._starts = np.cumsum([0, *map(len, tables)]).tolist()

    def __len__(self) -> int:
        return int(self._starts[-1])

    def _at(self, number: int) -> Doc:
        table, place = self._place(number)
        return table[place]

    def __iter__(self) -> Iterator[Doc]:
        return chain.from_iterable(self._tables)

    def outlined(self) -> Iterator[Doc]:
        """The documents that may have pages or sections: all but those that are one chunk."""
        return chain.from_iterable(table.without("chunk") for table in self._tables)

    @property
    def ids(self) -> Iterator[str]:
        """The id of each document, read as they are asked for."""
        return chain.from_iterable(table.ids for table in self._tables)

    def _place(self, row: int) -> tuple[StoredRows[Doc], int]:
        place = range(len(self))[row]
        table = bisect_right(self._starts, place) - 1
        return self._tables[table], place - self._starts[table]

    def id_at(self, row: int) -> str:
        """The id of the document of a row."""
        table, place = self._place(row)
        return table.ids[place]
