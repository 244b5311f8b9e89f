"""Pareto: which points no other beats in value and in cost."""

from __future__ import annotations

import numpy as np

from karat.stats.arrays import TIE, Bools, Floats

_DECIMALS = round(-np.log10(TIE))


def dominance(values: Floats, costs: Floats, *, higher_is_better: bool = True) -> Bools:
    """Points x points: whether the second is at least as good as the first in value and cost, and better in one.

    Values are equal where rounding alone sets them apart; equal points dominate each other in neither direction. All
    must be finite.

    >>> dominance(np.array([0.5, 0.5, 0.7]), np.array([1.0, 2.0, 1.0])).tolist()
    [[False, False, True], [True, False, True], [False, False, False]]
    """
    gains = np.round(values if higher_is_better else -values, _DECIMALS)
    at_least: Bools = (gains[None] >= gains[:, None]) & (costs[None] <= costs[:, None])
    better: Bools = at_least & ~at_least.T
    return better
