"""NoiseSensitivity."""

from __future__ import annotations

from typing import Literal

from karat.core.claims import ClaimTable, Relation
from karat.core.measure import AnswerTable, Bools, MeasureResult, measure
from karat.measures.claims._parts import noise
from karat.measures.claims._table import Empty, ShownClaims, over_claims, share_of, where_claimed

_RELATIONS: tuple[Relation, ...] = ("answer by passage", "answer by reference", "reference by passage")

Noise = Literal["relevant", "irrelevant"]


@measure(
    name="NoiseSensitivity",
    direction="lower",
    needs_gold=False,
    needs_contexts=True,
    relations=_RELATIONS,
    shown=("in",),
    formula="answer claims that a (relevant / only an irrelevant) passage entails and the reference does not / "
    "answer claims",
    defined_by="RAGChecker (Ru et al., 2024)",
    best_for="how often wrong claims come from the passages, and from which of them",
    prefer="ClaimHallucination for wrong claims that no passage entails",
    variants=("NoiseSensitivity(in=irrelevant)",),
)
def noise_sensitivity(answered: AnswerTable, *, in_: Noise = "relevant", empty: Empty = "undefined") -> MeasureResult:
    """Share of the answer's claims that are wrong and come from the passages.

    A claim is wrong where the reference does not entail it. A passage is relevant where it entails at least one claim
    of the reference. `in=relevant` counts wrong claims that a relevant passage entails, `in=irrelevant` those that
    irrelevant passages alone do. RAGChecker calls them noise_sensitivity_in_relevant and ..._in_irrelevant. Undefined
    where answer or reference claims nothing; `empty=zero` scores that 0, as RAGChecker's code does.
    """

    def wrong(table: ClaimTable) -> Bools:
        return noise(table, in_ == "relevant")

    return over_claims(
        answered,
        "NoiseSensitivity",
        _RELATIONS,
        lambda table: where_claimed(table, share_of(table, wrong(table), "answer"), "reference"),
        empty=empty,
        shown=ShownClaims("answer", "reference", wrong),
    )
