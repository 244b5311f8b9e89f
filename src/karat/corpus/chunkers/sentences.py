"""sentences: groups of so many sentences; the next group repeats the last ones.

A sentence of more than 200 words, such as a table without a full stop, counts as several.
"""

from __future__ import annotations

from collections.abc import Sequence

from karat.core.docs import Doc
from karat.core.text.sentences import sentence_spans
from karat.corpus._chunk import Chunker, Piece
from karat.corpus.chunkers.tokens import windows

_MOST_WORDS = 200


def _pieces(doc: Doc, size: int, overlap: int) -> Sequence[Piece]:
    spans: list[tuple[int, int]] = []
    for start, end in sentence_spans(doc.text):
        if end - start < 2 * _MOST_WORDS:
            spans.append((start, end))
        else:
            spans += windows(doc.text, _MOST_WORDS, 0, start, end)
    firsts = range(0, max(1, len(spans) - overlap), size - overlap)
    groups = [spans[first : first + size] for first in firsts] if spans else []
    return [Piece(group[0][0], group[-1][1]) for group in groups]


CHUNKER = Chunker("sentences", "groups of so many sentences that overlap", _pieces, unit="sentences", size=5)
