"""Calibration error: how far a system's confidence is from how often it is right."""

from __future__ import annotations

from typing import Literal

import numpy as np

from karat.results.calibration import Bin
from karat.stats.agreement import mean_ranks
from karat.stats.arrays import Floats

BINS = 10
By = Literal["width", "mass"]


def reliability(confidence: Floats, correct: Floats, *, bins: int = BINS, by: By = "width") -> tuple[Bin, ...]:
    """The bins that hold any answers: mean confidence and share of right answers in each.

    By width a bin is a tenth of the scale, a confidence on an edge in the higher one; by mass it holds as many answers
    as any other, equal confidences never parted.
    """
    if by == "width":
        place = np.searchsorted(np.arange(1, bins) / bins, confidence, side="right")
    else:
        place = np.floor((mean_ranks(confidence) + 0.5) / max(len(confidence), 1) * bins).astype(np.int64)
    filled = []
    for number in np.unique(place).tolist():
        own, right = confidence[place == number], correct[place == number]
        low, high = (number / bins, (number + 1) / bins) if by == "width" else (float(own.min()), float(own.max()))
        filled.append(Bin(low=low, high=high, n=len(own), confidence=float(own.mean()), accuracy=float(right.mean())))
    return tuple(filled)


def expected_calibration_error(bins: tuple[Bin, ...]) -> float:
    """The mean distance of confidence and share of right answers, each bin weighted by its size."""
    total = sum(one.n for one in bins)
    return sum(one.n * abs(one.confidence - one.accuracy) for one in bins) / total


def brier(confidence: Floats, correct: Floats) -> float:
    """The mean squared distance of confidence from 1 for a right answer and 0 for a wrong one."""
    return float(((confidence - correct) ** 2).mean())
