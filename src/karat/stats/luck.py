"""Luck: how far the best of equal cells comes out ahead, by being picked after the fact.

A test of two cells does not know that one of them was picked because it leads. Among 55 equal cells the luckiest seems
better than some other, at 5% and after Holm, in a third of all studies. So the picking is repeated under the
assumption that all cells are equal: each question's deviations from its mean over the cells get a sign at random, the
same for all cells, the best is picked anew, and its largest lead is kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from karat.stats.folds import mean_known
from karat.stats.permutation import DRAWS, SUMS, drawn_signs

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


def lucky(values: Floats, best: int, *, draws: int = DRAWS, seed: int = 0, higher_is_better: bool = True) -> Floats:
    """For each row of `values` (cells x questions) the chance that luck alone puts the best as far ahead of another.

    Leads are in standard errors, so that cells which hardly differ count for what they are. (count + 1) / (draws + 1);
    1 for the best itself and for cells equal to it. What is not finite is taken for the question's mean.
    """
    cells, questions = values.shape
    if cells < 2 or questions == 0:
        return np.ones(cells)
    with np.errstate(invalid="ignore"):
        deviation = np.nan_to_num(values - mean_known(values)[None, :], nan=0.0, posinf=0.0, neginf=0.0)
    if not higher_is_better:
        deviation = -deviation
    gram = deviation @ deviation.T
    own = np.diag(gram)
    square = own[:, None] + own[None, :] - 2 * gram
    floor = 1e-12 * max(float(own.max()), 1e-300)
    with np.errstate(divide="ignore"):
        inverse = np.where(square > floor, 1 / np.sqrt(np.maximum(square, floor)), 0.0)
    total = deviation.sum(axis=1)
    seen = (total[best] - total) * inverse[best]
    leads = np.concatenate([_leads(part @ deviation.T, inverse) for part in _parts(questions, cells, draws, seed)])
    ordered = np.sort(leads)
    reached = draws - np.searchsorted(ordered, seen - 1e-9, side="left")
    return np.where(seen > 0, (reached + 1) / (draws + 1), 1.0)


def _leads(sums: Floats, inverse: Floats) -> Floats:
    """The largest lead of the best of each draw."""
    picked = sums.argmax(axis=1)
    ahead = (sums[np.arange(len(sums)), picked][:, None] - sums) * inverse[picked]
    largest: Floats = ahead.max(axis=1)
    return largest


def _parts(questions: int, cells: int, draws: int, seed: int) -> Iterator[Floats]:
    """The signs in parts whose sums fit into memory."""
    most = max(1, SUMS // cells)
    for signs in drawn_signs(questions, draws, seed):
        for start in range(0, len(signs), most):
            yield signs[start : start + most]
