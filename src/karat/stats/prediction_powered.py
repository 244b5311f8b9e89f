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

from karat.stats.arrays import Floats, Ints
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
    nothing = np.zeros(len(labels))
    return _estimate(labels, nothing, nothing, ends)


def powered_mean(
    labels: Floats, scores: Floats, others: Floats, ends: tuple[float, float] | None = None
) -> Estimate | None:
    """The mean of all rows by labels, the judge's scores of the same rows, and its scores of the rows without labels.

    None of fewer than FEWEST labels. Rows must have been taken for labelling at random.
    """
    if len(labels) != len(scores):
        raise ValueError(f"{len(labels)} labels for {len(scores)} scores")
    if len(labels) < FEWEST:
        return None
    used = scores if len(others) else np.zeros(len(labels))
    return _estimate(labels, used, np.concatenate([used, others]), ends)


def transferred_mean(
    labels: Floats, scores: Floats, groups: Ints, new: Floats, ends: tuple[float, float] | None = None
) -> Estimate | None:
    """The mean of rows of which none has a label, by labels of other rows and the judge's scores of both.

    It holds where new rows are drawn as the labelled ones were: the line of labels on scores is taken over. Labelled
    rows of one group (a question) may go together. None of fewer than FEWEST labels, without new rows, and where the
    judge tells nothing of the labels: then its scores of new rows tell nothing either.
    """
    if len(labels) < FEWEST or not len(new):
        return None
    estimate = _estimate(labels, scores, new, ends, groups)
    return estimate if estimate.weight > 0 else None


def effective_labels(labels: int, people: Estimate, powered: Estimate) -> float | None:
    """How many labels alone would give an interval as narrow."""
    if people.low is None or people.high is None or powered.low is None or powered.high is None:
        return None
    width = powered.high - powered.low
    return labels * ((people.high - people.low) / width) ** 2 if width > _NOTHING else None


def _estimate(
    labels: Floats, scores: Floats, every: Floats, ends: tuple[float, float] | None, groups: Ints | None = None
) -> Estimate:
    """The mean of labels at the mean of `every`, by their line on scores."""
    x, y, weights = scores, labels, np.ones(len(labels))
    mean, _, slope, _ = _fit(y, x, weights, every)
    if ends is not None:
        least, most = (float(end(np.concatenate([x, every]))) for end in (np.min, np.max))
        y = np.concatenate([y, np.repeat(ends, 2)])
        x = np.concatenate([x, [least, most, least, most]])
        weights = np.concatenate([weights, np.full(4, _ADDED)])
        if groups is not None:
            groups = np.concatenate([groups, groups.max() + 1 + np.arange(4)])
    centre, square, _, freedom = _fit(y, x, weights, every, groups)
    if freedom < 1 or square <= _NOTHING**2:
        return Estimate(mean, None, None, slope)
    reach = t_quantile(freedom) * square**0.5
    return Estimate(mean, min(mean, centre - reach), max(mean, centre + reach), slope)


def _fit(
    y: Floats, x: Floats, weights: Floats, every: Floats, groups: Ints | None = None
) -> tuple[float, float, float, int]:
    """The mean of y at the mean of `every` by a straight line, its squared error, the slope, degrees of freedom."""
    size = float(weights.sum())
    at, level = float(weights @ x) / size, float(weights @ y) / size
    spread = float(weights @ (x - at) ** 2)
    slope = max(0.0, float(weights @ ((x - at) * (y - level))) / spread) if spread > _NOTHING else 0.0
    away = float(every.mean()) - at
    off = y - level - slope * (x - at)
    freedom = round(size) - (2 if slope > 0 else 1)
    if freedom < 1:
        return level, 0.0, slope, freedom
    reached = away / spread if slope > 0 else 0.0
    square = float(weights @ off**2) / freedom * (1 / size + away * reached)
    if groups is not None:
        pulls = np.bincount(np.unique(groups, return_inverse=True)[1], weights * off * (1 / size + reached * (x - at)))
        many = len(pulls)
        freedom = min(freedom, many - 2)
        square = max(square, float(pulls @ pulls) * many / max(many - 1, 1))
    if slope > 0 and len(every) > 1:
        square += slope * slope * float(every.var(ddof=1)) / len(every)
    return level + slope * away, square, slope, freedom
