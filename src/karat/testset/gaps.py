"""Gaps: where a test set asks little or nothing, so that more questions go there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from karat.core.types import TestSet
from karat.match import resolve

if TYPE_CHECKING:
    from karat.core.docs import Chunks, Doc
    from karat.core.types import Question

# how likely a chunk is drawn beside one of a document that no question is about
_DOC_ASKED, _SECTION_ASKED, _CHUNK_ASKED = 1e-8, 1e-10, 1e-12


@dataclass(frozen=True)
class AskedRows:
    """What questions are about: the rows that each kind asks about, all of them, and gold not found."""

    by_kind: dict[str, frozenset[int]]
    rows: frozenset[int]
    missing: int = 0
    notes: tuple[str, ...] = ()


def asked_rows(questions: Sequence[Question], chunks: Chunks, docs: Sequence[Doc] | None = None) -> AskedRows:
    """Which chunks the gold of questions stands in."""
    if not any(one.gold for one in questions):
        return AskedRows({}, frozenset())
    resolved = resolve(TestSet(questions), chunks, docs)
    by_kind: dict[str, frozenset[int]] = {}
    for unit, rows in enumerate(resolved.holders):
        kind = questions[int(resolved.units.question[unit])].kind or ""
        by_kind[kind] = by_kind.get(kind, frozenset()).union(rows.tolist())
    missing = len(resolved.unresolved)
    entries = f"{missing:,} gold {'entry' if missing == 1 else 'entries'} of the existing questions"
    note = f"{entries} cannot be found in this index: what they are about counts as not asked yet."
    return AskedRows(by_kind, frozenset().union(*by_kind.values()), missing, (note,) if missing else ())


def gap_weights(chunks: Chunks, covered: frozenset[int], sections: Sequence[str | None]) -> dict[int, float]:
    """How likely each row is drawn: most where no question is about its document, then its section, then the chunk."""
    docs = {chunks[row].doc for row in covered}
    parts = {(chunks[row].doc, sections[row]) for row in covered if sections[row] is not None}
    weights = {}
    for row, chunk in enumerate(chunks):
        if row in covered:
            weights[row] = _CHUNK_ASKED
        elif (chunk.doc, sections[row]) in parts:
            weights[row] = _SECTION_ASKED
        elif chunk.doc in docs:
            weights[row] = _DOC_ASKED
        else:
            weights[row] = 1.0
    return weights
