"""Folds: questions dealt into parts, and the cell that is best on some of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from karat.stats.permutation import TIE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Bools = NDArray[np.bool_]

FOLDS = 5
REPEATS = 10
ENOUGH = 0.9


def deal(
    questions: int,
    strata: Sequence[str | None] | None = None,
    *,
    folds: int = FOLDS,
    repeats: int = REPEATS,
    seed: int = 0,
) -> Ints:
    """The fold of every question, once for each repeat (repeats x questions).

    Each fold gets its share of every stratum (a kind of question, None being one too), and all folds are of equal size,
    both within one question. There are no more folds than questions.
    """
    if folds < 2 or repeats < 1:
        raise ValueError(f"folds={folds}, repeats={repeats}: there are 2 folds or more, dealt once or more")
    folds = min(folds, max(questions, 1))
    numbers = {value: i for i, value in enumerate(dict.fromkeys(strata or ()))}
    stratum = np.array([numbers[value] for value in strata], np.int64) if strata else np.zeros(questions, np.int64)
    if len(stratum) != questions:
        raise ValueError(f"{len(stratum)} strata for {questions} questions")
    stream = np.random.PCG64(seed)
    dealt = np.empty((repeats, questions), np.int64)
    for row in dealt:
        shuffled = np.lexsort((np.asarray(stream.random_raw(questions)), stratum))
        row[shuffled] = np.arange(questions) % folds
    return dealt


def full_enough(values: Floats) -> Bools:
    """Which rows may be chosen: those with nine tenths of the values that the fullest row has.

    The mean of a row that lacks more is over other questions, and one lucky question would win.
    """
    n = np.isfinite(values).sum(axis=1)
    full: Bools = (n > 0) & (n >= ENOUGH * n.max(initial=0))
    return full


def best_rows(
    values: Floats, among: Bools | Floats, *, allowed: Bools | None = None, higher_is_better: bool = True
) -> Ints:
    """For each row of `among` (sets x questions) the row of `values` with the best mean over those questions.

    `among` says which questions count, or how much each does. Of equal means the earlier row is taken; -1 where no
    row has a value. NaN is left out.
    """
    known = np.isfinite(values)
    counting = among.T.astype(np.float64)
    sums = np.where(known, values, 0.0) @ counting
    counts = known.astype(np.float64) @ counting
    sign = 1.0 if higher_is_better else -1.0
    means = np.where(counts > 0, sign * sums / np.where(counts > 0, counts, 1.0), -np.inf)
    if allowed is not None:
        means[~allowed] = -np.inf
    if not len(means):
        return np.full(len(among), -1, np.int64)
    most = means.max(axis=0)
    first = np.argmax(means >= most - TIE, axis=0).astype(np.int64)
    return np.where(np.isfinite(most), first, -1)


def training(dealt: Ints) -> Bools:
    """The questions outside each fold of each repeat, repeats first (sets x questions)."""
    folds = int(dealt.max(initial=0)) + 1
    outside: Bools = dealt[:, None, :] != np.arange(folds)[None, :, None]
    return outside.reshape(-1, dealt.shape[1])


def held_out(values: Floats, dealt: Ints, picks: Ints) -> Floats:
    """For each repeat and question the value of the row that was picked without that question (repeats x questions).

    `picks` holds a row for each set of `training(dealt)`, in its order.
    """
    repeats, questions = dealt.shape
    picked = np.take_along_axis(picks.reshape(repeats, -1), dealt, axis=1)
    return np.where(picked >= 0, values[picked, np.arange(questions)], np.nan)


def mean_known(rows: Floats) -> Floats:
    """The mean of each column over the rows that have a value; NaN where none has."""
    known = np.isfinite(rows)
    many = known.sum(axis=0)
    return np.where(many > 0, np.where(known, rows, 0.0).sum(axis=0) / np.maximum(many, 1), np.nan)
