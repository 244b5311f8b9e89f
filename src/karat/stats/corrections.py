"""Corrections: p values adjusted for how many were looked at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np

from karat.stats.arrays import Floats

Correction = Literal["holm", "bonferroni", "bh", "none"]
CORRECTIONS: tuple[Correction, ...] = get_args(Correction)


def adjust(p: Sequence[float] | Floats, method: Correction = "holm") -> Floats:
    """p adjusted by a method.

    `holm` and `bonferroni` hold the chance of any false difference, `bh` (Benjamini-Hochberg) the expected share of
    false ones among those called different; `none` leaves p as it is. Holm's step-down multiplies the smallest of m by
    m, the next by m - 1, ...; never falling, at most 1.

    >>> adjust([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    values = np.array(p, np.float64)
    if values.ndim != 1 or not ((values >= 0) & (values <= 1)).all():
        raise ValueError("p values are a row of numbers from 0 to 1")
    many = len(values)
    order = np.argsort(values, kind="stable")
    rank = np.arange(many, 0, -1)
    adjusted = np.empty_like(values)
    if method == "none":
        adjusted = values
    elif method == "bonferroni":
        adjusted = values * many
    elif method == "holm":
        adjusted[order] = np.maximum.accumulate(values[order] * rank)
    elif method == "bh":
        adjusted[order[::-1]] = np.minimum.accumulate(values[order[::-1]] * many / rank)
    else:
        raise ValueError(f"method={method!r} is not one of {', '.join(CORRECTIONS)}")
    return np.minimum(adjusted, 1.0)
