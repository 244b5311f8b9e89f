"""contradictions: questions that ask the same and have other gold."""

from __future__ import annotations

from collections.abc import Iterator

from karat.core.text.words import excerpt, plural
from karat.results.checkup import Finding
from karat.testset.audit._view import View
from karat.testset.audit._words import SHOWN
from karat.testset.audit.check import Check


def _units(view: View, q: int) -> frozenset[object]:
    """What a question has as gold: rows where they are known, else what the gold is called."""
    if view.has_corpus:
        return frozenset(view.gold_sets[q])
    return frozenset(gold.label for gold in view.questions[q].gold if gold.grade >= 1)


def _find(view: View) -> Iterator[Finding]:
    found = []
    for one, other, likeness in view.pairs:
        ours, theirs = _units(view, one), _units(view, other)
        if likeness == 1 and ours.isdisjoint(theirs) and (ours or theirs):
            found.append((view.questions[one], view.questions[other]))
    if found:
        ids = list(dict.fromkeys(q.id for pair in found for q in pair))
        yield Finding(
            "contradictions",
            "broken",
            f"{plural(len(found), 'pair')} of questions {'asks' if len(found) == 1 else 'ask'} the same and "
            f"{'has' if len(found) == 1 else 'have'} other gold",
            "Whatever a system returns, it is scored wrong on one of the two.",
            {"pairs": len(found), "questions": len(ids)},
            tuple(ids),
            tuple(f'{one.id} and {other.id}: "{excerpt(one.text, 90)}"' for one, other in found[:SHOWN]),
            "Keep one of each, with the gold of both, or say in the question what sets them apart.",
        )


check = Check("contradictions", "questions that ask the same and have other gold", _find, 11)
