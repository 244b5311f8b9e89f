"""What a grade is worth: itself, 2^grade - 1, or 1."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from karat.core.judged import Ints
    from karat.core.measure import Column

Gain = Literal["linear", "exp", "binary"]


def _linear(grade: Ints) -> Column:
    return grade.astype(np.float64)


def _exp(grade: Ints) -> Column:
    return np.exp2(grade.astype(np.float64)) - 1


def _binary(grade: Ints) -> Column:
    return np.ones(len(grade))


GAINS: dict[Gain, Callable[[Ints], Column]] = {"linear": _linear, "exp": _exp, "binary": _binary}
