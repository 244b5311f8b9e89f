"""Chunks and documents on disk: `chunks.jsonl` and `docs.jsonl`, each beside a table of where its lines begin.

A line is one JSON object, for people and for any tool that reads JSONL; a field without a value is left out.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import overload

from karat.core.docs import Chunk, Chunks, Doc
from karat.corpus._objects import chunk_fields, chunk_of, doc_fields, doc_of
from karat.corpus._rows import Rows, write_rows

Folder = str | os.PathLike[str]


def save_chunks(chunks: Iterable[Chunk], folder: Folder) -> None:
    """Write `chunks.jsonl` and `chunks.offsets.npy`, in the order given."""
    write_rows(map(chunk_fields, chunks), Path(folder), "chunks")


def load_chunks(folder: Folder) -> Chunks:
    """The chunks of a folder; each is read from disk when it is asked for."""
    return _StoredChunks(Rows(Path(folder), "chunks", chunk_of))


def save_docs(docs: Iterable[Doc], folder: Folder) -> None:
    """Write `docs.jsonl` and `docs.offsets.npy`, in the order given."""
    write_rows(map(doc_fields, docs), Path(folder), "docs")


def load_docs(folder: Folder) -> Docs:
    """The documents of a folder; each is read from disk when it is asked for."""
    return Docs(Rows(Path(folder), "docs", doc_of))


class _StoredChunks(Chunks):
    """Chunks read from disk row by row."""

    def __init__(self, rows: Rows[Chunk]) -> None:
        super().__init__(rows)
        self._rows = rows

    @cached_property
    def ids(self) -> list[str]:
        return self._rows.ids()


class Docs(Sequence[Doc]):
    """Documents read from disk, by row or by id."""

    def __init__(self, rows: Rows[Doc]) -> None:
        self._rows = rows

    @overload
    def __getitem__(self, row: int) -> Doc: ...
    @overload
    def __getitem__(self, row: slice) -> Sequence[Doc]: ...
    def __getitem__(self, row: int | slice) -> Doc | Sequence[Doc]:
        return self._rows[row]

    def __len__(self) -> int:
        return len(self._rows)

    @cached_property
    def ids(self) -> list[str]:
        """The id of each row."""
        return self._rows.ids()

    @cached_property
    def row_of(self) -> Mapping[str, int]:
        """The row of each id."""
        return {id_: row for row, id_ in enumerate(self.ids)}

    def by_id(self, id_: str) -> Doc:
        """The document of this id; KeyError when there is none."""
        return self[self.row_of[id_]]
