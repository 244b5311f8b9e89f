"""Nuggets: facts to state that cannot be scored as they stand, or that the gold does not bear out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from karat.core.text import normalise
from karat.core.text.support import Claim, SupportText
from karat.core.text.words import excerpt
from karat.models.terms import terms
from karat.testset.check._check import CheckContext, Finding, about_questions, check
from karat.testset.check.unsupported_answers import MOST_GOLD


@check(16, needs_index=False)
def nuggets(context: CheckContext) -> Iterable[Finding]:
    """Questions whose nuggets are none of them vital, or say a thing twice."""
    asked = [question for question in context.questions if question.nuggets]
    yield from about_questions(
        "nuggets", "warning", [(q, "") for q in asked if not any(nugget.vital for nugget in q.nuggets)], len(asked),
        ("has nuggets and no vital one", "have nuggets and no vital one"),
        "NuggetRecall over vital nuggets is undefined for them.", "Mark what an answer must state as vital.",
    )  # fmt: skip
    repeated = []
    for question in asked:
        texts = Counter(normalise(nugget.text, "words") for nugget in question.nuggets)
        twice = next((n.text for n in question.nuggets if texts[normalise(n.text, "words")] > 1), None)
        repeated += [] if twice is None else [(question, excerpt(twice, 60))]
    yield from about_questions(
        "nuggets", "warning", repeated, len(asked), ("has a nugget twice", "have a nugget twice"),
        "What is said twice counts twice.", "Keep one of the two.",
    )  # fmt: skip


@check(34)
def unsupported_nuggets(context: CheckContext) -> Iterable[Finding]:
    """Nuggets that the gold does not support."""
    looked_at, faulty = 0, []
    for number, question in enumerate(context.questions):
        rows = context.gold_rows[number][:MOST_GOLD].tolist()
        if not question.nuggets or not rows:
            continue
        looked_at += 1
        language = context.languages[number]
        chunks = [context.chunks[row] for row in rows]
        held = SupportText.together(
            SupportText.of(f"{chunk.title or ''}\n{chunk.text}", language, terms) for chunk in chunks
        )
        claims = {nugget.text: Claim.of(nugget.text, language, terms) for nugget in question.nuggets}
        lacking = [text for text, claim in claims.items() if len(claim) and not claim.against(held).enough()]
        faulty += [(question, excerpt(lacking[0], 60))] if lacking else []
    return about_questions(
        "unsupported_nuggets", "warning", faulty, looked_at,
        ("has a nugget that its gold does not support", "have a nugget that their gold does not support"),
        "Facts in other words are one cause; a wrong nugget or wrong gold is the other.",
        "Read the gold of these questions, and correct the nugget or the gold.",
    )  # fmt: skip
