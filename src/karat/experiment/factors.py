"""Factors: which setting of a grid of configurations matters, and which cells cannot be told from the best."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from karat.core.factors import Effect, Factored, GridCell, Level
from karat.experiment._grid import Grid, read_grid

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Bools = NDArray[np.bool_]

CELLS = 400  # most cells of a pair whose interaction is looked at
LEVEL = 0.05


def factors(
    grid: Any,
    score: str | None = None,
    *,
    factor: Sequence[str] = (),
    by: str | None = None,
    runs_dir: str | os.PathLike[str] = "runs",
) -> Factored:
    """One-way and two-way analyses of variance of a grid, marginal means, and the best cell with its runners-up.

    `grid` is a table with a row a score (a path, a frame, dicts) or a run (a folder, a name, LAST), whose
    configurations are the grid. `score` names the column, or the run's measure; `factor` the columns that are factors,
    by default those that vary and describe no question. `by` names what every cell has in common, such as the
    question: differences between its values are taken out first. Of a run that is the question.
    """
    return _factored(read_grid(grid, score, factor, by, runs_dir))


def _factored(grid: Grid) -> Factored:
    from karat.diagnose.verify.names import measure_of
    from karat.stats.anova import anova

    measure = measure_of(grid.score, 1)
    higher = measure is None or measure.spec.direction != "lower"
    notes = list(grid.notes)
    one_way: list[Effect] = []
    balanced = True
    for name, levels in grid.factors.items():
        found = anova(grid.values, {name: levels}, blocks=grid.blocks)
        balanced &= found.balanced
        one_way += found.effects
    two_way: list[tuple[Effect, ...]] = []
    for pair in combinations(grid.factors, 2):
        cells = len(set(grid.factors[pair[0]])) * len(set(grid.factors[pair[1]]))
        if cells > CELLS:
            notes.append(f"{pair[0]} x {pair[1]} has {cells:,} cells: too many for their interaction.")
            continue
        both = {name: grid.factors[name] for name in pair}
        found = anova(grid.values, both, blocks=grid.blocks)
        if found.residual_freedom < 1:
            found = anova(grid.values, both, interactions=False, blocks=grid.blocks)
            notes.append(
                f"{pair[0]} x {pair[1]}: one score a cell, so that their interaction cannot be told from chance."
            )
        idle = [effect.name for effect in found.effects if len(effect.factors) == 1 and effect.freedom < 1]
        if idle:
            other = next(name for name in pair if name not in idle) if len(idle) < 2 else pair[0]
            notes.append(
                f"each level of {other} has one of {idle[0]}: beside {other}, {idle[0]} says nothing of its own."
            )
            balanced = False
            continue
        balanced &= found.balanced
        two_way.append(tuple(effect for effect in found.effects if effect.freedom > 0))
    cells_found, equals = _cells(grid, higher)
    levels_found = _levels(grid)
    made = Factored(
        source=grid.source, score=grid.score, n=len(grid.values),
        factors={name: tuple(_ordered(levels)) for name, levels in grid.factors.items()},
        balanced=balanced, by=grid.by, blocks=len(set(grid.blocks)), one_way=_adjusted(one_way),
        two_way=_regrouped(two_way), levels=levels_found, cells=cells_found, equals=equals, higher_is_better=higher,
        notes=tuple(notes),
    )  # fmt: skip
    return replace(made, sentences=tuple(_sentences(made)))


def _adjusted(effects: Sequence[Effect]) -> tuple[Effect, ...]:
    """Effects with p adjusted by Holm over all of them."""
    from karat.stats.corrections import holm

    told = [i for i, effect in enumerate(effects) if effect.p is not None]
    adjusted = dict(zip(told, holm([effects[i].p or 0.0 for i in told]).tolist(), strict=True)) if told else {}
    return tuple(replace(effect, adjusted=adjusted.get(i)) for i, effect in enumerate(effects))


def _regrouped(groups: Sequence[Sequence[Effect]]) -> tuple[tuple[Effect, ...], ...]:
    """Interactions adjusted over all pairs; main effects have their adjustment in the one-way table."""
    crossed = iter(_adjusted([effect for group in groups for effect in group if len(effect.factors) > 1]))
    return tuple(tuple(next(crossed) if len(e.factors) > 1 else e for e in group) for group in groups)


def _ordered(levels: Sequence[str]) -> list[str]:
    """Numbers in their order, then the other levels as they first stand."""
    distinct = list(dict.fromkeys(levels))
    numbers = [level for level in distinct if _is_number(level)]
    return [*sorted(numbers, key=float), *(level for level in distinct if level not in numbers)]


def _is_number(text: str) -> bool:
    try:
        return float(text) == float(text)
    except ValueError:
        return False


def _levels(grid: Grid) -> tuple[Level, ...]:
    made = []
    for name, levels in grid.factors.items():
        own = np.array(levels)
        for level in _ordered(levels):
            low, high = _interval(grid, own == level, len(set(levels)))
            some = grid.values[own == level]
            made.append(Level(name, level, len(some), float(some.mean()), low, high))
    return tuple(made)


def _interval(grid: Grid, mask: Bools, levels: int) -> tuple[float | None, float | None]:
    """A 95% interval of a mean; with blocks, of what is left when the blocks' own means are taken out."""
    from karat.stats.student import t_quantile

    some = grid.values[mask]
    if grid.blocks:
        left = grid.block_means(mask) - grid.block_means()
        left = left[np.isfinite(left)]
        if len(left) < 2:
            return None, None
        error = left.std(ddof=1) / np.sqrt(len(left)) * np.sqrt(levels / max(1, levels - 1))
        reach = t_quantile(len(left) - 1) * float(error)
    else:
        if len(some) < 2:
            return None, None
        reach = t_quantile(len(some) - 1) * float(some.std(ddof=1) / np.sqrt(len(some)))
    return float(some.mean()) - reach, float(some.mean()) + reach


def _cells(grid: Grid, higher: bool) -> tuple[tuple[GridCell, ...], int]:
    """Every combination of levels, best first, each against the best."""
    from karat.stats.corrections import holm

    keys = list(zip(*grid.factors.values(), strict=True))
    order = list(dict.fromkeys(keys))
    number = {key: i for i, key in enumerate(order)}
    codes = np.array([number[key] for key in keys])
    made = []
    for i, key in enumerate(order):
        mask = codes == i
        low, high = _interval(grid, mask, len(order))
        levels: Mapping[str, str] = dict(zip(grid.factors, key, strict=True))
        made.append((GridCell(levels, int(mask.sum()), float(grid.values[mask].mean()), low, high), mask))
    made.sort(key=lambda one: -one[0].mean if higher else one[0].mean)
    best = made[0]
    p = [_told_apart(grid, best[1], mask) for _, mask in made[1:]]
    known = [value for value in p if value is not None]
    adjusted = iter(holm(known).tolist() if known else [])
    cells = [best[0]]
    for (cell, _), value in zip(made[1:], p, strict=True):
        adjusted_p = None if value is None else next(adjusted)
        cells.append(replace(cell, difference=best[0].mean - cell.mean, p=value, adjusted=adjusted_p))
    return tuple(cells), sum(cell.adjusted is None or cell.adjusted > LEVEL for cell in cells[1:])


def _told_apart(grid: Grid, best: Bools, other: Bools) -> float | None:
    """p of two cells: paired by block (permutation) where there are blocks, else Welch's t; None of too few scores."""
    from karat.diagnose.verify.differences import welch
    from karat.stats.fisher import t_tail
    from karat.stats.permutation import sign_flip

    a, b = grid.values[best], grid.values[other]
    if grid.blocks:
        differences = grid.block_means(best) - grid.block_means(other)
        known = int(np.isfinite(differences).sum())
        return float(sign_flip(differences[None, :])[0]) if known > 1 else None
    if len(a) < 2 or len(b) < 2:
        return None
    if a.var() + b.var() <= 0:
        return 1.0 if a.mean() == b.mean() else 0.0
    return t_tail(*welch(b, a))


def _sentences(made: Factored) -> list[str]:
    """The findings in words."""
    told = sorted(made.one_way, key=lambda e: -e.eta)
    said = []
    for effect in told:
        sure = effect.adjusted is not None and effect.adjusted <= LEVEL
        share = f"{100 * effect.eta:.1f}% of the spread of {made.score} goes with {effect.name}"
        if effect.p is None:
            said.append(f"{share}; whether by chance cannot be told.")
        else:
            how = "more than chance gives" if sure else "which cannot be told from chance"
            said.append(f"{share}, {how} ({_p(effect.adjusted)}).")
    crossed = [effect for group in made.two_way for effect in group if len(effect.factors) > 1]
    said += [
        f"{' and '.join(effect.factors)} depend on each other ({_p(effect.adjusted)}): read their cells, not their "
        "marginal means alone."
        for effect in crossed
        if effect.adjusted is not None and effect.adjusted <= LEVEL
    ]
    best, others = made.cells[0], len(made.cells) - 1
    said.append(f"The best cell is {best.name} with {best.mean:.4f}; {_equal(made.equals, others)}")
    return said


def _p(value: float | None) -> str:
    return "" if value is None else "p < .001" if value < 0.001 else f"p {value:.3f}"


def _equal(equals: int, others: int) -> str:
    if not others:
        return "there is no other."
    if not equals:
        return (
            f"all {others} others can be told apart from it." if others > 1 else "the other can be told apart from it."
        )
    if equals == others:
        return (
            "none of the others can be told apart from it." if others > 1 else "the other cannot be told apart from it."
        )
    return f"{equals} of {others} others cannot be told apart from it."
