"""Intervals of means: how often they hold the true mean, and how wide they are.

Seed, sizes and distributions were fixed before the first run. 0/1 means are exact (a binomial sum over every number
of successes), averaged over true means from .005 to .995. Graded values are simulated. Also: the analytic interval
against the one of 10,000 draws, and how often the best of equal configurations is called better.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist

import numpy as np

SEED, STUDIES = 20270214, 10_000
SIZES = (10, 20, 50, 72)
LARGE, SAMPLES = (1_000, 7_000), 8
FAMILIES, QUESTIONS, EQUALS = 400, 100, (5, 11, 55)  # studies, questions, equal configurations

Draw = Callable[[np.random.Generator, tuple[int, int]], np.ndarray]


def recall(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    """Two gold units a question: none, one or both found."""
    return rng.choice([0.0, 0.5, 1.0], shape, p=[0.03, 0.07, 0.90])


def mixture(zeros: float, a: float, b: float) -> Draw:
    """F1 of words: a share of zeros, the rest beta distributed."""
    return lambda rng, shape: np.where(rng.random(shape) < zeros, 0.0, rng.beta(a, b, shape))


def moments(zeros: float, a: float, b: float) -> tuple[float, float]:
    mean = a / (a + b)
    second = mean * (a + 1) / (a + b + 1)
    whole = (1 - zeros) * mean
    return whole, math.sqrt((1 - zeros) * second - whole**2)


MIXTURES = {
    "F1, 10% zeros, Beta(4, 2)": (0.10, 4.0, 2.0),
    "F1, 33% zeros, Beta(1.2, 3)": (0.33, 1.2, 3.0),
    "F1, 70% zeros, Beta(2, 3)": (0.70, 2.0, 3.0),
}
MODELS: dict[str, tuple[Draw, float, float]] = {
    "recall 0, .5, 1 (.03, .07, .90)": (recall, 0.935, math.sqrt(0.07 / 4 + 0.9 - 0.935**2)),
    **{name: (mixture(*what), *moments(*what)) for name, what in MIXTURES.items()},
}


def mark(kept: bool) -> str:
    return "ok  " if kept else "MISS"


def binary() -> None:
    """0/1 means: the coverage of every true mean by a binomial sum."""
    from karat.stats.intervals import mean_intervals

    true = np.arange(0.005, 1.0, 0.01)
    for n in SIZES:
        low, high = mean_intervals((np.arange(n) < np.arange(n + 1)[:, None]).astype(float), (0.0, 1.0))
        hits = np.arange(n + 1)
        ways = np.array([math.comb(n, x) for x in hits], float)
        chance = ways[:, None] * true ** hits[:, None] * (1 - true) ** (n - hits[:, None])
        cover = (chance * ((low[:, None] <= true) & (true <= high[:, None]))).sum(axis=0)
        least = true[cover.argmin()]
        print(
            f"{mark(0.94 <= cover.mean() <= 0.96)} 0/1 means, n = {n:<3} coverage {cover.mean():.4f} (goal .94 to .96),"
            f" least {cover.min():.4f} at a mean of {least:.3f}; all right: [{low[-1]:.3f}, {high[-1]:.3f}]"
        )


def graded() -> None:
    from karat.stats.intervals import mean_intervals

    for number, (name, (draw, mean, deviation)) in enumerate(MODELS.items()):
        for n in SIZES:
            rows = draw(np.random.default_rng([SEED, number, n]), (STUDIES, n))
            low, high = mean_intervals(rows, (0.0, 1.0))
            cover = float(np.mean((low <= mean) & (mean <= high)))
            width = float(np.mean(high - low)) / (2 * 1.96 * deviation / math.sqrt(n))
            kept = cover >= 0.93 and width <= 1.4
            print(
                f"{mark(kept)} {name:<33} n = {n:<3} coverage {cover:.4f} (goal .93), "
                f"width {width:.2f} of 2 * 1.96 standard errors (goal 1.4)"
            )


def analytic() -> None:
    """The ends of the analytic interval against those of 10,000 draws by scipy, in shares of the width.

    Beside it how far two seeds of the draws are apart. Discrete sums of few values step; the goal is for large samples.
    """
    from scipy.stats import bootstrap

    from karat.stats.intervals import abc_intervals, student_reach

    def drawn(row: np.ndarray, seed: int) -> tuple[float, float]:
        level = 1 - 2 * NormalDist().cdf(-student_reach(len(row)))
        rng = np.random.default_rng(seed)
        found = bootstrap((row,), np.mean, n_resamples=10_000, batch=200, confidence_level=level, method="BCa", rng=rng)
        low, high = found.confidence_interval
        return float(low), float(high)

    for number, (name, what) in enumerate(MIXTURES.items()):
        for n in (30, 133, *LARGE):
            rows = mixture(*what)(np.random.default_rng([SEED, 100 + number, n]), (SAMPLES, n))
            first, second = (np.array([drawn(row, seed) for row in rows]).T for seed in (0, 1))
            width = first[1] - first[0]
            apart = np.abs(np.array(abc_intervals(rows)) - first) / width
            noise = np.abs(second - first) / width
            print(
                f"{mark(n < min(LARGE) or apart.max() <= 0.03)} {name:<33} n = {n:<5} analytic against drawn ends: at "
                f"most {apart.max():.2%} of the width, {apart.mean():.2%} on average ({SAMPLES} samples, goal 3% from "
                f"{min(LARGE):,}); two seeds: {noise.max():.2%}, {noise.mean():.2%}"
            )


def choice() -> None:
    """How often the best of equal configurations is called better than any other."""
    from karat.stats.choose import cells_of, choose

    for many in EQUALS:
        rng = np.random.default_rng([SEED, 200, many])
        wrong = 0
        for _ in range(FAMILIES):
            values = rng.normal(0, 1, (many, QUESTIONS))
            cells = cells_of([(str(i), "score", None) for i in range(many)], values)
            chosen = choose("score", cells, values)
            wrong += bool(chosen and chosen.beaten)
        rate = wrong / FAMILIES
        print(
            f"{mark(rate <= 0.065)} {many} equal configurations, {QUESTIONS} questions: the best is called better than "
            f"another in {rate:.2%} of {FAMILIES} studies (goal at most 6.5%)"
        )


def main() -> None:
    binary()
    graded()
    analytic()
    choice()
