"""McNemar: the exact test of two systems by a measure that is 0 or 1, two-sided, for many pairs at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from karat.stats.tails import binomial_tail

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]


def is_all_or_nothing(values: Floats) -> bool:
    """Whether every known value is 0 or 1, and there is one."""
    known = values[np.isfinite(values)]
    return bool(len(known)) and bool(np.isin(known, (0.0, 1.0)).all())


def mcnemar(gained: Ints, lost: Ints) -> Floats:
    """p by how many questions go from 0 to 1 and how many from 1 to 0; 1 where none does.

    `statsmodels.stats.contingency_tables.mcnemar(exact=True)` gives the same. Under no difference each of these
    questions goes either way with equal chance, so this is the sign-flip test with every way counted.
    """
    few, all_ = np.minimum(gained, lost), gained + lost
    p: Floats = np.minimum(2.0 * binomial_tail(few, np.maximum(all_, 1)), 1.0)
    return np.where(all_ > 0, p, 1.0)
