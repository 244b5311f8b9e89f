"""Factors: how much of the spread of scores goes with each setting of a grid. Plain data."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

FORMAT = 1


@dataclass(frozen=True)
class Effect:
    """What goes with one factor, or with two together beyond what goes with each.

    `f` and `p` are None where nothing is left to compare with. `eta` is the share of all spread, `partial` the share
    of what other factors leave, `omega` is eta without what chance alone would give.
    """

    factors: tuple[str, ...]
    freedom: int
    squares: float
    f: float | None
    p: float | None
    eta: float
    partial: float
    omega: float
    error_freedom: int = 0
    adjusted: float | None = None  # Holm, over the effects shown in one table

    @property
    def name(self) -> str:
        """The factors in words."""
        return " x ".join(self.factors)


@dataclass(frozen=True)
class Level:
    """One level of a factor: the mean of its scores, over all levels of the others."""

    factor: str
    level: str
    n: int
    mean: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class GridCell:
    """One combination of levels; how far it is from the best, and whether that can be told from chance."""

    levels: Mapping[str, str]
    n: int
    mean: float
    low: float | None
    high: float | None
    difference: float | None = None  # best less this; None of the best itself
    p: float | None = None
    adjusted: float | None = None  # Holm, over all cells

    @property
    def name(self) -> str:
        """The levels in words."""
        return ", ".join(f"{factor} {level}" for factor, level in self.levels.items())


@dataclass(frozen=True)
class Factored:
    """Scores of a grid, taken apart by its factors. `two_way` holds main effects and interactions of each pair."""

    source: str
    score: str
    n: int
    factors: Mapping[str, tuple[str, ...]]  # factor -> its levels, in order
    balanced: bool
    by: str | None  # the column whose values are blocks
    blocks: int
    one_way: tuple[Effect, ...]
    two_way: tuple[tuple[Effect, ...], ...]
    levels: tuple[Level, ...]
    cells: tuple[GridCell, ...]  # best first
    equals: int  # cells beside the best that cannot be told from it
    higher_is_better: bool = True
    sentences: tuple[str, ...] = ()
    notes: tuple[str, ...] = field(default=())

    def plain(self) -> dict[str, Any]:
        """The same as plain dicts, lists, texts and numbers, under keys that stay."""
        whole = dataclasses.asdict(self)
        return {"format": FORMAT, **{name: _plain(value) for name, value in whole.items()}}


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(one) for key, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, tuple | list) else value
