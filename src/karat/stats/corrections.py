"""Corrections: p values adjusted for how many were looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

Correction = Literal["holm", "bonferroni", "bh", "none"]
CORRECTIONS: tuple[Correction, ...] = get_args(Correction)


def holm(p: Sequence[float] | Floats) -> Floats:
    """Holm's step-down: the smallest of m is multiplied by m, the next by m - 1, ...; never falling, at most 1.

    With adjusted values up to .05 called different, the chance of calling any two equal systems different is 5%.

    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    values = _checked(p)
    order = np.argsort(values, kind="stable")
    stepped = np.maximum.accumulate(values[order] * np.arange(len(values), 0, -1))
    return _back(stepped, order)


def adjust(p: Sequence[float] | Floats, method: Correction = "holm") -> Floats:
    """p adjusted by a method.

    `holm` and `bonferroni` hold the chance of any false difference, `bh` (Benjamini-Hochberg) the expected share of
    false ones among those called different; `none` leaves p as it is.
    """
    if method == "holm":
        return holm(p)
    values = _checked(p)
    if method == "none":
        return values
    if method == "bonferroni":
        return np.minimum(values * len(values), 1.0)
    if method != "bh":
        raise ValueError(f"method={method!r} is not one of {', '.join(CORRECTIONS)}")
    order = np.argsort(values, kind="stable")[::-1]
    shares = values[order] * len(values) / np.arange(len(values), 0, -1)
    return _back(np.minimum.accumulate(shares), order)


def _checked(p: Sequence[float] | Floats) -> Floats:
    values = np.array(p, np.float64)
    if values.ndim != 1 or not ((values >= 0) & (values <= 1)).all():
        raise ValueError("p values are a row of numbers from 0 to 1")
    return values


def _back(stepped: Floats, order: NDArray[np.intp]) -> Floats:
    adjusted = np.empty_like(stepped)
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted
