"""Tukey: the randomised Tukey HSD test of all pairs of many systems at once, paired by question.

If all systems were the same, the scores of a question could as well belong to them in any order. Each draw shuffles
them within every question and keeps the distance between the best and the worst mean; p of a pair is the share of
draws in which that distance reaches the one between the two: (count + 1) / (draws + 1). It holds the chance of any
false difference among the pairs of a measure, without a further correction.

Where shuffling would take too long (`CELLS`), the means are drawn from what they tend to with many questions: normal,
with the variance that shuffling gives, which is the same for all systems.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from karat.stats.arrays import Floats, Ints, cluster_sums, grouped
from karat.stats.permutation import DRAWS

CELLS = 60_000_000  # systems x questions x draws up to which scores are shuffled
_HELD = 2**19
_NEAR = 1e-9  # of the largest distance: sums that are equal on paper


def tukey(
    values: Floats, *, draws: int = DRAWS, seed: int = 0, cells: int = CELLS, clusters: Ints | None = None
) -> Floats:
    """p of each pair of rows of `values` (systems x questions), as a square table.

    Only questions that every system has a value for count; of fewer than two systems or without such a question all p
    are 1. `clusters` is the number of each question's conversation: systems are shuffled within a conversation, all of
    its turns together.
    """
    counted = np.isfinite(values).all(axis=0)
    groups = None if clusters is None else grouped(clusters[counted])
    values = values[:, counted] if groups is None else cluster_sums(values[:, counted], groups)
    systems, questions = values.shape
    if systems < 2 or questions == 0:
        return np.ones((systems, systems))
    sums = values.sum(axis=1)
    apart = np.abs(sums[:, None] - sums[None, :])
    limit = systems * questions * draws > cells
    ranges = np.sort(np.concatenate(list(_limits(values, draws, seed) if limit else _shuffled(values, draws, seed))))
    reached = draws - np.searchsorted(ranges, apart - _NEAR * max(float(ranges[-1]), 1e-300), side="left")
    p: Floats = (reached + 1.0) / (draws + 1.0)
    p[apart <= _NEAR * max(float(np.abs(values).max()), 1e-300)] = 1.0
    return p


def _shuffled(values: Floats, draws: int, seed: int) -> Iterator[Floats]:
    """Largest distances between sums of scores that are shuffled within their questions, some draws at a time.

    Shuffled as Fisher and Yates do, on the raw stream of PCG64, which numpy keeps fixed.
    """
    systems, questions = values.shape
    stream = np.random.PCG64(seed)
    size = max(1, _HELD // (systems * questions))
    for start in range(0, draws, size):
        many = min(size, draws - start)
        mixed = np.tile(values[:, None, :], (1, many, 1)).reshape(systems, -1)
        columns = np.arange(many * questions)
        for last in range(systems - 1, 0, -1):
            raw = np.asarray(stream.random_raw((len(columns) + 1) // 2), "<u8").view("<u4")[: len(columns)]
            other = (raw.astype(np.int64) * (last + 1)) >> 32
            taken = mixed[other, columns]
            mixed[other, columns] = mixed[last]
            mixed[last] = taken
        yield np.ptp(mixed.reshape(systems, many, questions).sum(axis=2), axis=0)


def _limits(values: Floats, draws: int, seed: int) -> Iterator[Floats]:
    """The same from normal values: shuffling gives each system the variance of the scores within every question."""
    systems = len(values)
    variance = float(((values - values.mean(axis=0)) ** 2).sum()) / (systems - 1)
    raw = np.asarray(np.random.PCG64(seed).random_raw(2 * draws * systems), "<u8")
    uniform = ((raw >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53
    one, two = uniform.reshape(2, draws, systems)
    normal = np.sqrt(-2.0 * np.log(one)) * np.cos(2.0 * np.pi * two)
    yield np.sqrt(variance) * np.ptp(normal, axis=1)
