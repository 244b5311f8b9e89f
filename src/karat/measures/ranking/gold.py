"""Gold, a count."""

from __future__ import annotations

import numpy as np

from karat.core.measure import Column, Judged, measure


@measure(
    name="Gold",
    aliases=("gold_docs_count",),
    bounds=(0.0, np.inf),
    direction="none",
    unit="count",
    needs_gold=False,
    formula="R, the relevant units of the question",
    defined_by="LiveRAG (gold_docs_count)",
    best_for="seeing how much there is to find",
    prefer="Recall for how much of it is found",
)
def gold(judged: Judged) -> Column:
    """Number of relevant units the question has."""
    return judged.relevant.astype(np.float64)
