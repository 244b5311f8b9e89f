"""Power: how small a difference so many questions can tell, and how many it takes to tell one.

Two systems over the same questions, two-sided at 5%. The normal approximation of the paired test: a difference of
(1.960 + 0.842) standard errors is found in 80% of all studies.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist

import numpy as np

from karat.results.evaluation import SIGNIFICANT
from karat.stats.arrays import Floats, Ints, codes, finite
from karat.stats.paired_tests import paired_t

POWER = 0.8
WORST = 1.0
"""The largest standard deviation that differences of scores from 0 to 1 can have: half are -1 and half are 1."""


def worst_spread(clusters: Sequence[int] | Ints | None) -> float:
    """The largest effective spread (`paired_tests.Paired`) that scores from 0 to 1 can have.

    Where questions are turns of conversations it is reached when all turns of a conversation are alike.

    >>> worst_spread(None), worst_spread([0, 0, 0, 0])
    (1.0, 2.0)
    """
    if clusters is None or not len(clusters):
        return WORST
    sizes = np.bincount(codes(np.asarray(clusters).tolist()))
    return WORST * math.sqrt(float((sizes * sizes).sum()) / len(clusters))


def effective_spread(values: Floats, groups: Ints | None) -> float | None:
    """The standard deviation of values, or where they are of conversations (`arrays.grouped`) the effective one.

    That is the standard deviation of as many independent values whose mean has the same standard error. None of fewer
    than two values, or conversations.
    """
    known = values[np.isfinite(values)]
    if groups is not None:
        return finite(float(paired_t(values[None], groups).effective[0]))
    return float(known.std(ddof=1)) if len(known) > 1 else None


def detectable(
    spread: float, questions: int, *, level: float = SIGNIFICANT, power: float = POWER, most: float | None = 1.0
) -> float:
    """The smallest mean difference that is found with this power; differences have the standard deviation `spread`.

    `most` is the largest difference that there can be; None where there is no such end.

    >>> round(detectable(0.25, 133), 3)
    0.061
    """
    least = _errors(level, power) * spread / math.sqrt(questions)
    return least if most is None else min(most, least)


def needed(spread: float, difference: float, *, level: float = SIGNIFICANT, power: float = POWER) -> int:
    """How many questions it takes to find this difference with this power.

    >>> needed(0.25, 0.03), needed(1, 0.03)
    (546, 8721)
    """
    return max(2, math.ceil((_errors(level, power) * spread / difference) ** 2 - 1e-9))


def _errors(level: float, power: float) -> float:
    """How many standard errors apart."""
    normal = NormalDist()
    return normal.inv_cdf(1 - level / 2) + normal.inv_cdf(power)
