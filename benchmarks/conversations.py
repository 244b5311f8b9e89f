"""Turns of conversations: error rates of tests and coverage of intervals, by turn and by conversation.

Seed, sizes and distributions were fixed before the first run. Turns of a conversation are alike (intraclass correlation
.3): it is easy or hard, and it suits one system or the other, at random. Two systems that do not differ, with sizes of
5 turns each and of 1 to 9; true means that are known. By turn stands for what is found when every turn is taken for a
question of its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

SEED, STUDIES, DRAWS = 20261118, 4_000, 999
ICC, TURNS = 0.3, 5
SIZES = (40, 60)  # conversations
REJECTS, COVERS = 0.065, 0.93
BOUNDS = (0.0, 1.0)

Draw = Callable[[np.random.Generator, int, np.ndarray], np.ndarray]


def alike(rng: np.random.Generator, studies: int, clusters: np.ndarray) -> np.ndarray:
    """Standard normal numbers, studies x turns, correlated within conversations."""
    of_conversation = rng.normal(0, 1, (studies, clusters.max() + 1))[:, clusters]
    return math.sqrt(ICC) * of_conversation + math.sqrt(1 - ICC) * rng.normal(0, 1, (studies, len(clusters)))


def right(share: float) -> Draw:
    """0 or 1: the share of answers that are right is beta distributed over conversations."""
    whole = 1 / ICC - 1

    def draw(rng: np.random.Generator, studies: int, clusters: np.ndarray) -> np.ndarray:
        shares = rng.beta(share * whole, (1 - share) * whole, (studies, clusters.max() + 1))
        return (rng.random((studies, len(clusters))) < shares[:, clusters]).astype(float)

    return draw


def skewed(rng: np.random.Generator, studies: int, clusters: np.ndarray) -> np.ndarray:
    """F1 of words: a third are 0, the rest Beta(1.2, 3) distributed."""
    from scipy.special import betaincinv, ndtr

    place = (ndtr(alike(rng, studies, clusters)) - 1 / 3) / (2 / 3)
    return np.where(place < 0, 0.0, betaincinv(1.2, 3.0, np.clip(place, 0.0, 1.0)))


MODELS: dict[str, tuple[Draw, float, tuple[float, float]]] = {
    "normal": (alike, 0.0, (-math.inf, math.inf)),
    "0 or 1, mean .6": (right(0.6), 0.6, BOUNDS),
    "0 or 1, mean .9": (right(0.9), 0.9, BOUNDS),
    "F1, a third 0": (skewed, 2 / 3 * 1.2 / 4.2, BOUNDS),
}


def turns_of(rng: np.random.Generator, many: int, equal: bool) -> np.ndarray:
    """The number of each turn's conversation."""
    return np.repeat(np.arange(many), TURNS if equal else rng.integers(1, 2 * TURNS, many))


def mark(kept: bool) -> str:
    return "ok  " if kept else "MISS"


def rates(model: str, many: int, equal: bool, studies: int = STUDIES) -> dict[str, tuple[float, float]]:
    """Of tests that reject without a difference and intervals that hold the mean: shares by turn, by conversation."""
    from karat.stats.compare import compare_systems
    from karat.stats.intervals import mean_intervals

    draw, mean, bounds = MODELS[model]
    rng = np.random.default_rng([SEED, list(MODELS).index(model), many, equal])
    clusters = turns_of(rng, many, equal)
    values = np.stack([draw(rng, studies, clusters) for _ in range(2)], axis=1).reshape(-1, len(clusters))
    pairs = [(2 * study, 2 * study + 1) for study in range(studies)]
    made: dict[str, list[float]] = {"permutation": [], "t": [], "coverage": []}
    for groups in (None, clusters):
        figures = compare_systems(values[None], pairs, draws=DRAWS, tests=(), clusters=groups)
        low, high = mean_intervals(values[::2], bounds, clusters=groups)
        made["permutation"].append(float((figures.permutation <= 0.05).mean()))
        made["t"].append(float((figures.t <= 0.05).mean()))
        made["coverage"].append(float(((low <= mean) & (mean <= high)).mean()))
    return {what: (by_turn, by_conversation) for what, (by_turn, by_conversation) in made.items()}


def main() -> None:
    for many in SIZES:
        for equal in (True, False):
            turns = f"{TURNS} turns" if equal else f"1 to {2 * TURNS - 1} turns"
            for model in MODELS:
                found = rates(model, many, equal)
                for what in ("permutation", "t"):
                    by_turn, rate = found[what]
                    print(
                        f"{mark(rate <= REJECTS)} {model:<16} {many} conversations of {turns:<12} no difference, "
                        f"{what} rejects: by turn {by_turn:.2%}, by conversation {rate:.2%} "
                        f"(goal at most {REJECTS:.1%})"
                    )
                by_turn, cover = found["coverage"]
                print(
                    f"{mark(cover >= COVERS)} {model:<16} {many} conversations of {turns:<12} coverage of the mean: "
                    f"by turn {by_turn:.2%}, by conversation {cover:.2%} (goal at least {COVERS:.0%})"
                )
