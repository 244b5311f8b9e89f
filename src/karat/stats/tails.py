"""Tails: the chance of a value as large as one that was seen, of Student's t, Fisher's F, a binomial and a normal.

Three of them are one function, the incomplete beta function, so that four numbers do not need scipy, a sixth of the
whole installation. The tests hold every tail against scipy's, and the quantile of Student's t.
"""

from __future__ import annotations

import math
from functools import cache
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike

from karat.stats.arrays import Floats

NORMAL_FROM = 2_000  # degrees of freedom from which the normal quantile is within .0015 of Student's
_STEPS = 10_000  # of the continued fraction; it takes about the square root of the larger parameter
_EXACT = 1e-15
_TINY = 1e-300


def t_tail(t: ArrayLike, freedom: ArrayLike) -> Floats:
    """P(|T| >= |t|), two-sided, as t squared is F with one degree of freedom between.

    >>> float(t_tail(2.2622, 9).round(4))
    0.05
    """
    return f_tail(np.square(t), 1, freedom)


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
    for _ in range(60):  # halvings, past the precision of a double
        middle = (low + high) / 2
        low, high = (middle, high) if _within(middle, freedom) < level else (low, middle)
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


def f_tail(f: ArrayLike, between: ArrayLike, within: ArrayLike) -> Floats:
    """P(F >= f) with so many degrees of freedom; they need not be whole.

    >>> f_tail([4.0, 0.0], 2, 27).round(6).tolist()
    [0.030095, 1.0]
    """
    d1, d2 = np.asarray(between, np.float64), np.asarray(within, np.float64)
    if (d1 <= 0).any() or (d2 <= 0).any():
        raise ValueError(f"{d1.min():g} and {d2.min():g} degrees of freedom")
    f = np.maximum(np.asarray(f, np.float64), 0.0)
    with np.errstate(invalid="ignore"):
        return incomplete_beta(d2 / 2, d1 / 2, np.where(np.isinf(f), 0.0, d2 / (d2 + d1 * f)))


def binomial_tail(most: ArrayLike, n: ArrayLike) -> Floats:
    """P(X <= most) of n fair coins; n is more than `most`.

    >>> round(float(binomial_tail(1, 5)), 6)
    0.1875
    """
    most = np.asarray(most, np.float64)
    return incomplete_beta(n - most, most + 1, 0.5)


def normal_tail(z: Floats) -> Floats:
    """P(Z >= z).

    >>> normal_tail(np.array([1.96])).round(4).tolist()
    [0.025]
    """
    return np.array([math.erfc(one / math.sqrt(2)) / 2 for one in z.tolist()])


def incomplete_beta(a: ArrayLike, b: ArrayLike, x: ArrayLike) -> Floats:
    """The regularised incomplete beta function, by its continued fraction (Lentz), on the side where that is quick."""
    a, b, x = np.broadcast_arrays(*(np.asarray(one, np.float64) for one in (a, b, x)))
    other = x > (a + 1) / (a + b + 2)
    first, second, at = np.where(other, b, a), np.where(other, a, b), np.where(other, 1 - x, x)
    with np.errstate(divide="ignore"):
        size = first * np.log(at) + second * np.log1p(-at) - _log_beta(first, second)
        share = np.where(at > 0, np.exp(size), 0.0) * _fraction(first, second, at) / first
    return np.clip(np.where(other, 1 - share, share), 0.0, 1.0)


def _fraction(a: Floats, b: Floats, x: Floats) -> Floats:
    """Each value as it is when it first stands still: further steps only round it, and others may need them."""
    still = np.zeros(x.shape, bool)
    c, d = np.ones(x.shape), 1 / _not_zero(1 - (a + b) * x / (a + 1))
    value = d.copy()
    for m in range(1, _STEPS):
        before = value.copy()
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d, c = 1 / _not_zero(1 + term * d), _not_zero(1 + term / c)
            value = np.where(still, value, value * d * c)
        still |= ~(np.abs(value - before) > _EXACT * np.abs(value))  # what is no number stands still too
        if still.all():
            break
    return value


def _not_zero(values: Floats) -> Floats:
    """The same, no value so near to 0 that it cannot be divided by."""
    return np.where(np.abs(values) < _TINY, _TINY, values)


def _log_beta(a: Floats, b: Floats) -> Floats:
    flat = [math.lgamma(p) + math.lgamma(q) - math.lgamma(p + q) for p, q in zip(a.flat, b.flat, strict=True)]
    return np.array(flat).reshape(a.shape)
