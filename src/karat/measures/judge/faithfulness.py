"""Faithfulness."""

from __future__ import annotations

from functools import partial
from typing import Literal

from karat.core.measure import EMPTY_ANSWER, AnswerTable, MeasureResult, measure
from karat.core.text.refusals import declines
from karat.measures.answer._support import BLANK_CONTEXTS, NO_CONTEXTS
from karat.measures.judge import _prompts as prompts
from karat.measures.judge._claims import CheckedClaims, check_claims
from karat.measures.judge._heuristics import supported_sentences
from karat.measures.judge._runner import ALL_CONTEXTS, ANSWER, By, Judge, JudgedAnswer, JudgeModel, Requests, Sample

Scale = Literal["unit", "liverag"]
NO_CLAIMS = "the answer claims nothing that could be checked"
DECLINES = "the answer declines, so it claims nothing"


def _bounds(scale: Scale = "unit", **_: object) -> tuple[float, float]:
    return (-1.0, 1.0) if scale == "liverag" else (0.0, 1.0)


@measure(
    name="Faithfulness",
    aliases=("groundedness", "faithfulness_score"),
    bounds=_bounds,
    needs=("chat",),
    needs_gold=False,
    needs_contexts=True,
    formula="answer claims that the contexts support / answer claims",
    defined_by="RAGAS (Es et al., 2024); scale=liverag by LiveRAG",
    best_for="whether what an answer claims stands in its contexts, claim by claim, whatever the wording",
    prefer="SupportCoverage and NumberSupport, which cost nothing, where answers keep to the words of their contexts",
    variants=("Faithfulness(scale=liverag)", "Faithfulness(by=heuristic)"),
)
def faithfulness(answered: AnswerTable, *, scale: Scale = "unit", by: By = "model") -> MeasureResult:
    """Share of the answer's claims that its contexts support, by a language model.

    One call splits the answer into claims, one gives each a verdict (supported, contradicted, not_found) with the
    contexts that decide it. `scale=liverag`: 1 if all are supported, 0 if some are, -1 if none is. An answer that is
    empty, declines or claims nothing is undefined, and contexts known to be none support nothing. `by=heuristic` asks
    no model: the mean over the sentences of the share of content words and figures that the contexts hold, 0 for one
    with a figure that they do not. For `scale=liverag` one is supported from half of them on.
    """
    weigh = partial(_weigh, scale=scale)
    judge = Judge(
        name="Faithfulness",
        prompt=prompts.FAITHFULNESS,
        settle=partial(_settle, scale=scale),
        items=lambda case: (case.answer,),
        limits=(ANSWER, ALL_CONTEXTS),
        ask=_ask,
        weigh=weigh,
        heuristic=lambda case, answer: weigh(supported_sentences(answer, case.contexts or ())),
    )
    return judge.run(answered, by)


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
    share = checked.share("supported")
    graded = [claim["support"] for claim in checked.claims if "support" in claim]
    unit = sum(graded) / len(graded) if graded else share
    value = unit if scale == "unit" else 1.0 if share == 1 else -1.0 if share == 0 else 0.0
    return checked.round("supported", value, NO_CLAIMS)
