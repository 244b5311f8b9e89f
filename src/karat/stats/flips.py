"""Flips: how far a judge that is asked the same again says something else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

_SAME = 1e-9  # values nearer than this are the same


@dataclass(frozen=True)
class Flips:
    """What repeats of the same question to a judge amount to, over the rows asked at least twice; None where none was.

    `rate` is the share of rows whose values are not all the same, `spread` the mean within a row of the standard
    deviation (ddof 1), `disagree` the share of pairs of repeats of one row that differ.
    """

    rows: int
    rate: float | None
    spread: float | None
    disagree: float | None


def flips(values: Sequence[Sequence[float | None]]) -> Flips:
    """The flips of rows of repeated values. None stands for a repeat that gave no value, and is left out.

    >>> flips([[1, 1, 1], [0.5, 0.5]])
    Flips(rows=2, rate=0.0, spread=0.0, disagree=0.0)
    """
    rows = [[float(value) for value in row if value is not None] for row in values]
    rows = [row for row in rows if len(row) > 1]
    if not rows:
        return Flips(0, None, None, None)
    apart = [max(row) - min(row) > _SAME for row in rows]
    pairs = [abs(one - other) > _SAME for row in rows for one, other in combinations(row, 2)]
    spread = np.mean([np.std(row, ddof=1) for row in rows])
    return Flips(len(rows), float(np.mean(apart)), float(spread), float(np.mean(pairs)))
