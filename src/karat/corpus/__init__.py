"""Documents in, chunks out: one reader a file, one chunker a file."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from karat.core.progress import Progress
    from karat.corpus._chunk import CHUNKERS, Chunked, Chunker, Chunking, Piece, Way, chunk_docs
    from karat.corpus._facts import PieceFacts, pieces_again
    from karat.corpus._file import File, ReadError
    from karat.corpus._parts import FilePart, ReadFile
    from karat.corpus._plan import CorpusPiece, CorpusPlan, plan_corpus
    from karat.corpus._read import CorpusReading, PieceReading, read, read_piece
    from karat.corpus._reader import READERS, Reader
    from karat.corpus.tables import Docs, load_chunks, load_docs, save_chunks, save_docs

__all__ = [
    "CHUNKERS",
    "READERS",
    "Chunked",
    "Chunker",
    "Chunking",
    "CorpusPiece",
    "CorpusPlan",
    "CorpusReading",
    "Docs",
    "File",
    "FilePart",
    "Piece",
    "PieceFacts",
    "PieceReading",
    "Progress",
    "ReadError",
    "ReadFile",
    "Reader",
    "Way",
    "chunk_docs",
    "load_chunks",
    "load_docs",
    "pieces_again",
    "plan_corpus",
    "read",
    "read_piece",
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
    "CorpusPiece": "_plan",
    "CorpusPlan": "_plan",
    "CorpusReading": "_read",
    "FilePart": "_parts",
    "PieceFacts": "_facts",
    "PieceReading": "_read",
    "ReadFile": "_parts",
    "Way": "_chunk",
    "Chunker": "_chunk",
    "chunk_docs": "_chunk",
    "load_chunks": "tables",
    "load_docs": "tables",
    "pieces_again": "_facts",
    "plan_corpus": "_plan",
    "read": "_read",
    "read_piece": "_read",
    "save_chunks": "tables",
    "save_docs": "tables",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
