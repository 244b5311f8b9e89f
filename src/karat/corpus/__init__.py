"""Documents in, chunks out: one reader a file, one way of cutting a file."""

from karat.corpus.cut import Cut, cut
from karat.corpus.cutting._cut import CUTTINGS, Cutting, Piece, Way
from karat.corpus.tables import Docs, load_chunks, load_docs, save_chunks, save_docs

__all__ = [
    "CUTTINGS",
    "Cut",
    "Cutting",
    "Docs",
    "Piece",
    "Way",
    "cut",
    "load_chunks",
    "load_docs",
    "save_chunks",
    "save_docs",
]
