"""The order of systems: Kendall's tau of their means by two raters, and how far it depends on the questions."""

from __future__ import annotations

import math

import numpy as np

from karat.stats.arrays import Floats

DRAWS = 2_000
FEWEST_QUESTIONS = 10  # from which questions are drawn again
_DIGITS = 12  # means nearer than this are tied: sums of the same grades may end otherwise
_BLOCK = 2_000_000  # signs that are held at once


def kendall_tau(first: Floats, second: Floats) -> float | None:
    """Kendall's tau-b, ties counted as neither; None of fewer than two, or where one of them ties everything."""
    tau = float(_taus(first[None], second[None])[0])
    return None if np.isnan(tau) else tau


def tau_interval(first: Floats, second: Floats) -> tuple[float, float] | None:
    """The middle 95% of tau-b over questions drawn again, of systems x questions (NaN: not graded by both).

    None of fewer than three systems or FEWEST_QUESTIONS questions. The systems are taken as they are.
    """
    known = np.isfinite(first) & np.isfinite(second)
    rated = known.any(axis=0)
    first, second, known = first[:, rated], second[:, rated], known[:, rated]
    systems, questions = known.shape
    if systems < 3 or questions < FEWEST_QUESTIONS:
        return None
    random, even = np.random.default_rng(0), np.full(questions, 1 / questions)
    size = max(1, _BLOCK // max(systems**2, questions))
    tau_blocks = []
    for start in range(0, DRAWS, size):
        draws = random.multinomial(questions, even, min(size, DRAWS - start)).astype(np.float64)
        rows = draws @ known.T
        draws, rows = (part[(rows > 0).all(axis=1)] for part in (draws, rows))  # with an answer of every system
        means = [(draws @ np.where(known, values, 0.0).T) / rows for values in (first, second)]
        tau_blocks.append(_taus(*means))
    taus = np.concatenate(tau_blocks)
    taus = taus[np.isfinite(taus)]
    if len(taus) < DRAWS / 2:
        return None
    low, high = np.quantile(taus, (0.025, 0.975))
    return float(low), float(high)


def chance_of_order(systems: int) -> float:
    """How likely two orders of so many systems agree or disagree in full by chance: the least p of Kendall's test.

    >>> round(chance_of_order(4), 3), round(chance_of_order(5), 3)
    (0.083, 0.017)
    """
    return min(1.0, 2 / math.factorial(systems)) if systems < 100 else 0.0


def _taus(first: Floats, second: Floats) -> Floats:
    """Tau-b of each row of two arrays (draws x systems); NaN where it is undefined."""
    i, j = np.triu_indices(first.shape[1], 1)
    a, b = (np.sign(np.round(values[:, i], _DIGITS) - np.round(values[:, j], _DIGITS)) for values in (first, second))
    size = np.sqrt((a * a).sum(axis=1) * (b * b).sum(axis=1))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(size > 0, (a * b).sum(axis=1) / size, np.nan)
