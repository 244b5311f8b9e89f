"""Choose: the best of many configurations, with what keeps it from being taken for more than it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from karat.core.types import NO_VALUE
from karat.results.comparison import Pair
from karat.results.decisions import ENOUGH
from karat.results.evaluation import SIGNIFICANT
from karat.results.study import Cell, Choice, KindChoice
from karat.stats.arrays import TIE, Bools, DistinctRows, Floats, Ints, finite, grouped, mean_known
from karat.stats.compare import draws_for, pairs
from karat.stats.corrections import adjust
from karat.stats.intervals import mean_intervals
from karat.stats.optimism import best_rows, cross_validate, selection_p
from karat.stats.permutation import flip_test

FEW = 5  # questions of a kind: with fewer nothing is chosen for it


def cells_of(
    labels: Sequence[tuple[str, str, int | None]],
    values: Floats,
    *,
    bounds: tuple[float, float] = (0.0, 1.0),
    clusters: Sequence[int] | Ints | None = None,
) -> tuple[Cell, ...]:
    """The cells of (system, measure, k) by their rows of `values`, of measures that lie within `bounds`.

    What is not finite is no value. `clusters` is the number of each question's conversation.
    """
    distinct = DistinctRows(values)
    mean, n = mean_known(distinct.rows.T).tolist(), np.isfinite(distinct.rows).sum(axis=1).tolist()
    low, high = (list(map(finite, ends.tolist())) for ends in mean_intervals(distinct.rows, bounds, clusters=clusters))
    return tuple(
        Cell(system=system, measure=measure, k=k, mean=mean[row], low=low[row], high=high[row], n=n[row])
        for (system, measure, k), row in zip(labels, distinct.place.tolist(), strict=True)
    )


def choose(
    measure: str,
    cells: Sequence[Cell],
    values: Floats,
    *,
    kinds: Sequence[str | None] | None = None,
    ids: Sequence[str] | None = None,
    bounds: tuple[float, float] = (0.0, 1.0),
    seed: int = 0,
    higher_is_better: bool = True,
    clusters: Sequence[int] | None = None,
) -> Choice | None:
    """The cell with the best mean of `values` (cells x questions), what equals it, and what to expect of it.

    None where no cell has a value. Of equal means the earlier cell is taken: put the simpler ones first. A cell
    that lacks more than a tenth of the questions is never the best: its mean is over other questions. Where it is
    better on those that both have, it is `ahead`. In the pairs the best is b: the difference is how far it is ahead.
    Their adjusted p is Holm's, or the chance that the best of equal cells leads by as much where that is higher: the
    best was picked for its lead. `ids` of the questions make p and interval of a pair those of `karat compare`.
    Intervals, tests and folds take conversations whole, where `clusters` numbers them.
    """
    groups = grouped(clusters)
    distinct = DistinctRows(values)  # most rows of a fine grid are equal to others: each is worked out once
    n = np.isfinite(distinct.rows).sum(axis=1)
    if n.max(initial=0) == 0:
        return None
    sign = 1.0 if higher_is_better else -1.0
    gains = sign * np.where(np.isfinite(distinct.rows), distinct.rows, np.nan)
    mean = sign * mean_known(values)
    allowed = (n > 0) & (n >= ENOUGH * n.max())
    best_row = _best(gains, allowed)
    best = int(distinct.first[best_row])
    systems = [cell.system for cell in cells]
    others = [i for i in np.flatnonzero(n[distinct.place]).tolist() if i != best]
    against_best = pairs(
        measure, systems, values, [(i, best) for i in others], ids=ids, seed=seed, higher_is_better=higher_is_better,
        clusters=clusters,
    )  # fmt: skip
    chance = selection_p(gains, best_row, mean=mean, seed=seed, clusters=groups)[distinct.place]
    is_allowed = allowed[distinct.place]
    sorted_pairs: dict[str, list[Pair]] = {"ahead": [], "equals": [], "beaten": []}
    for i, pair in zip(others, against_best, strict=True):
        if not is_allowed[i] and sign * (pair.difference or 0.0) < 0:
            sorted_pairs["ahead"].append(pair)
            continue
        if len(others) > 1:  # of two the test of the pair, with two sides, takes either for picked
            pair = replace(pair, adjusted=max(pair.adjusted, float(chance[i])))
        is_beaten = pair.adjusted <= SIGNIFICANT and sign * (pair.difference or 0.0) > 0
        sorted_pairs["beaten" if is_beaten else "equals"].append(pair)
    validated = cross_validate(gains, best_row, allowed, kinds, seed, groups)
    # cross-validation is over the questions with a value
    turns = groups[np.isfinite(gains[allowed]).any(axis=0)] if validated and groups is not None else None
    expected = sign * validated.values if validated else np.full(1, np.nan)
    (low,), (high,) = mean_intervals(expected[None], bounds, clusters=turns)
    by_kind, too_few = _by_kind(cells, distinct, gains, mean, sign, allowed, kinds, bounds, seed, groups)
    most = np.where(np.isfinite(gains), gains, -np.inf).max(axis=0)
    return Choice(
        measure=measure,
        cells=tuple(cells),
        best=cells[best],
        equals=tuple(sorted_pairs["equals"]),
        beaten=tuple(sorted_pairs["beaten"]),
        cross_validated=finite(float(mean_known(expected))),
        optimism=validated.optimism if validated else None,
        picks={systems[distinct.first[i]]: many for i, many in validated.picks} if validated else {},
        oracle=float(sign * most[np.isfinite(most)].mean()),
        by_kind=by_kind,
        too_few=too_few,
        expected_low=finite(low),
        expected_high=finite(high),
        higher_is_better=higher_is_better,
        ties=tuple(systems[i] for i in others if is_allowed[i] and abs(cells[i].mean - cells[best].mean) <= TIE),
        barred=tuple(systems[i] for i in np.flatnonzero(~is_allowed).tolist()),
        ahead=tuple(sorted_pairs["ahead"]),
    )


def _best(gains: Floats, allowed: Bools) -> int:
    """The allowed row with the highest mean, -1 where none has a value."""
    return int(best_rows(gains, np.ones((1, gains.shape[1]), bool), allowed)[0])


def _by_kind(
    cells: Sequence[Cell],
    distinct: DistinctRows,
    gains: Floats,
    mean: Floats,
    sign: float,
    allowed: Bools,
    kinds: Sequence[str | None] | None,
    bounds: tuple[float, float],
    seed: int,
    groups: Ints | None,
) -> tuple[tuple[KindChoice, ...], dict[str, int]]:
    """The best cell for each kind of at least `FEW` questions with a value, and the number of those of the others."""
    labels = np.array(list(kinds or ()), object)
    chosen, too_few = [], {}
    known = dict.fromkeys(kind for kind in kinds or () if kind is not None)
    for kind in sorted(known, key=NO_VALUE.__eq__):  # questions without a kind stand last
        asked = (labels == kind) & np.isfinite(gains[allowed]).any(axis=0)
        part = gains[:, asked]
        if part.shape[1] < FEW:
            too_few[kind] = part.shape[1]
            continue
        best_row = _best(part, allowed)
        best = distinct.first[best_row]
        usable = allowed & np.isfinite(part).any(axis=1)
        others = np.flatnonzero(usable[distinct.place])
        others = others[others != best]
        row_of = distinct.place[others]
        ahead = part[best_row] - part
        part_of = None if groups is None else groups[asked]
        tested = flip_test(ahead, draws=draws_for(len(others)), seed=seed, alpha=None, clusters=part_of)
        p = np.ones(len(others))  # of those without a question in common with the best
        common = np.isfinite(ahead).any(axis=1)[row_of]
        p[common] = adjust(tested.p[row_of[common]])
        if len(others) > 1 and (p <= SIGNIFICANT).any():
            p = np.maximum(p, selection_p(part, best_row, mean=mean[asked], seed=seed, clusters=part_of)[row_of])
        equal = others[~((p <= SIGNIFICANT) & (mean_known(ahead.T)[row_of] > 0))]
        label = (cells[best].system, cells[best].measure, cells[best].k)
        (cell,) = cells_of([label], sign * part[best_row : best_row + 1], bounds=bounds, clusters=part_of)
        chosen.append(KindChoice(kind, cell.n, cell, tuple(cells[i].system for i in equal.tolist())))
    return tuple(chosen), too_few
