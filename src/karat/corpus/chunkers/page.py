"""page: one chunk for each page that has text.

A document without pages is cut by `tokens:200:40` instead, and that is noted: as one chunk it would be of little use.
"""

from __future__ import annotations

from collections.abc import Sequence

from karat.core.docs import Doc
from karat.corpus._chunk import Chunker, Piece
from karat.corpus.chunkers.tokens import windows

_SIZE, _OVERLAP = 200, 40


def _pieces(doc: Doc, size: int, overlap: int) -> Sequence[Piece]:
    """From the start of each page to that of the next, so that nothing between pages is lost."""
    if not doc.pages:
        return [Piece(start, end) for start, end in windows(doc.text, _SIZE, _OVERLAP)]
    starts = sorted(page.start for page in doc.pages)
    return [Piece(start, end) for start, end in zip([0, *starts[1:]], [*starts[1:], len(doc.text)], strict=True)]


def _instead_of(doc: Doc) -> str | None:
    return None if doc.pages else f"has no pages, so it was cut by tokens:{_SIZE}:{_OVERLAP}."


CHUNKER = Chunker("page", "one chunk for each page that has text", _pieces, instead_of=_instead_of)
