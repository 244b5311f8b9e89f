"""ContextSufficient."""

from __future__ import annotations

from typing import Literal

import numpy as np

from karat.core.claims import ClaimTable, Relation
from karat.core.measure import AnswerTable, Floats, MeasureResult, measure
from karat.measures.answer._support import NO_CONTEXTS
from karat.measures.claims._table import over_claims
from karat.measures.judge import _prompts as prompts
from karat.measures.judge._runner import (
    ALL_CONTEXTS,
    NO_QUESTION,
    By,
    Judge,
    JudgedAnswer,
    ask_for_grades,
    graded,
)

SufficientBy = Literal["gold", "claims", "model"]
_RELATIONS: tuple[Relation, ...] = ("reference by passage",)
UNANSWERABLE = "the question is marked unanswerable, so nothing says what would suffice"
NOT_MATCHED = "no relevant gold, or contexts that are not among the hits it was matched with"
NOTHING_RETRIEVED = "there are no contexts"


def _relations(by: SufficientBy = "gold", **_: object) -> tuple[Relation, ...]:
    return _RELATIONS if by == "claims" else ()


@measure(
    name="ContextSufficient",
    aliases=("context_sufficiency", "sufficient_context"),
    needs=("chat",),
    needs_gold=False,
    needs_contexts=True,
    needs_answer=False,
    relations=_relations,
    formula="1 if the contexts hold all that the answer needs, else 0",
    defined_by="karat by gold and by claims; Sufficient Context (Joren et al., 2024) by a model",
    best_for="telling answers that failed for want of context from those that failed in spite of it",
    prefer="Recall for how much of the gold is there, ContextRelevance for how much of the context is of use",
    variants=("ContextSufficient(by=claims)", "ContextSufficient(by=model)"),
)
def context_sufficient(answered: AnswerTable, *, by: SufficientBy = "gold") -> MeasureResult:
    """1 if the contexts of an answer suffice to answer the question, else 0.

    By gold: the contexts that the answerer was given hold every relevant gold unit; contexts that are no hits of the
    system cannot be matched and are undefined. By claims: every claim of the reference is entailed by some passage.
    By a model: it is shown question and contexts, and no answer. A question marked unanswerable has neither gold nor
    reference to look for and is undefined by gold and by claims; a model is asked about it all the same. No contexts
    suffice for nothing.
    """
    if by == "model":
        return _JUDGE.run(answered, "model")
    if by == "claims":
        judged = over_claims(answered, "ContextSufficient", _RELATIONS, _all_entailed)
        unknown = {pair: NO_CONTEXTS for pair, texts in enumerate(answered.contexts) if texts is None}
        undefined = {**judged.undefined, **unknown, **_unanswerable(answered)}
        failed = {pair: why for pair, why in judged.failed.items() if pair not in undefined}
        return MeasureResult(judged.values, undefined, failed=failed)
    held = answered.context_gold or [None] * len(answered)
    values = np.array([np.nan if one is None else float(one) for one in held], np.float64)
    undefined = {pair: NOT_MATCHED for pair, one in enumerate(held) if one is None}
    return MeasureResult(values, {**undefined, **_unanswerable(answered)})


def _unanswerable(answered: AnswerTable) -> dict[int, str]:
    return {pair: UNANSWERABLE for pair, answerable in enumerate(answered.answerable) if not answerable}


def _all_entailed(table: ClaimTable) -> Floats:
    """1 where some passage entails each claim of the reference, else 0; NaN where it claims nothing."""
    of_reference = table.of_side("reference")
    total = table.per_pair(of_reference)
    held = table.per_pair(of_reference & table.by_passages("reference"))
    return np.where(total > 0, (held == total).astype(np.float64), np.nan)


def _settle(case: JudgedAnswer, by: By) -> str | tuple[float, str] | None:
    if case.contexts is None:
        return NO_CONTEXTS
    if not case.question.strip():
        return NO_QUESTION
    return None if any(text.strip() for text in case.contexts) else (0.0, NOTHING_RETRIEVED)


def _worth(grade: str) -> float:
    return float(grade == "sufficient")


_JUDGE = Judge(
    name="ContextSufficient",
    prompt=prompts.CONTEXT_SUFFICIENT,
    settle=_settle,
    items=lambda case: (case.question,),
    limits=(ALL_CONTEXTS,),
    ask=ask_for_grades(
        "SufficiencyGrade", lambda case, _, *more: prompts.grade_contexts(case.asked, case.contexts or (), *more)
    ),
    weigh=lambda reply: graded(reply, _worth),
    instead="gold",
)
