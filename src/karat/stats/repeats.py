"""Repeats: how far a judge that is asked the same again says something else, and how much of a score is the judge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

_SAME = 1e-9  # replies nearer than this are the same
_NOTHING = 1e-12


@dataclass(frozen=True, kw_only=True)
class RepeatAgreement:
    """Rows that were asked at least twice: how many, how often on average, and how far the repeats of a row part.

    `flips` is the share of rows whose repeats are not all the same, `disagree` the share of pairs of repeats of one row
    that differ. `within` is the variance of one reply about the mean of its row, `of_score` that of a score, which is
    the mean of its repeats. `icc` is the intraclass correlation of one reply (one-way, random), `icc_mean` that of a
    score: the share of the variance between rows that is not the judge's. None where all replies are the same: there
    is no variance to share.
    """

    rows: int
    repeats: float
    flips: float
    disagree: float
    within: float
    of_score: float
    icc: float | None
    icc_mean: float | None


def repeats(values: Sequence[Sequence[float | None]]) -> RepeatAgreement | None:
    """What rows of repeated values say; None where no row was asked twice. A repeat without a value is left out.

    >>> found = repeats([[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]])
    >>> round(found.icc, 4), round(found.icc_mean, 4)
    (0.1657, 0.4428)
    """
    rows = [np.array([v for v in row if v is not None], np.float64) for row in values]
    rows = [row for row in rows if len(row) > 1]
    if not rows:
        return None
    sizes = np.array([len(row) for row in rows], np.float64)
    means = np.array([row.mean() for row in rows])
    squares = np.array([((row - row.mean()) ** 2).sum() for row in rows])
    total = sizes.sum()
    within = float(squares.sum() / (total - len(rows)))
    icc = icc_mean = None
    if len(rows) > 1:
        grand = float((sizes * means).sum() / total)
        between = float((sizes * (means - grand) ** 2).sum() / (len(rows) - 1))
        usual = float((total - (sizes**2).sum() / total) / (len(rows) - 1))
        if between + within > _NOTHING:
            icc = (between - within) / (between + (usual - 1) * within)
            icc_mean = (between - within) / between if between > _NOTHING else None
    return RepeatAgreement(
        rows=len(rows),
        repeats=float(sizes.mean()),
        flips=float(np.mean([np.ptp(row) > _SAME for row in rows])),
        disagree=float(np.mean([abs(a - b) > _SAME for row in rows for a, b in combinations(row.tolist(), 2)])),
        within=within,
        of_score=float(within * np.mean(1 / sizes)),
        icc=icc,
        icc_mean=icc_mean,
    )
