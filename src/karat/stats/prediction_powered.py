"""Prediction-powered means: people's labels on some rows, a judge's scores on all of them.

The judge's mean over all rows is corrected by what people say where they looked: people's mean, moved along the
regression of labels on scores to the judge's mean over all rows. Angelopoulos, Bates and others call it
prediction-powered inference with a tuned weight (PPI++); survey samplers know it as the regression estimator in double
sampling. A judge that tells nothing gets a weight near 0, and one that runs against people a weight of 0.

Intervals are Student's t, with the regression's own uncertainty in them. Labels of two values vary too little in
small samples: there, half a row in each of the four combinations of label and score is added before the interval is
taken, never to the mean. See docs/decisions/019-calibration.md for the coverage of this and of what was rejected.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from karat.stats.arrays import Floats
from karat.stats.tails import t_quantile

FEWEST = 5  # labels from which a judge is corrected
_NOTHING = 1e-12
_ADDED = 0.5  # weight of each added row


@dataclass(frozen=True)
class Estimate:
    """A mean with its 95% interval; no interval where nothing tells how far rows vary."""

    mean: float
    low: float | None
    high: float | None
    weight: float = 0.0  # of the judge: the slope of labels on its scores


def people_mean(labels: Floats, ends: tuple[float, float] | None = None) -> Estimate:
    """The mean of labels alone. `ends` are their two values where there are no more than two."""
    return _estimate(labels, None, np.empty(0), ends)


def powered_mean(
    labels: Floats, scores: Floats, others: Floats, ends: tuple[float, float] | None = None
) -> Estimate | None:
    """The mean of all rows by labels, the judge's scores of the same rows, and its scores of the rows without labels.

    None of fewer than FEWEST labels. Rows must have been taken for labelling at random.
    """
    if len(labels) != len(scores):
        raise ValueError(f"{len(labels)} labels for {len(scores)} scores")
    return _estimate(labels, scores, others, ends) if len(labels) >= FEWEST else None


def effective_labels(labels: int, people: Estimate, powered: Estimate) -> float | None:
    """How many labels alone would give an interval as narrow."""
    if people.low is None or people.high is None or powered.low is None or powered.high is None:
        return None
    width = powered.high - powered.low
    return labels * ((people.high - people.low) / width) ** 2 if width > _NOTHING else None


def _estimate(labels: Floats, scores: Floats | None, others: Floats, ends: tuple[float, float] | None) -> Estimate:
    x = np.zeros(len(labels)) if scores is None or not len(others) else scores
    every = np.concatenate([x, others])
    weights = np.ones(len(labels))
    mean, _, slope, _ = _fit(labels, x, weights, every)
    y = labels
    if ends is not None:
        least, most = float(every.min()), float(every.max())
        y = np.concatenate([y, np.repeat(ends, 2)])
        x = np.concatenate([x, [least, most, least, most]])
        weights = np.concatenate([weights, np.full(4, _ADDED)])
    centre, square, _, freedom = _fit(y, x, weights, every)
    if freedom < 1 or square <= _NOTHING**2:
        return Estimate(mean, None, None, slope)
    reach = t_quantile(freedom) * square**0.5
    return Estimate(mean, min(mean, centre - reach), max(mean, centre + reach), slope)


def _fit(y: Floats, x: Floats, weights: Floats, every: Floats) -> tuple[float, float, float, int]:
    """The mean of y at the mean of `every` by a straight line, its squared error, the slope, degrees of freedom."""
    size = float(weights.sum())
    at, level = float(weights @ x) / size, float(weights @ y) / size
    spread = float(weights @ (x - at) ** 2)
    slope = max(0.0, float(weights @ ((x - at) * (y - level))) / spread) if spread > _NOTHING else 0.0
    away = float(every.mean()) - at
    rest = float(weights @ (y - level - slope * (x - at)) ** 2)
    freedom = round(size) - (2 if slope > 0 else 1)
    if freedom < 1:
        return level, 0.0, slope, freedom
    reached = away * away / spread if slope > 0 else 0.0
    square = rest / freedom * (1 / size + reached)
    if slope > 0 and len(every) > 1:
        square += slope * slope * float(every.var(ddof=1)) / len(every)
    return level + slope * away, square, slope, freedom
