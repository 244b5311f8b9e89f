"""answers_without_support: reference answers that the gold does not hold."""

from __future__ import annotations

from collections.abc import Iterator

from karat.core.text.support import Claim, Held, Support
from karat.core.text.words import excerpt
from karat.models.terms import terms
from karat.results.checkup import Finding
from karat.testset.audit._view import View
from karat.testset.audit._words import about, percent
from karat.testset.audit.check import Check

_MOST = 50  # gold chunks that are looked at


def support(view: View, q: int) -> Support | None:
    """How far the gold supports the best reference answer; None where there is nothing to compare."""
    question, rows, language = view.questions[q], view.gold[q][:_MOST].tolist(), view.languages[q]
    claims = [claim for answer in question.answers if len(claim := Claim.of(answer, language, terms))]
    if not claims or not rows or not question.answerable:
        return None
    chunks = [view.chunks[row] for row in rows]
    held = Held.together(Held.of(f"{chunk.title or ''}\n{chunk.text}", language, terms) for chunk in chunks)
    return max(
        (claim.against(held, view.weights.__getitem__) for claim in claims), key=lambda one: (one.enough(), one.share)
    )


def _find(view: View) -> Iterator[Finding]:
    shares = [(one, share) for q, one in enumerate(view.questions) if (share := support(view, q)) is not None]
    found = [
        (one, f"answer: {excerpt(one.answers[0], 60)}; the gold holds {percent(share.share)} of it")
        for one, share in shares
        if not share.enough()
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
