"""SentenceSupport."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from karat.core.errors import UsageError
from karat.core.measure import AnswerTable, MeasureResult, measure
from karat.core.text import guess_language
from karat.core.text.citations import cited_sentences
from karat.core.text.refusals import declines
from karat.core.text.support import SUPPORTED, Claim, SupportText, held_sentences, nearest
from karat.measures.answer._support import by_pair
from karat.models.terms import terms


@measure(
    name="SentenceSupport",
    aliases=("sentence_support", "supported_sentences"),
    needs_gold=False,
    needs_contexts=True,
    formula="sentences that a context sentence supports / sentences with content words",
    defined_by="karat",
    best_for="which sentence of an answer stands on which sentence of the contexts, with no model",
    prefer="Faithfulness (a judge) where contexts are worded otherwise than answers",
)
def sentence_support(answered: AnswerTable, *, threshold: float = SUPPORTED) -> MeasureResult:
    """Share of the answer's sentences that some sentence of its contexts supports.

    One sentence supports another if it holds at least half (`threshold`) of its distinct content words and figures, and
    every figure among them: 24 hours do not support 72. A sentence of stop words alone is not counted. A refusal is
    undefined, as is an empty answer. The nearest sentence is kept for each (contexts count from 1).
    """
    if not 0 < threshold <= 1:
        raise UsageError(f"SentenceSupport: threshold={threshold:g} is a share above 0, up to 1.")
    details: dict[int, dict[str, Any]] = {}

    def score(answer: str, contexts: tuple[str, ...], pair: int) -> float | str:
        if declines(answer):
            return "the answer declines"
        language = guess_language(answer)
        claims = [claim for text, _ in cited_sentences(answer) if len(claim := Claim.of(text, language, terms))]
        if not claims:
            return "the answer has no content words"
        held = [
            (number, sentence)
            for number, text in enumerate(contexts, 1)
            for sentence in answered.once(
                ("held sentences", text, language), partial(held_sentences, text, language, terms)
            )
        ]
        own = len(answered.contexts[pair] or ())
        known = {claim.text: _shown(claim, held, threshold, own) for claim in {c.text: c for c in claims}.values()}
        shown = [known[claim.text] for claim in claims]
        details[pair] = {"sentences": shown}
        return sum(bool(one["supported"]) for one in shown) / len(shown)

    return replace(by_pair(answered, score), details=details)


def _shown(claim: Claim, held: list[tuple[int, SupportText]], threshold: float, own: int) -> dict[str, Any]:
    best = nearest(claim, held, threshold)
    if best is None:
        return {"text": claim.text, "support": 0.0, "supported": False, "by": None, "missing_numbers": []}
    support, number, sentence = best
    return {
        "text": claim.text,
        "support": support.share,
        "supported": support.enough(threshold),
        "by": {"context": number if number <= own else "history", "text": sentence.text},
        "missing_numbers": support.figures,
    }
