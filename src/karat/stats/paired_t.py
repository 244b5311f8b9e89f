"""Paired t: Student's test of a mean difference, two-sided, and its effect size, for many pairs at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from karat.stats.permutation import TIE
from karat.stats.tails import t_tail

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Paired:
    """Of each pair n, the mean difference, its standard deviation (ddof 1), t, p and Cohen's d of paired values.

    d is the mean over the standard deviation of the differences. NaN stands where there is no such number: of fewer
    than two questions, and of t, p and d where all differences are the same, unless they are all 0: then p is 1.
    """

    n: NDArray[np.int64]
    mean: Floats
    spread: Floats
    t: Floats
    p: Floats
    d: Floats


def paired_t(differences: Floats) -> Paired:
    """The test of each row of `differences` (pairs x questions); what is not finite is left out of its pair.

    The values are those of `scipy.stats.ttest_rel`, which gives p = 0 where all differences are the same.
    """
    known = np.isfinite(differences)
    n = known.sum(axis=1)
    values = np.where(known, differences, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.where(n > 0, values.sum(axis=1) / n, np.nan)
        off = np.where(known, values - mean[:, None], 0.0)
        spread = np.where(n > 1, np.sqrt((off * off).sum(axis=1) / (n - 1)), np.nan)
        varied = spread > TIE
        d = np.where(varied, mean / spread, np.nan)
        t = d * np.sqrt(n)
    p = np.where(varied, t_tail(np.nan_to_num(t), np.maximum(n - 1, 1)), np.nan)
    nothing = (n > 1) & ~varied & (np.abs(mean) <= TIE)
    return Paired(n.astype(np.int64), mean, spread, t, np.where(nothing, 1.0, p), d)
