"""Analysis of variance: how much of the spread of scores goes with each factor of a grid.

Type II sums of squares: a factor after the other factors, an interaction after all factors. In a balanced grid all
types are the same. `statsmodels.stats.anova.anova_lm(typ=2)` gives the same. Blocks (questions that every cell
answers) are taken out of scores and factors first, which leaves exactly what a factor of its own for each block would.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from karat.core.factors import Effect
from karat.stats.fisher import f_tail

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

EXACT = 1e-14  # of a score, below which two of them differ by rounding
CONSTANT = 1e-12  # share of the total below which a sum of squares is rounding


@dataclass(frozen=True)
class Anova:
    """Effects, and what is left over. `balanced`: every cell has as many scores."""

    effects: tuple[Effect, ...]
    residual: float
    residual_freedom: int
    total: float
    n: int
    balanced: bool
    blocks: int = 0


def anova(
    values: Floats, factors: Mapping[str, Sequence[object]], *, interactions: bool = True, blocks: Sequence[object] = ()
) -> Anova:
    """Scores by the levels of their factors; one factor is the one-way analysis, two have an interaction."""
    scores = np.asarray(values, np.float64)
    if not len(scores) or not np.isfinite(scores).all():
        raise ValueError("an analysis of variance needs finite scores")
    total = float(((scores - scores.mean()) ** 2).sum())
    if total <= len(scores) * (EXACT * float(np.abs(scores).max())) ** 2:
        scores, total = np.zeros(len(scores)), 0.0
    codes = {name: _coded(levels, len(scores)) for name, levels in factors.items()}
    block = _coded(blocks, len(scores)) if len(blocks) else np.zeros(len(scores), np.int64)
    dummies: dict[tuple[str, ...], Floats] = {(name,): _dummies(code) for name, code in codes.items()}
    if interactions:
        for pair in combinations(codes, 2):
            first, second = (dummies[(name,)] for name in pair)
            dummies[pair] = (first[:, :, None] * second[:, None, :]).reshape(len(scores), -1)
    dummies = {term: _within(design, block) for term, design in dummies.items()}
    inside = _within(scores[:, None], block)[:, 0]
    left, rank = _fit(inside, list(dummies.values()))
    groups = int(block.max()) + 1
    freedom = len(scores) - groups - rank
    left = 0.0 if left <= CONSTANT * total else left
    effects = []
    for term, design in dummies.items():
        others = [d for other, d in dummies.items() if not set(term) <= set(other)]
        without, smaller = _fit(inside, others)
        with_it, larger = _fit(inside, [*others, design])
        squares = max(0.0, without - with_it)
        effects.append(
            _effect(term, larger - smaller, 0.0 if squares <= CONSTANT * total else squares, left, freedom, total)
        )
    cells = np.unique(np.stack(list(codes.values())), axis=1, return_counts=True)[1]
    full = int(np.prod([int(code.max()) + 1 for code in codes.values()]))
    balanced = len(set(cells.tolist())) == 1 and len(cells) == full
    return Anova(tuple(effects), left, freedom, total, len(scores), balanced, groups if len(blocks) else 0)


def _coded(levels: Sequence[object], many: int) -> Ints:
    if len(levels) != many:
        raise ValueError(f"{len(levels)} levels for {many} scores")
    numbers: dict[object, int] = {}
    return np.array([numbers.setdefault(level, len(numbers)) for level in levels], np.int64)


def _dummies(code: Ints) -> Floats:
    """A column for each level but the first, summing to zero over a balanced grid."""
    levels = int(code.max()) + 1
    design: Floats = (code[:, None] == np.arange(1, levels)).astype(np.float64)
    design -= (code == 0).astype(np.float64)[:, None]
    return design


def _within(design: Floats, block: Ints) -> Floats:
    """Columns less their mean in each block."""
    sizes = np.bincount(block).astype(np.float64)
    sums = np.zeros((len(sizes), design.shape[1]))
    np.add.at(sums, block, design)
    centred: Floats = design - (sums / sizes[:, None])[block]
    return centred


def _fit(values: Floats, designs: Sequence[Floats]) -> tuple[float, int]:
    """What a linear model of these columns leaves of the values, and how many of them say something of their own."""
    whole = np.concatenate(designs, axis=1) if designs else np.zeros((len(values), 0))
    if not whole.shape[1]:
        return float(values @ values), 0
    products = whole.T @ whole
    roots, vectors = np.linalg.eigh(products)
    kept = roots > 1e-9 * max(1.0, float(roots[-1]))
    basis = whole @ (vectors[:, kept] / np.sqrt(roots[kept]))
    rest = values - basis @ (basis.T @ values)
    return float(rest @ rest), int(kept.sum())


def _effect(term: tuple[str, ...], freedom: int, squares: float, left: float, error: int, total: float) -> Effect:
    mean_error = left / error if error > 0 else 0.0
    f = p = None
    if freedom > 0 and error > 0 and (mean_error > 0 or squares > 0):
        f = squares / freedom / mean_error if mean_error > 0 else float("inf")
        p = f_tail(f, freedom, error)
    return Effect(
        term, freedom, squares, f, p,
        eta=squares / total if total > 0 else 0.0,
        partial=squares / (squares + left) if squares + left > 0 else 0.0,
        omega=max(0.0, (squares - freedom * mean_error) / (total + mean_error)) if total > 0 else 0.0,
        error_freedom=error,
    )  # fmt: skip
