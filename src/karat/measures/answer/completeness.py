"""Completeness."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from karat.core.measure import AnswerTable, MeasureResult, measure
from karat.core.text import guess_language, sentences, tokenise
from karat.core.text.citations import spoken
from karat.core.text.support import SUPPORTED, Claim, SupportText
from karat.measures.answer._compared import best_of, referred
from karat.models.terms import terms


@measure(
    name="Completeness",
    aliases=("answer_completeness", "reference_coverage"),
    needs_gold=False,
    needs_reference=True,
    formula="mean over reference sentences of terms that the answer holds / terms",
    defined_by="karat",
    best_for="long references, of which an answer may leave out a part",
    prefer="Correctness (a judge) where answers are worded otherwise than references",
)
def completeness(answered: AnswerTable) -> MeasureResult:
    """How much of the reference the answer holds: the mean over its sentences of the share of their terms.

    Terms are distinct content words and figures. Unlike the recall within TokenF1 it leaves stop words aside, asks of
    a word only whether it is there, compares numbers and dates by value (1,000 is 1000), and weighs every sentence of
    the reference alike, so that a short one left out is not drowned by a long one. What else the answer says costs
    nothing. The terms that are missing are kept for each sentence; one of which less than half is there is listed as
    missing. An empty answer scores 0.
    """
    beside = referred(answered, "unicode")
    values = np.zeros(len(beside.texts))
    shown: list[dict[str, Any]] = []
    for i, (pair, reference) in enumerate(zip(beside.owners.tolist(), beside.texts, strict=True)):
        language = guess_language(f"{answered.texts[pair]} {reference}")
        answer = SupportText.of(spoken(answered.answers[pair]), language, terms)
        rows = [_share(claim, answer) for claim in claims_of(reference, language)]
        values[i] = sum(one["held"] for one in rows) / len(rows)
        absent = [{"claim": one["text"], "terms": one["missing"]} for one in rows if one["held"] < SUPPORTED]
        shown.append({"reference": reference, "reference_sentences": rows, "missing": absent})
    outcome = best_of(values, beside.owners, len(answered), beside.undefined)
    details: dict[int, dict[str, Any]] = {}
    for i, pair in enumerate(beside.owners.tolist()):
        if pair not in details and values[i] == outcome.values[pair]:
            details[pair] = shown[i]
    return replace(outcome, details=details)


def claims_of(reference: str, language: str | None) -> list[Claim]:
    """The sentences of a reference that claim something; all its words where every one is a stop word ("No.")."""
    texts = [" ".join(text.split()) for text in sentences(spoken(reference))]
    claims = [claim for text in texts if len(claim := Claim.of(text, language, terms))]
    return claims or [Claim(reference, {token: token for token in tokenise(reference)})]


def _share(claim: Claim, held: SupportText) -> dict[str, Any]:
    support = claim.against(held)
    return {"text": claim.text, "held": support.share, "missing": [*support.words, *support.figures]}
