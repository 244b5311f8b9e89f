"""answers_without_support: reference answers that the gold does not hold."""

from __future__ import annotations

from collections.abc import Iterator

from karat.core.checkup import Finding
from karat.testset.audit._support import claims_of, held_by
from karat.testset.audit._view import View
from karat.testset.audit._words import about, percent, short
from karat.testset.audit.check import Check

LEAST = 0.5  # share of an answer's content words, by weight, that the gold of a supported answer holds


def support(view: View, q: int) -> float | None:
    """How much of the best reference answer the gold holds; None where there is nothing to compare."""
    claims, rows = claims_of(view, q), view.gold[q].tolist()
    if not claims or not rows or not view.questions[q].answerable:
        return None
    held: set[str] = set()
    best = 0.0
    for row in rows:
        if view.held[row] <= held:
            continue
        held |= view.held[row]
        best = max(held_by(view, claimed, held) for claimed in claims)
        if best >= 1 - 1e-9:
            break
    return best


def _find(view: View) -> Iterator[Finding]:
    shares = [(q, share) for q in range(len(view.questions)) if (share := support(view, q)) is not None]
    found = [
        (view.questions[q], f"answer: {short(view.questions[q].answers[0], 60)}; the gold holds {percent(share)} of it")
        for q, share in shares
        if share < LEAST
    ]
    if found:
        yield about(
            "answers_without_support", "warning", found, len(shares),
            "has a reference answer that its gold does not support",
            "have a reference answer that their gold does not support",
            "Answers that are calculated or put into other words are one cause; a wrong answer or wrong gold is the "
            "other.", "Read the gold of these questions, and correct the answer or the gold.",
        )  # fmt: skip


check = Check("answers_without_support", "reference answers that the gold does not hold", _find, 23, True)
