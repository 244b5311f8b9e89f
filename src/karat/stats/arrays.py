"""What all of stats shares: kinds of arrays, when two values are equal, and means over what is known."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

TIE = 1e-12  # two values no farther apart than this are equal


def mean_known(rows: Floats) -> Floats:
    """The mean of each column over the rows that have a value; NaN where none has."""
    known = np.isfinite(rows)
    many = known.sum(axis=0)
    return np.where(many > 0, np.where(known, rows, 0.0).sum(axis=0) / np.maximum(many, 1), np.nan)


def finite(value: float) -> float | None:
    """The number, or None where it is not finite: there is no such number."""
    return float(value) if np.isfinite(value) else None


def codes(levels: Sequence[object]) -> Ints:
    """A number for each level, in order of appearance.

    >>> codes(["b", "a", "b"]).tolist()
    [0, 1, 0]
    """
    numbers: dict[object, int] = {}
    return np.array([numbers.setdefault(level, len(numbers)) for level in levels], np.int64)
