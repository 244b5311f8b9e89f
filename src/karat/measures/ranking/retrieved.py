"""Retrieved, a count."""

from __future__ import annotations

import numpy as np

from karat.core.measure import Column, Judged, measure


@measure(
    name="Retrieved",
    aliases=("retrieved_docs_count",),
    bounds=(0.0, np.inf),
    direction="none",
    unit="count",
    needs_gold=False,
    follows_rel=False,
    formula="distinct units retrieved",
    defined_by="LiveRAG (retrieved_docs_count)",
    best_for="seeing how much a system returns",
    prefer="Precision for how much of it is relevant",
)
def retrieved(judged: Judged) -> Column:
    """Number of distinct units retrieved."""
    return judged.distinct.astype(np.float64)
