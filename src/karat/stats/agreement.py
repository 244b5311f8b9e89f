"""Agreement: how far raters, or a judge and people, say the same, beyond what chance would give."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from karat.stats.arrays import Bools, Floats, Ints
from karat.stats.tails import t_quantile

Metric = Literal["nominal", "ordinal", "interval", "ratio"]
Weights = Literal["linear", "quadratic"]
METRICS: tuple[Metric, ...] = get_args(Metric)
_NOTHING = 1e-12


def confusion(first: Ints, second: Ints, many: int) -> Ints:
    """How often the first rater gave the category of the row and the second that of the column."""
    return np.bincount(first * many + second, minlength=many * many).reshape(many, many).astype(np.int64)


def cohen_kappa(
    table: NDArray[np.number], values: Floats | None = None, weights: Weights = "quadratic"
) -> float | None:
    """Cohen's kappa of a confusion table; None where chance alone agrees fully.

    With the `values` of the categories a disagreement weighs as much as they are apart, or the square of that.
    """
    kappa = float(_kappas(np.asarray(table, np.float64)[None], _weights(table.shape[0], values, weights))[0])
    return None if np.isnan(kappa) else kappa


def _weights(many: int, values: Floats | None, weights: Weights) -> Floats:
    """What each disagreement of two categories weighs."""
    if values is None:
        return 1.0 - np.eye(many)
    apart: Floats = np.abs(values[:, None] - values[None, :])
    return apart if weights == "linear" else apart**2


def _kappas(tables: Floats, weights: Floats) -> Floats:
    """Kappa of each table; NaN where it is undefined."""
    total = tables.sum(axis=(1, 2))
    seen = (tables * weights).sum(axis=(1, 2))
    expected = np.einsum("ti,ij,tj->t", tables.sum(axis=2), weights, tables.sum(axis=1))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(expected > _NOTHING, 1.0 - seen * total / expected, np.nan)


def kappa_interval(
    tables: NDArray[np.number], values: Floats | None = None, weights: Weights = "quadratic"
) -> tuple[float, float] | None:
    """The 95% interval of kappa over groups (groups x category x category), by leaving out one group at a time.

    A group is a question: what several systems answer to it is not independent. None where there are fewer than three
    groups, where leaving one out leaves kappa undefined, and where it changes nothing.
    """
    each = np.asarray(tables, np.float64)
    many = len(each)
    whole = cohen_kappa(each.sum(axis=0), values, weights) if many > 2 else None
    if whole is None:
        return None
    without = _kappas(each.sum(axis=0)[None] - each, _weights(each.shape[1], values, weights))
    spread = float(((without - without.mean()) ** 2).sum() * (many - 1) / many)
    if not spread > _NOTHING:
        return None
    reach = t_quantile(many - 1) * spread**0.5
    return max(-1.0, whole - reach), min(1.0, whole + reach)


def krippendorff_alpha(ratings: Floats, metric: Metric = "nominal") -> float | None:
    """Krippendorff's alpha of raters x items, NaN where a rater gave no rating.

    Items with fewer than two ratings tell nothing and are left out. None where no item has two, or all ratings are
    the same: then there is nothing to agree about. None by ratio too where a rating is below 0, since ratios need a
    scale that begins at a true zero.
    """
    values, codes = np.unique(ratings[np.isfinite(ratings)], return_inverse=True)
    counts = np.zeros((ratings.shape[1], len(values)))
    np.add.at(counts, (np.nonzero(np.isfinite(ratings))[1], codes), 1.0)
    counts = counts[counts.sum(axis=1) > 1]
    if not len(counts) or (metric == "ratio" and values[0] < 0):
        return None
    pairs = counts.sum(axis=1) - 1
    together = (counts / pairs[:, None]).T @ counts - np.diag((counts / pairs[:, None]).sum(axis=0))
    often = together.sum(axis=1)
    distance = _distances(values, often, metric)
    expected = float(often @ distance @ often)
    if expected <= _NOTHING:
        return None
    return float(1.0 - (often.sum() - 1) * (together * distance).sum() / expected)


def _distances(values: Floats, often: Floats, metric: Metric) -> Floats:
    """Squared differences between values: same or not, by the ratings that lie between, by size, or by their sum."""
    if metric == "nominal":
        return 1.0 - np.eye(len(values))
    if metric == "interval":
        return np.asarray((values[:, None] - values[None, :]) ** 2, np.float64)
    if metric == "ratio":
        sums = values[:, None] + values[None, :]
        return np.asarray(((values[:, None] - values[None, :]) / np.where(sums > 0, sums, 1.0)) ** 2, np.float64)
    place = np.cumsum(often) - often / 2
    return np.asarray((place[:, None] - place[None, :]) ** 2, np.float64)


def spearman(first: Floats, second: Floats) -> float | None:
    """Spearman's rank correlation, ties at their mean rank; None of fewer than three, or where one is constant."""
    if len(first) < 3:
        return None
    a, b = (ranks - ranks.mean() for ranks in (mean_ranks(first), mean_ranks(second)))
    size = float(np.sqrt((a * a).sum() * (b * b).sum()))
    return float(np.clip((a * b).sum() / size, -1, 1)) if size > _NOTHING else None


def mean_ranks(values: Floats) -> Floats:
    """Ranks from 0, equal values at the mean of theirs."""
    _, place, often = np.unique(values, return_inverse=True, return_counts=True)
    ranks: Floats = (np.cumsum(often) - often + (often - 1) / 2.0)[place]
    return ranks


def mean_difference(differences: Floats, groups: Ints) -> tuple[float, float | None, float | None]:
    """The mean of differences and its 95% interval, where those of one group (a question) may go together.

    Student's t over groups; of one difference a group it is the classical interval. No ends of fewer than three groups,
    nor where all differences are the same.
    """
    mean = float(differences.mean())
    return _with_ends(mean, (differences - mean) / len(differences), groups)


def difference_between(
    differences: Floats, second: Bools, groups: Ints
) -> tuple[float | None, float | None, float | None]:
    """The mean of the `second` differences less that of the others, with its 95% interval as above.

    None where one of the two has no members; no ends where one has fewer than two.
    """
    many = int(second.sum()), int((~second).sum())
    if not min(many):
        return None, None, None
    means = float(differences[second].mean()), float(differences[~second].mean())
    pull = np.where(second, (differences - means[0]) / many[0], -(differences - means[1]) / many[1])
    gap = means[0] - means[1]
    return _with_ends(gap, pull, groups) if min(many) > 1 else (gap, None, None)


def _with_ends(estimate: float, pulls: Floats, groups: Ints) -> tuple[float, float | None, float | None]:
    """An estimate with its interval, by how far each row, and each group of rows together, pulls it."""
    _, place = np.unique(groups, return_inverse=True)
    off = np.bincount(place, pulls)
    many = len(off)
    square = float((off * off).sum()) * many / max(many - 1, 1)
    if many < 3 or square <= _NOTHING**2:
        return estimate, None, None
    reach = t_quantile(many - 1) * square**0.5
    return estimate, estimate - reach, estimate + reach
