"""whole: the document is one chunk, under its own id."""

from __future__ import annotations

from collections.abc import Sequence

from karat.core.docs import Doc
from karat.corpus._chunk import Chunker, Piece


def _pieces(doc: Doc, size: int, overlap: int) -> Sequence[Piece]:
    return [Piece(0, len(doc.text))]


CHUNKER = Chunker("whole", "the document is one chunk, under its own id", _pieces, keeps_id=True)
