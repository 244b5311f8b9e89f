"""Faithfulness."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Literal

import numpy as np

from karat.core.claims import ClaimTable, Relation
from karat.core.measure import EMPTY_ANSWER, AnswerTable, Floats, MeasureResult, measure
from karat.core.text.refusals import declines
from karat.measures.answer._support import BLANK_CONTEXTS, NO_CONTEXTS
from karat.measures.claims._parts import supported
from karat.measures.claims._table import Empty, ShownClaims, over_claims, share_of
from karat.measures.judge import _prompts as prompts
from karat.measures.judge._claims import CheckedClaims, check_claims
from karat.measures.judge._heuristics import supported_sentences
from karat.measures.judge._runner import ALL_CONTEXTS, ANSWER, By, Judge, JudgedAnswer, JudgeModel, Requests, Sample

Scale = Literal["unit", "liverag"]
SupportBy = Literal["model", "heuristic", "claims"]
_RELATIONS: tuple[Relation, ...] = ("answer by passage",)
NO_CLAIMS = "the answer claims nothing that could be checked"
DECLINES = "the answer declines, so it claims nothing"


def _bounds(scale: Scale = "unit", **_: object) -> tuple[float, float]:
    return (-1.0, 1.0) if scale == "liverag" else (0.0, 1.0)


def _relations(by: SupportBy = "model", **_: object) -> tuple[Relation, ...]:
    return _RELATIONS if by == "claims" else ()


@measure(
    name="Faithfulness",
    aliases=("groundedness", "faithfulness_score"),
    bounds=_bounds,
    needs=("chat",),
    needs_gold=False,
    needs_contexts=True,
    relations=_relations,
    formula="answer claims that the contexts support / answer claims",
    defined_by="RAGAS (Es et al., 2024); by=claims by RAGChecker (Ru et al., 2024); scale=liverag by LiveRAG",
    best_for="whether what an answer claims stands in its contexts, claim by claim, whatever the wording",
    prefer="SupportCoverage and NumberSupport, which cost nothing, where answers keep to the words of their contexts",
    variants=("Faithfulness(scale=liverag)", "Faithfulness(by=heuristic)", "Faithfulness(by=claims)"),
)
def faithfulness(
    answered: AnswerTable, *, scale: Scale = "unit", by: SupportBy = "model", empty: Empty = "undefined"
) -> MeasureResult:
    """Share of the answer's claims that its contexts support, by a language model.

    One call splits the answer into claims, one gives each a verdict (supported, contradicted, not_found) with the
    contexts that decide it. `scale=liverag`: 1 if all are supported, 0 if some are, -1 if none is. An answer that is
    empty, declines or claims nothing is undefined, and contexts known to be none support nothing. `by=heuristic` asks
    no model: the mean over the sentences of the share of content words and figures that the contexts hold, 0 for one
    with a figure that they do not. For `scale=liverag` one is supported from half of them on. `by=claims` takes the
    claims table: a claim is supported where some single context entails it, as in RAGChecker. `empty=zero` scores an
    answer that claims nothing 0, as its code does.
    """
    if by == "claims":
        return _by_claims(answered, scale, empty)
    weigh = partial(_weigh, scale=scale)
    judge = Judge(
        name="Faithfulness",
        prompt=prompts.FAITHFULNESS,
        settle=partial(_settle, scale=scale),
        items=lambda case: (case.answer,),
        limits=(ANSWER, ALL_CONTEXTS),
        evidence=True,
        ask=_ask,
        weigh=weigh,
        heuristic=lambda case, answer: weigh(supported_sentences(answer, case.contexts or ())),
    )
    result = judge.run(answered, by)
    nothing = [pair for pair, why in result.undefined.items() if why in (EMPTY_ANSWER, DECLINES, NO_CLAIMS)]
    if empty == "undefined" or not nothing:
        return result
    result.values[nothing] = 0.0
    return replace(result, undefined={pair: why for pair, why in result.undefined.items() if pair not in nothing})


def _by_claims(answered: AnswerTable, scale: Scale, empty: Empty) -> MeasureResult:
    def score(table: ClaimTable) -> Floats:
        values = share_of(table, supported(table), "answer")
        return values if scale == "unit" else np.where(np.isnan(values), np.nan, _liverag(values))

    shown = ShownClaims("answer", "passage")
    return over_claims(answered, "Faithfulness(by=claims)", _RELATIONS, score, empty=empty, shown=shown)


def _liverag(values: Floats) -> Floats:
    """1 where all claims are supported, -1 where none is, 0 elsewhere."""
    scaled: Floats = (values == 1).astype(np.float64) - (values == 0)
    return scaled


def _settle(case: JudgedAnswer, by: By, scale: Scale) -> str | tuple[float, str] | None:
    if case.contexts is None:
        return NO_CONTEXTS
    if not case.answer:
        return EMPTY_ANSWER
    if declines(case.answer):
        return DECLINES
    if not case.contexts:
        return _bounds(scale)[0], "there are no contexts, so nothing supports the answer"
    return None if any(text.strip() for text in case.contexts) else BLANK_CONTEXTS


def _ask(model: JudgeModel, asked: Requests) -> list[CheckedClaims]:
    from karat.measures.judge._schemas import Verdicts

    purpose = model.purpose("verdicts")
    return check_claims(
        model,
        asked,
        Verdicts,
        lambda case, claims, sample: prompts.verify(claims, case.contexts or (), purpose, sample),
        lambda case: len(case.contexts or ()),
    )


def _weigh(checked: CheckedClaims, scale: Scale) -> Sample:
    if not checked.claims:
        return checked.round("supported", None, NO_CLAIMS)
    part = checked.share("supported")
    graded = [claim["support"] for claim in checked.claims if "support" in claim]
    unit = sum(graded) / len(graded) if graded else part
    value = unit if scale == "unit" else float(_liverag(np.array(part)))
    return checked.round("supported", value, NO_CLAIMS)
