"""ClaimHallucination."""

from __future__ import annotations

from karat.core.claims import Relation
from karat.core.measure import AnswerTable, MeasureResult, measure
from karat.measures.claims._parts import hallucinated
from karat.measures.claims._table import Empty, ShownClaims, over_claims, share_of_answer

_RELATIONS: tuple[Relation, ...] = ("answer by passage", "answer by reference")


@measure(
    name="ClaimHallucination",
    direction="lower",
    needs_gold=False,
    needs_contexts=True,
    relations=_RELATIONS,
    formula="answer claims that neither a passage nor the reference entails / answer claims",
    defined_by="RAGChecker (Ru et al., 2024)",
    best_for="how much of an answer is made up: wrong, and in no passage",
    prefer="HallucinationRate, which needs no judge, where answers keep to the words of their contexts",
)
def claim_hallucination(answered: AnswerTable, *, empty: Empty = "undefined") -> MeasureResult:
    """Share of the answer's claims that are wrong and that no passage entails.

    RAGChecker calls it hallucination. An answer that claims nothing is undefined. `empty=zero` scores it 0, and an
    answer without passages too, as RAGChecker's code does, though nothing supports what such an answer claims.
    """
    return over_claims(
        answered,
        "ClaimHallucination",
        _RELATIONS,
        lambda table: share_of_answer(table, hallucinated(table), empty),
        empty=empty,
        shown=ShownClaims("answer", "reference", hallucinated),
    )
