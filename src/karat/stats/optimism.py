"""Optimism: what the best of many configurations owes to being picked on the questions it is scored on.

Cross-validation says how much: configurations picked on all folds but one and scored on that one. And a test of two
configurations does not know that one of them was picked because it leads: among 55 equal ones the best seems better
than some other, at 5% and after Holm, in a third of all studies. So the picking is repeated under the assumption that
all are equal: each question's deviations from its mean over the configurations get a sign at random, the same for all,
the best is picked anew, and its largest lead is kept.

Everywhere here a higher value is better.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from karat.io.threads import threads_for
from karat.stats.arrays import TIE, Bools, Floats, Ints, cluster_sums, codes, grouped, mean_known
from karat.stats.permutation import DRAWS
from karat.stats.signs import SUMS, drawn_signs

FOLDS = 5
REPEATS = 10


@dataclass(frozen=True, kw_only=True)
class CrossValidated:
    """What picking on other questions gives: the mean value of each question, and how often each row was picked.

    `optimism` is how far the mean of the best on the same questions lies above it.
    """

    values: Floats
    optimism: float
    picks: tuple[tuple[int, int], ...]  # row -> folds that picked it, most first
    folds: int


def cross_validate(
    values: Floats,
    best: int,
    allowed: Bools,
    strata: Sequence[object] | None = None,
    seed: int = 0,
    clusters: Ints | None = None,
) -> CrossValidated | None:
    """Rows of `values` (configurations x questions) picked among the `allowed` on all folds but one, scored on that.

    Over questions where any of them has a value; None where fewer than two have, or none is left to compare `best` on.
    `clusters` is the number of each question's conversation: all its turns stand in one fold, by the commonest stratum.
    """
    known = np.isfinite(values[allowed]).any(axis=0)
    values = values[:, known]
    repeats, questions = REPEATS, values.shape[1]
    groups = None if clusters is None else grouped(clusters[known])
    if questions < 2 or (groups is not None and groups.max() < 1):
        return None
    stratum = codes(strata)[known] if strata is not None else np.zeros(questions, np.int64)
    if groups is None:
        dealt = assign_folds(stratum, seed)
    else:
        counts = np.zeros((groups.max() + 1, stratum.max() + 1))
        np.add.at(counts, (groups, stratum), 1)
        dealt = assign_folds(counts.argmax(axis=1), seed)[:, groups]
    folds = int(dealt.max()) + 1
    training = (dealt[:, None, :] != np.arange(folds)[None, :, None]).reshape(-1, questions)
    picks = best_rows(values, training, allowed)
    picked = np.take_along_axis(picks.reshape(repeats, folds), dealt, axis=1)
    scored = mean_known(np.where(picked >= 0, values[picked, np.arange(questions)], np.nan))
    both = np.isfinite(scored) & np.isfinite(values[best])
    if not both.any():
        return None
    gap = float(values[best, both].mean() - scored[both].mean())
    counted = sorted(Counter(picks[picks >= 0].tolist()).items(), key=lambda item: (-item[1], item[0]))
    optimism = gap if abs(gap) > TIE else 0.0  # rounding is no optimism
    return CrossValidated(values=scored, optimism=optimism, picks=tuple(counted), folds=folds)


def assign_folds(strata: Ints, seed: int = 0) -> Ints:
    """The fold of every question, once for each repeat (repeats x questions), by the stratum of each question.

    Each fold gets its share of every stratum, and all folds are of equal size, both within one question. There are no
    more folds than questions.
    """
    questions = len(strata)
    stream = np.random.PCG64(seed)
    dealt = np.empty((REPEATS, questions), np.int64)
    for row in dealt:
        shuffled = np.lexsort((np.asarray(stream.random_raw(questions)), strata))
        row[shuffled] = np.arange(questions) % min(FOLDS, max(questions, 1))
    return dealt


def best_rows(values: Floats, among: Bools, allowed: Bools) -> Ints:
    """For each row of `among` (sets x questions) the allowed row of `values` with the best mean over those questions.

    Of equal means the earlier row is taken; -1 where no row has a value. What is not finite is left out.
    """
    known = np.isfinite(values)
    counting = among.T.astype(np.float64)
    with threads_for(values.size * len(among)):
        sums = np.where(known, values, 0.0) @ counting
        counts = (known & allowed[:, None]).astype(np.float64) @ counting
    means = np.where(counts > 0, sums / np.where(counts > 0, counts, 1.0), -np.inf)
    most = means.max(axis=0, initial=-np.inf)
    first = np.argmax(means >= most - TIE, axis=0).astype(np.int64)
    return np.where(np.isfinite(most), first, -1)


def selection_p(
    values: Floats,
    best: int,
    *,
    mean: Floats | None = None,
    draws: int = DRAWS,
    seed: int = 0,
    clusters: Ints | None = None,
) -> Floats:
    """For each row of `values` (configurations x questions) the chance that picking puts the best as far ahead of it.

    Leads are in standard errors, so that rows which hardly differ count for what they are. (count + 1) / (draws + 1);
    1 for the best itself and for rows equal to it. What is not finite is taken for the question's mean, `mean` where
    rows stand for several configurations. Signs are those of whole conversations, where `clusters` numbers them.
    """
    rows, questions = values.shape
    if rows < 2 or questions == 0:
        return np.ones(rows)
    deviation = np.where(np.isfinite(values), values - (mean_known(values) if mean is None else mean), 0.0)
    groups = grouped(clusters)
    if groups is not None:
        deviation = cluster_sums(deviation, groups)
        questions = deviation.shape[1]
    own = np.einsum("rq,rq->r", deviation, deviation)
    floor = 1e-12 * max(float(own.max()), 1e-300)

    most = max(1, SUMS // rows)  # draws, and picked rows, whose numbers are held

    def inverse(picked: int) -> Floats:
        """1 by the standard error of the lead of a picked row over every other."""
        square = own[picked] + own - 2 * (deviation @ deviation[picked])
        return np.where(square > floor, 1 / np.sqrt(np.maximum(square, floor)), 0.0)

    inverse_of = lru_cache(maxsize=most)(inverse)

    def largest_leads(sums: Floats) -> Floats:
        """The largest lead of the best of each draw. Few rows are ever the best: only theirs are worked out."""
        picked, place = np.unique(sums.argmax(axis=1), return_inverse=True)
        ahead = (sums.max(axis=1, keepdims=True) - sums) * np.stack([inverse_of(row) for row in picked.tolist()])[place]
        largest: Floats = ahead.max(axis=1)
        return largest

    total = deviation.sum(axis=1)
    seen = (total[best] - total) * inverse(best)
    with threads_for(SUMS * min(rows, questions)):
        leads = [
            largest_leads(signs[start : start + most] @ deviation.T)
            for signs in drawn_signs(questions, draws, seed)
            for start in range(0, len(signs), most)
        ]
    reached = draws - np.searchsorted(np.sort(np.concatenate(leads)), seen - 1e-9, side="left")
    return np.where(seen > 0, (reached + 1) / (draws + 1), 1.0)
