"""Unsupported answers: reference answers that the gold does not hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from karat.core.text.support import SUPPORTED, Claim, Support, SupportText
from karat.core.text.words import excerpt, percent
from karat.core.types import Question
from karat.models.terms import terms
from karat.testset.check._check import CheckContext, Draft, Finding, Surroundings, about_questions, check, draft_filter

MOST_GOLD = 50  # gold chunks that are looked at
LITERAL, FREE = 0.8, SUPPORTED  # share of a draft's answer that the gold has to hold
WORDED_FREELY = frozenset(
    ("paraphrase", "paraphrased", "scenario", "comparative", "multi_hop", "inferential", "ambiguous", "false_premise")
)
IN_QUOTE = 0.5  # of that share, how much the quote itself has to hold


def support(
    question: Question, texts: Sequence[str], language: str | None, weigh: Callable[[str], float]
) -> Support | None:
    """How far gold texts support the best reference answer; None where there is nothing to compare."""
    claims = [claim for answer in question.answers if len(claim := Claim.of(answer, language, terms))]
    if not claims or not texts or not question.answerable:
        return None
    held = SupportText.together(SupportText.of(text, language, terms) for text in texts)
    against = [claim.against(held, weigh) for claim in claims]
    return max(against, key=lambda one: (one.enough(), one.share))


@check(33)
def unsupported_answers(context: CheckContext) -> Iterable[Finding]:
    """Reference answers that the gold does not support."""
    supports = []
    for q, question in enumerate(context.questions):
        chunks = [context.chunks[row] for row in context.gold_rows[q][:MOST_GOLD].tolist()]
        texts = [f"{chunk.title or ''}\n{chunk.text}" for chunk in chunks]
        one = support(question, texts, context.languages[q], context.weights.__getitem__)
        supports += [(question, one)] if one is not None else []
    return about_questions(
        "unsupported_answers", "warning",
        [
            (q, f"answer: {excerpt(q.answers[0], 60)}; the gold holds {percent(one.share, 0)} of it")
            for q, one in supports
            if not one.enough()
        ],
        len(supports),
        (
            "has a reference answer that its gold does not support",
            "have a reference answer that their gold does not support",
        ),
        "Answers that are calculated or put into other words are one cause; a wrong answer or wrong gold is the "
        "other.", "Read the gold of these questions, and correct the answer or the gold.",
    )  # fmt: skip


@draft_filter(60)
def unsupported_answer(draft: Draft, surroundings: Surroundings, accepted: Sequence[Draft]) -> str | None:
    """The answer does not follow from its gold."""
    if not draft.answerable or not draft.answer:
        return None
    quote = "\n".join(draft.quotes)
    text = "\n".join(f"{one.chunk.title or ''}\n{one.chunk.text}" for one in draft.fragments)
    language = draft.fragments[0].language if draft.fragments else None
    gold, quoted = (SupportText.of(held, language, terms) for held in (f"{text}\n{quote}", quote))
    asked = SupportText.of(draft.text, language, terms)
    claim = Claim.of(draft.answer, language, terms).without(asked.words)
    wrong = claim.against(SupportText.together((gold, asked))).figures
    if wrong:
        return f"Its answer holds {', '.join(wrong)}, which the chunk does not."
    claim = replace(claim, figures=tuple(one for one in claim.figures if asked.readings.isdisjoint(one)))
    if not len(claim):
        return None
    least = FREE if draft.kind in WORDED_FREELY else LITERAL
    in_gold = claim.against(gold)
    if not in_gold.enough(least):
        lacking = ", ".join(in_gold.words[:5])
        return f'The chunk does not bear out the answer, "{excerpt(draft.answer, 80)}": it says nothing of {lacking}.'
    if claim.against(quoted).share < IN_QUOTE * least:
        return f'Its quote does not hold the answer, "{excerpt(draft.answer, 80)}".'
    return None
