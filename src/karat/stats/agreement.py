"""Agreement: how far raters, or a judge and people, say the same, beyond what chance would give."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from karat.stats.arrays import Floats, Ints
from karat.stats.tails import t_quantile

Metric = Literal["nominal", "ordinal", "interval"]
_NOTHING = 1e-12


def confusion(first: Ints, second: Ints, many: int) -> Ints:
    """How often the first rater gave the category of the row and the second that of the column."""
    return np.bincount(first * many + second, minlength=many * many).reshape(many, many).astype(np.int64)


def cohen_kappa(table: NDArray[np.number], values: Floats | None = None) -> float | None:
    """Cohen's kappa of a confusion table; None where chance alone agrees fully.

    With the `values` of the categories it is weighted by the square of their distance (quadratic weights).
    """
    kappa = float(_kappas(np.asarray(table, np.float64)[None], values)[0])
    return None if np.isnan(kappa) else kappa


def _kappas(tables: Floats, values: Floats | None) -> Floats:
    """Kappa of each table; NaN where it is undefined."""
    many = tables.shape[1]
    weights = 1.0 - np.eye(many) if values is None else (values[:, None] - values[None, :]) ** 2
    total = tables.sum(axis=(1, 2))
    seen = (tables * weights).sum(axis=(1, 2))
    expected = np.einsum("ti,ij,tj->t", tables.sum(axis=2), weights, tables.sum(axis=1))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(expected > _NOTHING, 1.0 - seen * total / expected, np.nan)


def kappa_interval(tables: NDArray[np.number], values: Floats | None = None) -> tuple[float, float] | None:
    """The 95% interval of kappa over groups (groups x category x category), by leaving out one group at a time.

    A group is a question: what several systems answer to it is not independent. None where there are fewer than three
    groups, where leaving one out leaves kappa undefined, and where it changes nothing.
    """
    each = np.asarray(tables, np.float64)
    many = len(each)
    whole = cohen_kappa(each.sum(axis=0), values) if many > 2 else None
    if whole is None:
        return None
    without = _kappas(each.sum(axis=0)[None] - each, values)
    spread = float(((without - without.mean()) ** 2).sum() * (many - 1) / many)
    if not spread > _NOTHING:
        return None
    reach = t_quantile(many - 1) * spread**0.5
    return max(-1.0, whole - reach), min(1.0, whole + reach)


def krippendorff_alpha(ratings: Floats, metric: Metric = "nominal") -> float | None:
    """Krippendorff's alpha of raters x items, NaN where a rater gave no rating.

    Items with fewer than two ratings tell nothing and are left out. None where no item has two, or all ratings are
    the same: then there is nothing to agree about.
    """
    values, codes = np.unique(ratings[np.isfinite(ratings)], return_inverse=True)
    counts = np.zeros((ratings.shape[1], len(values)))
    np.add.at(counts, (np.nonzero(np.isfinite(ratings))[1], codes), 1.0)
    counts = counts[counts.sum(axis=1) > 1]
    if not len(counts):
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
    """Squared differences between values: same or not, by the ratings that lie between, or by size."""
    if metric == "nominal":
        return 1.0 - np.eye(len(values))
    if metric == "interval":
        return np.asarray((values[:, None] - values[None, :]) ** 2, np.float64)
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
    _, place = np.unique(groups, return_inverse=True)
    off = np.bincount(place, differences - mean)
    many = len(off)
    square = float((off * off).sum()) * many / max(many - 1, 1) / len(differences) ** 2
    if many < 3 or square <= _NOTHING**2:
        return mean, None, None
    reach = t_quantile(many - 1) * square**0.5
    return mean, mean - reach, mean + reach
