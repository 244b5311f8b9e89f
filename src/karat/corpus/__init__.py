"""Documents in, chunks out: one reader a file, one chunker a file."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from karat.corpus._chunk import CHUNKERS, Chunked, Chunker, Chunking, Piece, Way, chunk_docs
    from karat.corpus._file import File, Progress, ReadError
    from karat.corpus._read import CorpusReading, ReadFile, read
    from karat.corpus._reader import READERS, Reader
    from karat.corpus.tables import Docs, load_chunks, load_docs, save_chunks, save_docs

__all__ = [
    "CHUNKERS",
    "READERS",
    "Chunked",
    "Chunker",
    "Chunking",
    "CorpusReading",
    "Docs",
    "File",
    "Piece",
    "Progress",
    "ReadError",
    "ReadFile",
    "Reader",
    "Way",
    "chunk_docs",
    "load_chunks",
    "load_docs",
    "read",
    "save_chunks",
    "save_docs",
]

_HOME = {
    "CHUNKERS": "_chunk",
    "Chunked": "_chunk",
    "Chunking": "_chunk",
    "Docs": "tables",
    "File": "_file",
    "Piece": "_chunk",
    "Progress": "_file",
    "READERS": "_reader",
    "ReadError": "_file",
    "Reader": "_reader",
    "CorpusReading": "_read",
    "ReadFile": "_read",
    "Way": "_chunk",
    "Chunker": "_chunk",
    "chunk_docs": "_chunk",
    "load_chunks": "tables",
    "load_docs": "tables",
    "read": "_read",
    "save_chunks": "tables",
    "save_docs": "tables",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
