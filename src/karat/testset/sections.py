"""Sections: the part of its document that each chunk stands in."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from karat.core.docs import Chunk, Chunks, Doc


def begins(chunk: Chunk) -> int:
    """Where a chunk begins in its document; 0 where nobody knows."""
    return chunk.span[0] if chunk.span is not None else 0


def sections_of(chunks: Chunks, docs: Iterable[Doc] | None) -> list[str | None]:
    """For each row the title of the section that its beginning stands in; None where documents say nothing of it.

    Sections are those of the highest level of which a document has several.
    """
    starts: dict[str, tuple[list[int], list[str]]] = {}
    for doc in docs or ():
        count = Counter(section.level for section in doc.sections)
        level = min((level for level, number in count.items() if number > 1), default=None)
        chosen = sorted((s.start, s.level, s.title) for s in doc.sections if level is not None and s.level <= level)
        if chosen:
            starts[doc.id] = [start for start, _, _ in chosen], [title for _, _, title in chosen]
    found: list[str | None] = []
    for chunk in chunks:
        edges, titles = starts.get(chunk.doc, ([], []))
        place = -1 if chunk.span is None else bisect_right(edges, chunk.span[0]) - 1
        found.append(titles[place] if place >= 0 else None)
    return found
