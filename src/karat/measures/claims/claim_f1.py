"""ClaimF1."""

from __future__ import annotations

import numpy as np

from karat.core.claims import ClaimTable, Relation
from karat.core.measure import AnswerTable, Floats, MeasureResult, measure
from karat.measures.claims._table import Empty, ShownClaims, over_claims, ratio, share_of

_RELATIONS: tuple[Relation, ...] = ("answer by reference", "reference by answer")


@measure(
    name="ClaimF1",
    needs_gold=False,
    relations=_RELATIONS,
    formula="2 x ClaimPrecision x ClaimRecall / (ClaimPrecision + ClaimRecall)",
    defined_by="RAGChecker (Ru et al., 2024)",
    best_for="one figure for long answers: what they claim is right, and what should be claimed is there",
    prefer="ClaimPrecision and ClaimRecall, which tell what is wrong from what is missing",
)
def claim_f1(answered: AnswerTable, *, empty: Empty = "undefined") -> MeasureResult:
    """Harmonic mean of ClaimPrecision and ClaimRecall; 0 where both are.

    Undefined where one of them is. `empty=zero` takes that one as 0, as RAGChecker's code does.
    """
    return over_claims(
        answered, "ClaimF1", _RELATIONS, _f1, empty=empty, shown=ShownClaims("answer", "reference")
    )  # fmt: skip


def _f1(table: ClaimTable) -> Floats:
    precision = share_of(table, table.entailed("answer", "reference"), "answer")
    recall = share_of(table, table.entailed("reference", "answer"), "reference")
    values: Floats = np.where(precision + recall == 0, 0.0, ratio(2 * precision * recall, precision + recall))
    return values
