"""unjudged_chunks: chunks that answer a question as well as its gold does, without being gold."""

from __future__ import annotations

from collections.abc import Iterator

from karat.core.checkup import Finding
from karat.testset.audit._support import candidates, claims_of, held_by, window_of
from karat.testset.audit._view import View
from karat.testset.audit._words import about
from karat.testset.audit.check import Check

ANSWER = 0.95  # share of the answer, by weight, that a few sentences of the chunk must hold
ASKED = 0.6  # share of the question's words
SLACK = 0.15  # by how much less than the gold the chunk may hold of the question's words
_LOOKED = 10  # chunks that each engine finds first
_GOLD = 8  # gold chunks that are compared with


def unjudged(view: View, q: int) -> list[int]:
    """Rows that hold question and answer within a few sentences, as the gold does, and are not gold."""
    claims, gold = claims_of(view, q), view.gold[q][:_GOLD].tolist()
    asked = view.asked_sets[q]
    if not claims or not gold or len(asked) < 2:
        return []
    likely = [
        row
        for row in candidates(view, q, _LOOKED)
        if row not in view.gold_sets[q]
        and view.weights.share(asked, view.held[row]) >= ASKED
        and any(held_by(view, claimed, view.held[row]) >= ANSWER for claimed in claims)
    ]
    if not likely:
        return []
    windows = [window_of(view, q, row, claims) for row in gold]
    ours = max((w.question for w in windows if w.answer >= ANSWER), default=max(w.question for w in windows))
    found = []
    for row in likely:
        theirs = window_of(view, q, row, claims)
        if theirs.answer >= ANSWER and theirs.question >= max(ASKED, ours - SLACK):
            found.append(row)
    return found


def _find(view: View) -> Iterator[Finding]:
    looked = [
        q
        for q, question in enumerate(view.questions)
        if question.answerable and len(view.gold[q]) and claims_of(view, q)
    ]
    found = [
        (view.questions[q], "also " + ", ".join(view.label(row) for row in rows[:3]))
        for q in looked
        if (rows := unjudged(view, q))
    ]
    if found:
        yield about(
            "unjudged_chunks", "warning", found, len(looked), "is also answered by a chunk that is not gold",
            "are also answered by chunks that are not gold",
            "A few sentences there hold the reference answer and the words of the question. A system that returns such "
            "a chunk is scored as if it had found nothing.",
            "Read these chunks, and add those that answer to the gold.",
        )  # fmt: skip


check = Check("unjudged_chunks", "chunks that answer a question and are not its gold", _find, 24, True)
