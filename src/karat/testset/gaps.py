"""Gaps: where a test set asks little or nothing, so that more questions go there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from karat.core.types import TestSet

if TYPE_CHECKING:
    from karat.core.docs import Chunks, Doc
    from karat.core.types import Question

# how likely a chunk is drawn beside one of a document that no question is about
_DOC_ASKED, _SECTION_ASKED, _CHUNK_ASKED = 1e-8, 1e-10, 1e-12


@dataclass(frozen=True)
class Coverage:
    """What questions are about: rows that each kind asks about, rows of each question's gold, and gold not found."""

    by_kind: dict[str, frozenset[int]]
    rows: frozenset[int]
    missing: int = 0
    notes: tuple[str, ...] = ()


def coverage(questions: Sequence[Question], chunks: Chunks, docs: Sequence[Doc] | None = None) -> Coverage:
    """Which chunks the gold of questions stands in."""
    from karat.match import resolve

    asked: dict[str, set[int]] = {}
    if not any(one.gold for one in questions):
        return Coverage({}, frozenset())
    resolved = resolve(TestSet(questions), chunks, docs)
    for unit, rows in enumerate(resolved.holders):
        kind = questions[int(resolved.units.question[unit])].kind or ""
        asked.setdefault(kind, set()).update(rows.tolist())
    every = frozenset(row for rows in asked.values() for row in rows)
    missing = len(resolved.unresolved)
    notes: tuple[str, ...] = ()
    if missing:
        told = f"{missing:,} gold {'entry' if missing == 1 else 'entries'} of the existing questions"
        notes = (f"{told} cannot be found in this index: what they are about counts as not asked yet.",)
    return Coverage({kind: frozenset(rows) for kind, rows in asked.items()}, every, missing, notes)


def gap_weights(chunks: Chunks, covered: frozenset[int], sections: Sequence[str | None]) -> dict[int, float]:
    """How likely each row is drawn: most where no question is about its document, then its section, then the chunk."""
    docs = {chunks[row].doc for row in covered}
    parts = {(chunks[row].doc, sections[row]) for row in covered if sections[row] is not None}
    found = {}
    for row, chunk in enumerate(chunks):
        if row in covered:
            found[row] = _CHUNK_ASKED
        elif (chunk.doc, sections[row]) in parts:
            found[row] = _SECTION_ASKED
        elif chunk.doc in docs:
            found[row] = _DOC_ASKED
        else:
            found[row] = 1.0
    return found
