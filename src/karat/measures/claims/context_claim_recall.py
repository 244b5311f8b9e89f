"""ContextClaimRecall."""

from __future__ import annotations

from karat.core.claims import Relation
from karat.core.measure import AnswerTable, MeasureResult, measure
from karat.measures.claims._parts import retrieved
from karat.measures.claims._table import Empty, ShownClaims, over_claims, share_of

_RELATIONS: tuple[Relation, ...] = ("reference by passage",)


@measure(
    name="ContextClaimRecall",
    needs_gold=False,
    needs_contexts=True,
    needs_answer=False,
    relations=_RELATIONS,
    formula="reference claims entailed by some single passage / reference claims",
    defined_by="RAGChecker (Ru et al., 2024)",
    best_for="whether the contexts hold what the answer should say, where no gold passages are known",
    prefer="Recall where the test set names gold passages: it needs no judge",
)
def context_claim_recall(answered: AnswerTable, *, empty: Empty = "undefined") -> MeasureResult:
    """Share of the reference's claims that some single passage entails.

    RAGChecker calls it claim_recall. A reference that claims nothing is undefined; `empty=zero` scores it 0, as
    RAGChecker's code does. Contexts known to be none entail nothing.
    """
    return over_claims(
        answered,
        "ContextClaimRecall",
        _RELATIONS,
        lambda table: share_of(table, retrieved(table), "reference"),
        empty=empty,
        shown=ShownClaims("reference", "passage"),
    )
