"""Documents in, chunks out: one reader a file, one way of cutting a file."""

from karat.corpus._file import File, Progress, ReadError
from karat.corpus._reader import READERS, Reader
from karat.corpus.cut import Cut, cut
from karat.corpus.cutting._cut import CUTTINGS, Cutting, Piece, Way
from karat.corpus.read import Reading, TakenFile, read
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
