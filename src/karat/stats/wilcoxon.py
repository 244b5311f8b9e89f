"""Wilcoxon: the signed-rank test of paired differences, two-sided, for many pairs at once.

Questions without a difference are left out, equal sizes share their mean rank. The values are those of
`scipy.stats.wilcoxon` on what is left: all sums counted for up to 50 differences of different size, all signs counted
for up to 13 where sizes repeat, else the normal limit with its correction for ties and none for continuity.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from karat.stats.permutation import TIE, sign_flip
from karat.stats.tails import normal_tail

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

EXACT, COUNTED = 50, 13
_ROWS = 2**20  # values ranked at once


@dataclass(frozen=True)
class Ranked:
    """Of each pair p, and the matched rank-biserial correlation: (sum of ranks for - against) / sum of all ranks.

    The correlation is NaN, and p is 1, where nothing differs.
    """

    p: Floats
    biserial: Floats


def wilcoxon(differences: Floats) -> Ranked:
    """The test of each row of `differences` (pairs x questions); what is not finite is left out of its pair."""
    many, questions = differences.shape
    made = Ranked(np.ones(many), np.full(many, np.nan))
    step = max(1, _ROWS // max(questions, 1))
    for start in range(0, many, step):
        part = slice(start, start + step)
        made.p[part], made.biserial[part] = _tested(differences[part])
    return made


def _tested(differences: Floats) -> tuple[Floats, Floats]:
    known = np.where(np.isfinite(differences), differences, 0.0)
    size = np.abs(known)
    size[size <= TIE] = 0.0
    order = np.argsort(size, axis=1)
    size = np.take_along_axis(size, order, axis=1)
    sign = np.sign(np.take_along_axis(known, order, axis=1)) * (size > 0)
    count = np.count_nonzero(size, axis=1)
    ranks, ties = _mean_ranks(size, count)
    up, down = ((ranks * (sign == way)).sum(axis=1) for way in (1, -1))
    n = count.astype(np.float64)
    total = n * (n + 1) / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.abs(up - total / 2) / np.sqrt((n * (n + 1) * (2 * n + 1) - ties / 2) / 24)
        biserial: Floats = np.where(count > 0, (up - down) / total, np.nan)
    p = np.where(count > 0, 2 * normal_tail(np.nan_to_num(z)), 1.0)
    for row in np.flatnonzero((count > 0) & (count <= EXACT) & (ties == 0)).tolist():
        p[row] = _exact(int(count[row]), round(float(min(up[row], down[row]))))
    few = np.flatnonzero((count <= COUNTED) & (ties > 0))
    if len(few):
        p[few] = sign_flip(sign[few] * ranks[few], draws=2**COUNTED)
    return np.minimum(p, 1.0), biserial


def _mean_ranks(size: Floats, count: NDArray[np.integer]) -> tuple[Floats, Floats]:
    """Ranks from 1 in rows sorted upwards, zeros before them at no rank; and the sum of t^3 - t over groups of equals.

    Sizes no farther apart than a tie from the one before are equal.
    """
    rows, questions = size.shape
    places = np.arange(questions)
    new = np.ones((rows, questions), bool)
    new[:, 1:] = np.diff(size, axis=1) > TIE
    first = np.maximum.accumulate(np.where(new, places, 0), axis=1)
    ends = np.ones((rows, questions), bool)
    ends[:, :-1] = new[:, 1:]
    last = np.minimum.accumulate(np.where(ends, places, questions)[:, ::-1], axis=1)[:, ::-1]
    zeros = (questions - count)[:, None]
    counted = size > 0
    ranks = np.where(counted, (first + last) / 2.0 + 1.0 - zeros, 0.0)
    often = np.where(counted & new, last - first + 1.0, 0.0)
    ties: Floats = (often**3 - often).sum(axis=1)
    return ranks, ties


def _exact(n: int, least: int) -> float:
    """Twice the chance that the smaller sum of ranks is at most this."""
    return min(1.0, 2.0 * float(_ways(n)[: least + 1].sum()) / 2.0**n)


@cache
def _ways(n: int) -> Floats:
    """In how many ways ranks 1 to n can sum up to each number."""
    ways = np.zeros(n * (n + 1) // 2 + 1)
    ways[0] = 1.0
    for rank in range(1, n + 1):
        ways[rank:] = ways[rank:] + ways[:-rank]
    return ways
