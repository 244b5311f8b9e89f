"""Intervals: the 95% interval of a mean, by kind of number. Every mean that karat prints has it from here.

Values that all stand at the ends of their range (0 and 1) have Wilson's interval. So have values of which at least
80% stand at one end, and values that are all equal, with their sum, rescaled to 0 to 1, as the number of successes: no
values of this mean vary more than 0 and 1 do, so it is on the safe side. The others have the analytic form of the BCa
bootstrap (ABC), as wide as Student's: 10,000 draws with another seed move the ends farther than it is away from them.

Turns of one conversation are not independent. Where values stand in conversations, the deviations of the ABC interval
are those of whole conversations (the sum over its turns of value less mean), with Student's quantile of so many; and
Wilson's interval is that of the number of independent values that would tell as much: n over the design effect, which
is how far the deviations of conversations spread beyond those of values, for as many degrees of freedom as there are
conversations less 1 (Korn and Graubard).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from karat.stats.arrays import TIE, Bools, Floats, Ints, cluster_sums, grouped
from karat.stats.tails import t_quantile

CONFIDENCE = 0.95
_PAST = 1e-9  # by which rounding may carry a value past the end of its range


def mean_intervals(
    rows: Floats,
    bounds: tuple[float, float] | Floats,
    *,
    level: float = CONFIDENCE,
    clusters: Sequence[int] | Ints | None = None,
) -> tuple[Floats, Floats]:
    """Lower and upper end of the mean of each row; what is not finite in a row is left out of it.

    `bounds` are the least and greatest value there can be, one pair for all rows or one each; infinite where there is
    no end. NaN stands for no interval: without values, of one value that is not at a bound, and of equal values
    without bounds, which do not tell how far others may lie. Rows that pass their bounds are taken to have none.
    `clusters` is the number of each column's conversation; values of one conversation alone have no interval.
    """
    groups = grouped(clusters)
    known = np.isfinite(rows)
    n = known.sum(axis=1)
    low, high = np.full(len(rows), np.nan), np.full(len(rows), np.nan)
    if not n.any():
        return low, high
    values = np.sort(np.where(known, rows, np.inf), axis=1)
    least, most = values[:, 0], values[np.arange(len(rows)), np.maximum(n - 1, 0)]
    ends = np.broadcast_to(np.asarray(bounds, np.float64), (len(rows), 2))
    start, end = np.where(n > 0, ends.T, np.nan)
    with np.errstate(invalid="ignore"):
        inside = (least >= start - _PAST) & (most <= end + _PAST)
        bounded = inside & np.isfinite(end - start)
        at_start = (values <= start[:, None] + TIE).sum(axis=1)
        at_end = (known & (rows >= end[:, None] - TIE)).sum(axis=1)
        varied = most - least > TIE
    mean = np.clip(np.where(known, rows, 0.0).sum(axis=1) / np.maximum(n, 1), least, most)
    turns = _Turns.of(rows, mean, groups) if groups is not None else None
    if turns is not None:
        varied &= turns.alone | (np.abs(turns.deviations).max(axis=1) > TIE)
    skewed = 5 * np.maximum(at_start, at_end) >= 4 * n
    by_wilson = bounded & ((at_start + at_end == n) | ((n > 1) & (skewed | ~varied)))
    chosen = np.flatnonzero(by_wilson)
    if len(chosen):
        reach = end[chosen] - start[chosen]
        share = np.clip((mean[chosen] - start[chosen]) / reach, 0.0, 1.0)
        sizes = n[chosen] if turns is None else turns.effective(level)[chosen]
        low[chosen], high[chosen] = (start[chosen] + reach * one for one in wilson(share, sizes, level))
    rest = (n > 1) & varied & ~by_wilson
    if turns is not None:
        for many in sorted(set(turns.many[rest & ~turns.alone].tolist()) - {1}):
            chosen = np.flatnonzero(rest & ~turns.alone & (turns.many == many))
            low[chosen], high[chosen] = _abc_ends(mean[chosen], turns.deviations[chosen], n[chosen], many, level)
        rest &= turns.alone
    for many in sorted(set(n[rest].tolist())):
        chosen = np.flatnonzero(rest & (n == many))
        low[chosen], high[chosen] = abc_intervals(values[chosen, :many], level=level)
    limits = np.where(inside, start, -np.inf), np.where(inside, end, np.inf)
    return np.minimum(np.maximum(low, limits[0]), mean), np.maximum(np.minimum(high, limits[1]), mean)


@dataclass(frozen=True)
class _Turns:
    """Rows of values as turns of conversations: their deviations by conversation, and what they are worth."""

    n: Ints  # values
    many: Ints  # conversations that have one
    alone: Bools  # rows without two values of one conversation
    deviations: Floats  # rows x conversations: the sum over the turns of value less mean
    largest: Floats  # the design effect where all turns of a conversation are alike
    design: Floats  # how far means of such conversations spread, as variances, beyond means of so many single values

    @classmethod
    def of(cls, rows: Floats, mean: Floats, groups: Ints) -> _Turns:
        known = np.isfinite(rows)
        off = np.where(known, rows - mean[:, None], 0.0)
        sizes, deviations = cluster_sums(known.astype(np.float64), groups), cluster_sums(off, groups)
        n, many = known.sum(axis=1), (sizes > 0).sum(axis=1)
        largest = (sizes * sizes).sum(axis=1) / np.maximum(n, 1)
        squares = (off * off).sum(axis=1) * n * np.maximum(many - 1, 1)
        between = (deviations * deviations).sum(axis=1) * many * np.maximum(n - 1, 1)
        varied = squares > TIE * TIE
        design = np.where(varied, between / np.where(varied, squares, 1.0), largest)
        return cls(n, many, sizes.max(axis=1) <= 1, deviations, largest, design)

    def effective(self, level: float) -> Floats:
        """How many values of different conversations would tell as much about the mean; NaN of one conversation."""
        z = NormalDist().inv_cdf((1 + level) / 2)
        of = {many: (z / t_quantile(many - 1, level)) ** 2 for many in set(self.many.tolist()) if many > 1}
        share = np.array([of.get(many, np.nan) for many in self.many.tolist()])
        worth = self.n / np.clip(self.design, 1.0, np.maximum(self.largest, 1.0)) * np.minimum(share, 1.0)
        return np.where(self.alone, self.n, worth)


def wilson(share: Floats, n: Ints | Floats, level: float = CONFIDENCE) -> tuple[Floats, Floats]:
    """Wilson's score interval of shares of n.

    >>> low, high = wilson(np.array([1.0]), np.array([20]))
    >>> round(float(low[0]), 4), float(high[0])
    (0.8389, 1.0)
    """
    z = NormalDist().inv_cdf((1 + level) / 2)
    weight = 1 + z * z / n
    centre = (share + z * z / (2 * n)) / weight
    reach = z / weight * np.sqrt(share * (1 - share) / n + z * z / (4.0 * n * n))
    return np.clip(centre - reach, 0.0, share), np.clip(centre + reach, share, 1.0)


def abc_intervals(rows: Floats, *, level: float = CONFIDENCE) -> tuple[Floats, Floats]:
    """What the BCa bootstrap tends to with many draws, as wide as Student's, of rows of values that are not all equal.

    Bias correction and acceleration of a mean are both skewness / (6 sqrt n): sum(d^3) / (6 sum(d^2)^1.5), d the
    deviations. It is 1/6 at most, so that the ends stay finite.
    """
    n = rows.shape[1]
    mean = rows.mean(axis=1, keepdims=True)
    return _abc_ends(mean[:, 0], rows - mean, n, n, level)


def _abc_ends(mean: Floats, deviation: Floats, n: Ints | int, many: int, level: float) -> tuple[Floats, Floats]:
    """The ends by the deviations of so `many` values, or conversations that hold n values."""
    square = deviation * deviation
    squares = square.sum(axis=1)
    skew = (square * deviation).sum(axis=1) / (6.0 * squares**1.5)
    error, reach = np.sqrt(squares) / n, student_reach(many, level)
    low, high = (mean + error * (skew + w) / (1 - skew * (skew + w)) ** 2 for w in (-reach, reach))
    return low, high


def student_reach(n: int, level: float = CONFIDENCE) -> float:
    """How many standard errors, of a variance over n instead of n - 1, an interval of n values reaches.

    With the normal quantile instead, 95% intervals of 50 skewed scores hold the mean in less than 93% of studies
    (Hesterberg's expanded interval mends it so); with many values both are the same.

    >>> round(student_reach(50), 4), round(student_reach(500), 4)
    (2.03, 1.9667)
    """
    return math.sqrt(n / (n - 1)) * t_quantile(n - 1, level)
