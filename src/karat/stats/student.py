"""Student's t: the quantile of small samples, without scipy."""

from __future__ import annotations

import math
from functools import cache
from statistics import NormalDist

NORMAL_FROM = 2_000  # degrees of freedom from which the normal quantile is within .0015 of it
_HALVINGS = 60


@cache
def t_quantile(freedom: int, level: float = 0.95) -> float:
    """The t that |T| stays below with probability `level`, T with so many degrees of freedom.

    >>> round(t_quantile(9), 4), round(t_quantile(58), 4)
    (2.2622, 2.0017)
    """
    if freedom < 1:
        raise ValueError(f"{freedom} degrees of freedom")
    if freedom >= NORMAL_FROM:
        return NormalDist().inv_cdf((1 + level) / 2)
    low, high = 0.0, math.pi / 2
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if _within(middle, freedom) < level:
            low = middle
        else:
            high = middle
    return math.sqrt(freedom) * math.tan(low)


def _within(angle: float, freedom: int) -> float:
    """P(|T| <= t) for t = sqrt(freedom) tan(angle): for whole degrees of freedom a finite sum."""
    sine, cosine = math.sin(angle), math.cos(angle)
    odd = freedom % 2
    term = cosine if odd else 1.0
    total = term if freedom > 1 else 0.0
    for i in range(2 + odd, freedom - 1, 2):
        term *= cosine * cosine * (i - 1) / i
        total += term
    return 2 / math.pi * (angle + sine * total) if odd else sine * total
