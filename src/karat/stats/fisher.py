"""Fisher's F: the chance of a ratio of variances as large as one that was seen, without scipy."""

from __future__ import annotations

import math

_STEPS = 100_000
_TINY = 1e-300


def f_tail(f: float, between: float, within: float) -> float:
    """P(F >= f) with so many degrees of freedom; they need not be whole. `scipy.stats.f.sf` gives the same.

    >>> round(f_tail(4.0, 2, 27), 6), f_tail(0, 2, 27)
    (0.030079, 1.0)
    """
    if between <= 0 or within <= 0:
        raise ValueError(f"{between} and {within} degrees of freedom")
    if not f > 0:
        return 1.0
    if math.isinf(f):
        return 0.0
    ratio = between * f
    return _beta(within / 2, between / 2, within / (within + ratio), ratio / (within + ratio))


def t_tail(t: float, freedom: float) -> float:
    """P(|T| >= |t|): two-sided, as t squared is F with one degree of freedom between.

    >>> round(t_tail(2.2622, 9), 4)
    0.05
    """
    return f_tail(t * t, 1, freedom)


def _beta(a: float, b: float, x: float, rest: float) -> float:
    """The regularised incomplete beta function at x = 1 - rest, by its continued fraction where that is quick."""
    if x <= 0 or rest <= 0:
        return 0.0 if x <= 0 else 1.0
    front = a * math.log(x) + b * math.log(rest) + math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    if x < (a + 1) / (a + b + 2):
        return math.exp(front - math.log(a)) * _fraction(a, b, x)
    return 1.0 - math.exp(front - math.log(b)) * _fraction(b, a, rest)


def _fraction(a: float, b: float, x: float) -> float:
    """Lentz's evaluation of the continued fraction."""
    c, d = 1.0, 1.0 / _away(1.0 - (a + b) * x / (a + 1))
    result = d
    for m in range(1, _STEPS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        d, c = 1.0 / _away(1.0 + even * d), _away(1.0 + even / c)
        result *= d * c
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        d, c = 1.0 / _away(1.0 + odd * d), _away(1.0 + odd / c)
        result *= d * c
        if abs(d * c - 1.0) < 1e-15:
            break
    return result


def _away(value: float) -> float:
    return value if abs(value) > _TINY else _TINY
