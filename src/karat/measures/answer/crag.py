"""CRAG."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np

from karat.core.claims import CONTRADICTED, ClaimTable, Relation
from karat.core.language import parse
from karat.core.measure import AnswerTable, Bools, Floats, MeasureResult, measure
from karat.measures.claims._table import over_claims, share
from karat.measures.outcomes import ABSTAINED, BY_MODEL, BY_WORDS, REACHED, RIGHT, check_share, outcomes, silent

RightBy = Literal["words", "claims", "model"]
_RELATIONS: tuple[Relation, ...] = ("reference by answer",)


def _relations(by: RightBy = "words", **_: object) -> tuple[Relation, ...]:
    return _RELATIONS if by == "claims" else ()


@measure(
    name="CRAG",
    aliases=("crag_score", "truthfulness"),
    bounds=(-1.0, 1.0),
    needs=("chat",),
    needs_gold=False,
    relations=_relations,
    formula="(right answers - wrong answers) / questions; an answer that abstains counts 0",
    defined_by="CRAG (Yang et al., 2024)",
    best_for="systems that may decline: a wrong answer costs as much as a right one earns",
    prefer="Refusal for whether it declines what it should, TokenF1 or Correctness for how good its answers are",
    variants=("CRAG(by=model)", "CRAG(by=claims)", "CRAG(right=0.8)", "CRAG(unanswerable=missing)"),
)
def crag(
    answered: AnswerTable,
    *,
    by: RightBy = "words",
    right: float = REACHED,
    unanswerable: Literal["right", "missing"] = "right",
) -> MeasureResult:
    """1 for a right answer, 0 for one that abstains, -1 for a wrong one.

    CRAG calls the mean truthfulness. An answer abstains when it declines, is empty or is nothing but citations. It is
    right from `right` on: of TokenF1 (`by=words`), of the share of the reference's claims that it entails, none of them
    contradicted (`by=claims`), or of Correctness (`by=model`, which is not asked about answers that abstain). To
    decline a question marked unanswerable is right, and to answer it wrong; `unanswerable=missing` counts declining it
    0, as CRAG does. An answerable question without a reference is undefined.
    """
    check_share("CRAG", "right", right)
    abstained = silent(answered.answers, np.zeros(len(answered)))
    judged = _scores(answered, by, abstained)
    scores = np.array(judged.values, np.float64)
    scores[[*judged.undefined, *judged.failed]] = np.nan
    is_right = replace(BY_WORDS, value=right).right(scores)
    failed = {pair: why for pair, why in judged.failed.items() if not abstained[pair]}
    is_right[[pair for pair in judged.failed if abstained[pair]]] = 0.0
    declined = RIGHT if unanswerable == "right" else ABSTAINED
    values = outcomes(answered.answers, is_right, answered.answerable, declined=declined)
    unknown = [pair for pair in np.flatnonzero(np.isnan(values)).tolist() if pair not in failed]
    undefined = {pair: judged.undefined[pair] for pair in unknown}
    details = {pair: shown for pair, shown in judged.details.items() if not abstained[pair]}
    return MeasureResult(values, undefined, failed=failed, details=details)


def _scores(answered: AnswerTable, by: RightBy, abstained: Bools) -> MeasureResult:
    """How good each answer is by what makes it right."""
    if by == "claims":
        return over_claims(answered, "CRAG", _RELATIONS, _entailed)
    if by == "model":
        spoken = ["" if abstains else answer for answer, abstains in zip(answered.answers, abstained, strict=True)]
        answered = replace(answered, answers=spoken, made={})
    column = parse((BY_MODEL if by == "model" else BY_WORDS).measure).of(answered)
    return column if isinstance(column, MeasureResult) else MeasureResult(column)


def _entailed(table: ClaimTable) -> Floats:
    """Share of the reference's claims that the answer entails; 0 where it contradicts one."""
    of_reference = table.of_side("reference")
    against = table.per_pair(of_reference & (table.verdicts("reference", "answer") == CONTRADICTED))
    values = share(table, table.entailed("reference", "answer"), of_reference)
    return np.where((against > 0) & ~np.isnan(values), 0.0, values)
