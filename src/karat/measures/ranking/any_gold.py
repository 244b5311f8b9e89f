"""AnyGold."""

from __future__ import annotations

import numpy as np

from karat.core.measure import Column, Judged, measure


@measure(
    name="AnyGold",
    aliases=("pct_records_with_at_least_one_ref",),
    unit="share",
    formula="1 if found > 0, else 0",
    defined_by="LiveRAG (pct_records_with_at_least_one_ref)",
    best_for="how many questions can be answered at all",
    prefer="Hit@k or Recall@k when the rank matters",
)
def any_gold(judged: Judged) -> Column:
    """1 if any relevant unit was retrieved, at any rank; the mean is a share of questions."""
    return (judged.found_within() > 0).astype(np.float64)
