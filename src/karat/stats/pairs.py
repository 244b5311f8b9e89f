"""Pairs: two systems over the same questions, by how much they differ and how sure that is."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from karat.results.comparison import Pair
from karat.stats.common_draws import differences, drawn_pairs
from karat.stats.corrections import Correction, adjust
from karat.stats.folds import mean_known
from karat.stats.permutation import DRAWS, TIE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

LEVEL = 0.05  # an adjusted p up to this tells two systems apart
MOST_DRAWS = 100_000


def pairs(
    measure: str,
    names: Sequence[str],
    values: Floats,
    chosen: Sequence[tuple[int, int]] | None = None,
    *,
    ids: Sequence[str] | None = None,
    seed: int = 0,
    method: Correction = "holm",
    higher_is_better: bool = True,
) -> tuple[Pair, ...]:
    """Each chosen pair (a, b) of rows of `values` (systems x questions): b - a over the questions both have.

    All pairs without `chosen`, in the order of the names. The correction is over the pairs of this call. What is not
    finite is no value; of a pair without a common question there is no difference and p is 1. Signs are drawn in the
    order of the questions' `ids`, so that p and interval are those of `karat compare`.
    """
    if values.shape[0] != len(names):
        raise ValueError(f"{len(names)} names for {values.shape[0]} rows of values")
    asked = list(combinations(range(len(names)), 2)) if chosen is None else list(chosen)
    if not asked:
        return ()
    first, second = np.array(asked, np.int64).T
    ordered = values if ids is None else values[:, np.argsort(np.array(ids))]
    drawn = drawn_pairs(ordered[None], asked, draws=draws_for(len(asked)), seed=seed)
    p, low, high = drawn.p[0], drawn.low[0], drawn.high[0]
    adjusted = adjust(p, method)
    apart = differences(values, first, second)
    n, mean = np.isfinite(apart).sum(axis=1), mean_known(apart.T)
    gain = apart if higher_is_better else -apart
    wins, losses = (gain > TIE).sum(axis=1), (gain < -TIE).sum(axis=1)
    return tuple(
        Pair(
            measure=measure,
            a=names[a],
            b=names[b],
            n=int(n[i]),
            difference=None if np.isnan(mean[i]) else float(mean[i]),
            low=None if np.isnan(low[i]) else float(low[i]),
            high=None if np.isnan(high[i]) else float(high[i]),
            p=float(p[i]),
            adjusted=float(adjusted[i]),
            wins=int(wins[i]),
            ties=int(n[i] - wins[i] - losses[i]),
            losses=int(losses[i]),
        )
        for i, (a, b) in enumerate(asked)
    )


def draws_for(many: int) -> int:
    """Draws enough for so many tests at once.

    The smallest p that draws can give is 1 / (draws + 1), and a correction multiplies it by the number of tests: from
    250 tests on, 10,000 draws could hardly tell anything apart.
    """
    return min(max(DRAWS, 40 * many), MOST_DRAWS)
