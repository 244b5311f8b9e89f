"""Analysis of variance: how much of the spread of scores goes with each factor of a grid.

Type II sums of squares: a factor after the other factors, an interaction after all factors. In a balanced grid all
types are the same. `statsmodels.stats.anova.anova_lm(typ=2)` gives the same. Blocks (questions that every cell
answers) are taken out of scores and factors first, which leaves exactly what a factor of its own for each block would.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from karat.results.study import Effect
from karat.stats.arrays import Floats, Ints, codes
from karat.stats.tails import f_tail

ROUNDING = 1e-12  # share of a whole, below which a difference or a sum of squares is rounding
RANK = 1e-9  # share of the largest singular value, below which a column says nothing of its own


@dataclass(frozen=True)
class Anova:
    """Effects, and the degrees of freedom left over. `balanced`: every cell has as many scores."""

    effects: tuple[Effect, ...]
    residual_freedom: int
    balanced: bool


def anova(
    values: Floats, factors: Mapping[str, Sequence[object]], *, interactions: bool = True, blocks: Sequence[object] = ()
) -> Anova:
    """Scores by the levels of their factors, with the interaction of each pair of factors."""
    scores = np.asarray(values, np.float64)
    if not len(scores) or not np.isfinite(scores).all():
        raise ValueError("an analysis of variance needs finite scores")
    if np.ptp(scores) <= ROUNDING * float(np.abs(scores).max()):
        scores = np.zeros(len(scores))
    total = float(((scores - scores.mean()) ** 2).sum())
    sizes = {len(levels) for levels in (*factors.values(), blocks or scores)} | {len(scores)}
    if len(sizes) > 1:
        raise ValueError(f"{' and '.join(map(str, sorted(sizes)))} levels, blocks and scores")
    terms: dict[tuple[str, ...], Ints] = {(name,): codes(levels) for name, levels in factors.items()}
    cells = np.unique(np.stack(list(terms.values())), axis=1, return_counts=True)[1]
    full = int(np.prod([int(levels.max()) + 1 for levels in terms.values()]))
    if interactions:
        for (a, *_), (b, *_) in combinations(list(terms), 2):
            terms[a, b] = codes(list(zip(factors[a], factors[b], strict=True)))
    block = codes(blocks or [0] * len(scores))
    designs = {term: _within(own[:, None] == np.arange(own.max() + 1), block) for term, own in terms.items()}
    inside = _within(scores[:, None], block)[:, 0]
    left, rank = _fit(inside, list(designs.values()))
    freedom = len(scores) - int(block.max()) - 1 - rank
    left = left if left > ROUNDING * total else 0.0
    error = left / freedom if freedom > 0 else 0.0
    effects = []
    for term, design in designs.items():
        others = [other for name, other in designs.items() if not set(term) <= set(name)]
        without, smaller = _fit(inside, others)
        beside, larger = _fit(inside, [*others, design])
        squares, own = without - beside, larger - smaller
        squares = squares if squares > ROUNDING * total else 0.0
        f = p = None
        if own > 0 and freedom > 0 and (error > 0 or squares > 0):
            f = squares / own / error if error > 0 else float("inf")
            p = float(f_tail(f, own, freedom))
        eta = squares / total if total > 0 else 0.0
        omega = max(0.0, (squares - own * error) / (total + error)) if total > 0 else 0.0
        effects.append(
            Effect(factors=term, freedom=own, error_freedom=freedom, squares=squares, f=f, p=p, eta=eta, omega=omega)
        )
    return Anova(tuple(effects), freedom, balanced=len(cells) == full and len(set(cells.tolist())) == 1)


def _within(design: NDArray[np.generic], block: Ints) -> Floats:
    """Columns less their mean in each block."""
    columns = design.astype(np.float64)
    sums = np.zeros((int(block.max()) + 1, columns.shape[1]))
    np.add.at(sums, block, columns)
    centred: Floats = columns - (sums / np.bincount(block)[:, None])[block]
    return centred


def _fit(values: Floats, designs: Sequence[Floats]) -> tuple[float, int]:
    """What a linear model of these columns leaves of the values, and how many of them say something of their own."""
    whole = np.concatenate([np.zeros((len(values), 0)), *designs], axis=1)
    solution, _, rank, _ = np.linalg.lstsq(whole, values, rcond=RANK)
    rest = values - whole @ solution
    return float(rest @ rest), int(rank)
