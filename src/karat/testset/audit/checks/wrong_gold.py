"""wrong_gold: questions whose words and answer stand in another chunk far better than in their gold."""

from __future__ import annotations

from collections.abc import Iterator

from karat.results.checkup import Finding
from karat.testset.audit._support import candidates, claims_of, held_by
from karat.testset.audit._view import View
from karat.testset.audit._words import about
from karat.testset.audit.check import Check

LEAD = 0.18  # by how much more another chunk must hold, as a share by weight
_LOOKED = 10  # chunks that each search finds first
_MOST = 50  # gold chunks that are looked at


def better_row(view: View, q: int) -> int | None:
    """The chunk that holds question and answer far better than all gold of the question together, or None.

    One that holds less of the answer than the gold does is no better, whatever it holds of the question.
    """
    rows = view.gold[q][:_MOST].tolist()
    claims = claims_of(view, q)
    wanted = view.asked_sets[q].union(*claims[:1])
    if not rows or len(wanted) < 2:
        return None
    together = frozenset().union(*(view.held[row] for row in rows))
    ours = held_by(view, wanted, together)
    answered = max((held_by(view, claimed, together) for claimed in claims), default=0.0)
    best, best_row = ours + LEAD, None
    for row in candidates(view, q, _LOOKED):
        held = view.held[row]
        if row in view.gold_sets[q] or view.weights.share(wanted, held) <= best - LEAD / 2:
            continue
        theirs = held_by(view, wanted, held)
        if theirs > best and (not claims or max(held_by(view, c, held) for c in claims) >= answered):
            best, best_row = theirs, row
    return best_row


def _find(view: View) -> Iterator[Finding]:
    looked = [q for q, question in enumerate(view.questions) if len(view.gold[q]) and question.answerable]
    found = [
        (view.questions[q], f"gold {view.label(int(view.gold[q][0]))}, rather {view.label(row)}")
        for q in looked
        if (row := better_row(view, q)) is not None
    ]
    if found:
        yield about(
            "wrong_gold", "warning", found, len(looked), "seems to have the wrong gold", "seem to have the wrong gold",
            "Another chunk holds far more of the words of question and answer. A system that returns it is scored as "
            "if it had found nothing.",
            "Read both chunks, and correct the gold.",
        )  # fmt: skip


check = Check("wrong_gold", "questions that another chunk answers far better than their gold", _find, 12, True)
