"""ContextClaimPrecision."""

from __future__ import annotations

import numpy as np

from karat.core.claims import ClaimTable, Relation
from karat.core.measure import AnswerTable, Floats, MeasureResult, measure
from karat.measures.claims._table import NO_PASSAGES, Empty, ShownClaims, over_claims, ratio, where_claimed

_RELATIONS: tuple[Relation, ...] = ("reference by passage",)


@measure(
    name="ContextClaimPrecision",
    needs_gold=False,
    needs_contexts=True,
    needs_answer=False,
    relations=_RELATIONS,
    formula="passages that entail a reference claim / passages",
    defined_by="RAGChecker (Ru et al., 2024)",
    best_for="how many of the passages are of use, where no gold passages are known",
    prefer="Precision where the test set names gold passages: it needs no judge",
)
def context_claim_precision(answered: AnswerTable, *, empty: Empty = "undefined") -> MeasureResult:
    """Share of the passages that are relevant: that entail at least one claim of the reference.

    RAGChecker calls it context_precision; the ranked measure of that name in ragas is another. Undefined without
    passages, or where the reference claims nothing; `empty=zero` scores both 0, as RAGChecker's code does.
    """
    return over_claims(
        answered,
        "ContextClaimPrecision",
        _RELATIONS,
        _precision,
        empty=empty,
        nothing=NO_PASSAGES,
        shown=ShownClaims("reference", "passage"),
    )


def _precision(table: ClaimTable) -> Floats:
    relevant = table.relevant.sum(axis=1, dtype=np.float64)
    return where_claimed(table, ratio(relevant, table.passages.astype(np.float64)), "reference")
