"""ClaimRecall."""

from __future__ import annotations

from karat.core.claims import Relation
from karat.core.measure import AnswerTable, MeasureResult, measure
from karat.measures.claims._table import Empty, ShownClaims, over_claims, share_of

_RELATIONS: tuple[Relation, ...] = ("reference by answer",)


@measure(
    name="ClaimRecall",
    needs_gold=False,
    relations=_RELATIONS,
    formula="reference claims entailed by the answer / reference claims",
    defined_by="RAGChecker (Ru et al., 2024)",
    best_for="how much of what should be said an answer says, claim by claim",
    prefer="NuggetRecall where the test set says which facts are vital",
)
def claim_recall(answered: AnswerTable, *, empty: Empty = "undefined") -> MeasureResult:
    """Share of the reference's claims that the answer entails.

    RAGChecker calls it recall; its claim_recall is ContextClaimRecall here. A reference that claims nothing is
    undefined; `empty=zero` scores it 0, as RAGChecker's code does.
    """
    return over_claims(
        answered,
        "ClaimRecall",
        _RELATIONS,
        lambda table: share_of(table, table.entailed("reference", "answer"), "reference"),
        empty=empty,
        shown=ShownClaims("reference", "answer"),
    )
