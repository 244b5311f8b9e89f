"""ClaimPrecision."""

from __future__ import annotations

from karat.core.claims import Relation
from karat.core.measure import AnswerTable, MeasureResult, measure
from karat.measures.claims._table import Empty, ShownClaims, over_claims, share_of

_RELATIONS: tuple[Relation, ...] = ("answer by reference",)


@measure(
    name="ClaimPrecision",
    needs_gold=False,
    relations=_RELATIONS,
    formula="answer claims entailed by the reference / answer claims",
    defined_by="RAGChecker (Ru et al., 2024)",
    best_for="how much of what an answer claims is right, claim by claim",
    prefer="TokenF1 for answers of a few words",
)
def claim_precision(answered: AnswerTable, *, empty: Empty = "undefined") -> MeasureResult:
    """Share of the answer's claims that the reference entails.

    RAGChecker calls it precision. An answer that claims nothing is undefined; `empty=zero` scores it 0, as RAGChecker's
    code does.
    """
    return over_claims(
        answered,
        "ClaimPrecision",
        _RELATIONS,
        lambda table: share_of(table, table.entailed("answer", "reference"), "answer"),
        empty=empty,
        shown=ShownClaims("answer", "reference"),
    )
