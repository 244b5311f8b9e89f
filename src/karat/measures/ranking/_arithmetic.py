"""Arithmetic that ranking measures share: what a grade is worth, and shares of nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np

from karat.core.measure import Column, Floats, Ints

Gain = Literal["linear", "exp", "binary"]


def _linear(grade: Ints) -> Column:
    return grade.astype(np.float64)


def _exp(grade: Ints) -> Column:
    return np.exp2(grade.astype(np.float64)) - 1


def _binary(grade: Ints) -> Column:
    return np.ones(len(grade))


GAINS: dict[Gain, Callable[[Ints], Column]] = {"linear": _linear, "exp": _exp, "binary": _binary}


def share(part: Floats, whole: Floats | Ints | int) -> Floats:
    """part / whole, 0 where whole is 0: an empty list scores 0 and raises nothing."""
    whole = np.broadcast_to(np.asarray(whole, np.float64), part.shape)
    return np.divide(part, whole, out=np.zeros(part.shape), where=whole != 0)
