"""Documents in, chunks out: one reader a file, one way of cutting a file."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from karat.corpus._chunk import Cut, cut
    from karat.corpus._chunker import CUTTINGS, Cutting, Piece, Way
    from karat.corpus._file import File, Progress, ReadError
    from karat.corpus._read import Reading, TakenFile, read
    from karat.corpus._reader import READERS, Reader
    from karat.corpus.tables import Docs, load_chunks, load_docs, save_chunks, save_docs

__all__ = [
    "CUTTINGS",
    "READERS",
    "Cut",
    "Cutting",
    "Docs",
    "File",
    "Piece",
    "Progress",
    "ReadError",
    "Reader",
    "Reading",
    "TakenFile",
    "Way",
    "cut",
    "load_chunks",
    "load_docs",
    "read",
    "save_chunks",
    "save_docs",
]

_HOME = {
    "CUTTINGS": "_chunker",
    "Cut": "_chunk",
    "Cutting": "_chunker",
    "Docs": "tables",
    "File": "_file",
    "Piece": "_chunker",
    "Progress": "_file",
    "READERS": "_reader",
    "ReadError": "_file",
    "Reader": "_reader",
    "Reading": "_read",
    "TakenFile": "_read",
    "Way": "_chunker",
    "cut": "_chunk",
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
