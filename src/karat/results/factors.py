"""Factors: how much of the spread of scores goes with each setting of a grid. Plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from karat.results.study import Choice


@dataclass(frozen=True)
class Effect:
    """What goes with one factor, or with two together beyond what goes with each.

    `f` and `p` are None where nothing is left to compare with. `eta` is the share of all spread, `omega` that share
    without what chance alone would give.
    """

    factors: tuple[str, ...]
    freedom: int
    error_freedom: int
    squares: float
    f: float | None
    p: float | None
    eta: float
    omega: float
    adjusted: float | None = None  # Holm, over all effects of the analysis

    @property
    def name(self) -> str:
        """The factors in words."""
        return " x ".join(self.factors)


@dataclass(frozen=True)
class Level:
    """One level of a factor: the mean of its scores, over all levels of the others."""

    name: str
    n: int
    mean: float


@dataclass(frozen=True)
class Factored:
    """Scores of a grid, taken apart by its factors. `choice` is among the cells of a table with blocks."""

    source: str
    score: str
    n: int
    factors: Mapping[str, tuple[Level, ...]]
    balanced: bool
    by: str | None  # the column whose values are blocks
    blocks: int
    effects: tuple[Effect, ...]
    choice: Choice | None
    sentences: tuple[str, ...]
    notes: tuple[str, ...]
