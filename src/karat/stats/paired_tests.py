"""Paired tests: Student's, Wilcoxon's and McNemar's of two systems over the same questions, for many pairs at once.

All are two-sided and take rows of differences (pairs x questions), of which what is not finite is left out. The values
are those of `scipy.stats.ttest_rel` and `wilcoxon`, and of `statsmodels.stats.contingency_tables.mcnemar(exact=True)`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from karat.stats.arrays import TIE, Floats, Ints, cluster_sums
from karat.stats.permutation import flip_test
from karat.stats.tails import binomial_tail, normal_tail, t_tail

EXACT, COUNTED = 50, 13  # differences up to which Wilcoxon's sums are counted: of different sizes, of repeated ones


@dataclass(frozen=True, kw_only=True)
class Paired:
    """Of each pair n, the mean difference, its standard deviation (ddof 1), t, p and Cohen's d of paired values.

    d is the mean over the standard deviation of the differences. NaN stands where there is no such number: of fewer
    than two questions, and of t, p and d where all differences are the same, unless they are all 0: then p is 1.
    `effective` is the standard deviation that so many independent differences with the same standard error have: where
    questions are turns of conversations it is larger than that of the questions, which d stays by.
    """

    n: Ints
    mean: Floats
    spread: Floats
    t: Floats
    p: Floats
    d: Floats
    effective: Floats


def paired_t(differences: Floats, clusters: Ints | None = None) -> Paired:
    """Student's test of the mean difference; where all are the same scipy has p = 0.

    With the numbers of conversations (`arrays.grouped`) the standard error is that of whole conversations, and so many
    less 1 are its degrees of freedom.
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
    effective, freedom = spread, n - 1
    if clusters is not None:
        sizes, deviations = cluster_sums(known.astype(np.float64), clusters), cluster_sums(off, clusters)
        many = (sizes > 0).sum(axis=1)
        square = (deviations * deviations).sum(axis=1) * many / (np.maximum(many - 1, 1) * np.maximum(n, 1))
        alone = sizes.max(axis=1) <= 1
        effective = np.where(alone, spread, np.where(many > 1, np.sqrt(square), np.nan))
        freedom = many - 1
        varied = effective > TIE
    with np.errstate(divide="ignore", invalid="ignore"):
        t = (d if clusters is None else np.where(varied, mean / effective, np.nan)) * np.sqrt(n)
    p = np.where(varied, t_tail(np.nan_to_num(t), np.maximum(freedom, 1)), np.nan)
    nothing = (n > 1) & ~varied & (np.abs(mean) <= TIE)
    return Paired(n=n, mean=mean, spread=spread, t=t, p=np.where(nothing, 1.0, p), d=d, effective=effective)


def wilcoxon(differences: Floats) -> tuple[Floats, Floats]:
    """p of the signed-rank test, and the matched rank-biserial correlation: (ranks for - against) / sum of all ranks.

    Questions without a difference are left out, equal sizes share their mean rank. All sums are counted for up to 50
    differences of different size, all signs for up to 13 where sizes repeat; else it is the normal limit with its
    correction for ties and none for continuity. The correlation is NaN, and p is 1, where nothing differs.
    """
    p, biserial = np.ones(len(differences)), np.full(len(differences), np.nan)
    few = np.zeros((len(differences), COUNTED))  # signed ranks of the pairs whose signs are all counted
    for pair, row in enumerate(differences):
        changed = row[np.isfinite(row) & (np.abs(row) > TIE)]
        n = len(changed)
        if not n:
            continue
        sizes = np.abs(changed)
        order = np.argsort(sizes)
        sizes, is_up = sizes[order], (changed > 0)[order]
        group = np.append(0, np.cumsum(sizes[1:] - sizes[:-1] > TIE))  # of equal sizes
        often = np.bincount(group).astype(np.float64)
        ranks = (np.cumsum(often) - (often - 1.0) / 2.0)[group]
        total, ties = n * (n + 1) / 2, float((often**3 - often).sum())
        up = float(ranks[is_up].sum())
        biserial[pair] = (2 * up - total) / total
        if not ties and n <= EXACT:
            p[pair] = 2.0 * float(_ways(n)[: round(min(up, total - up)) + 1].sum()) / 2.0**n
        elif n <= COUNTED:
            few[pair, :n] = np.where(is_up, ranks, -ranks)
        else:
            z = abs(up - total / 2) / ((n * (n + 1) * (2 * n + 1) - ties / 2) / 24) ** 0.5
            p[pair] = 2 * float(normal_tail(np.array([z]))[0])
    counted = few.any(axis=1)
    p[counted] = flip_test(few[counted], draws=2**COUNTED, alpha=None).p
    return np.minimum(p, 1.0), biserial


@cache
def _ways(n: int) -> Floats:
    """In how many ways ranks 1 to n can sum up to each number."""
    ways = np.zeros(n * (n + 1) // 2 + 1)
    ways[0] = 1.0
    for rank in range(1, n + 1):
        ways[rank:] = ways[rank:] + ways[:-rank]
    return ways


def mcnemar(gained: Ints, lost: Ints) -> Floats:
    """The exact test by how many questions go from 0 to 1 and how many from 1 to 0; 1 where none does.

    Under no difference each of these questions goes either way with equal chance, so this is the sign-flip test with
    every way counted.
    """
    few, changed = np.minimum(gained, lost), gained + lost
    p: Floats = np.minimum(2.0 * binomial_tail(few, np.maximum(changed, 1)), 1.0)
    return np.where(changed > 0, p, 1.0)


def is_all_or_nothing(values: Floats) -> bool:
    """Whether every known value is 0 or 1, and there is one."""
    known = values[np.isfinite(values)]
    return bool(len(known)) and bool(np.isin(known, (0.0, 1.0)).all())
