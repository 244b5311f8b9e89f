"""Rank-biased precision."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from karat.core.errors import UsageError
from karat.core.measure import measure

if TYPE_CHECKING:
    from karat.core.judged import Cut, Judged
    from karat.core.measure import Column


@measure(
    name="RBP",
    shown=("p",),
    best_for="a reader who stops at each passage with probability 1 - p",
    prefer="nDCG@k to compare across questions: RBP of a perfect list depends on how much gold there is",
)
def rbp(judged: Judged, k: Cut = None, *, p: float = 0.8) -> Column:
    """Expected share of relevant slots seen by a reader who goes on to the next with probability p."""
    if not 0 < p < 1:
        raise UsageError(f"RBP: p={p:g} is not a probability between 0 and 1.")
    hits = judged.hits
    top = judged.within(hits.pair, hits.rank, k)
    chance_of_reading = np.power(p, hits.rank[top] - 1, dtype=np.float64)
    return judged.per_pair(hits.pair[top], (1 - p) * chance_of_reading)
