"""AllGold."""

from __future__ import annotations

import numpy as np

from karat.core.measure import Bools, Column, Judged, measure


@measure(
    name="AllGold",
    aliases=("pct_records_with_all_refs",),
    unit="share",
    formula="1 if found = R, else 0",
    defined_by="LiveRAG (pct_records_with_all_refs)",
    best_for="how many questions can be answered in full",
    prefer="Hit@k or Recall@k when the rank matters",
)
def all_gold(judged: Judged) -> Column:
    """1 if every relevant unit was retrieved, at any rank; the mean is a share of questions."""
    complete: Bools = judged.found_within() == judged.relevant
    return complete.astype(np.float64)
