"""Raters compared: agreement and tables, the order of systems by two of them, and what a judge leans to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from karat.results.calibration import Agreement, Confusion, JudgePair, Slant, SlantGroup, SystemOrder
from karat.stats.agreement import (
    METRICS,
    Metric,
    Weights,
    cohen_kappa,
    confusion,
    difference_between,
    kappa_interval,
    krippendorff_alpha,
    mean_difference,
    spearman,
)
from karat.stats.arrays import Floats, Ints
from karat.stats.system_order import chance_of_order, kendall_tau, tau_interval

if TYPE_CHECKING:
    from karat.core.scores import Scores


MOST_POSITIONS = 10  # positions up to which each is a group; more are halved, as lengths are
_ALIKE = 1e-9
_CERTAIN = 0.05  # p from which on an order may be chance


@dataclass(frozen=True)
class Categories:
    """The categories of a scale, none of a continuous one, with their names."""

    values: tuple[float, ...]
    names: tuple[str, ...]

    @property
    def cuts(self) -> Floats:
        """Halfway from each to the next."""
        values = np.array(self.values)
        return np.asarray((values[1:] + values[:-1]) / 2, np.float64)


def agreement_of(ratings: Floats, groups: Ints, categories: Sequence[float]) -> Agreement:
    """Agreement of raters x items, in values of the categories where there are any; a group is a question."""
    metric: Metric = "interval" if not len(categories) else "nominal" if len(categories) == 2 else "ordinal"
    several = np.isfinite(ratings).sum(axis=0) > 1
    n = int(several.sum())
    if not n:
        return Agreement(raters=len(ratings), n=0, metric=metric, why=("no answer was rated by two",))
    why: list[str] = []
    alphas: dict[str, float | None] = {name: krippendorff_alpha(ratings, name) for name in METRICS}
    if alphas[metric] is None:
        why.append("all ratings are the same, so there is nothing to agree about: kappa and alpha are undefined")
    kappas: dict[str, float | None] = {}
    if len(ratings) == 2 and len(categories):
        kappas = _kappas(ratings[:, several], groups[several], np.array(categories))
        if kappas["kappa"] is None and alphas[metric] is not None:
            why.append("kappa is undefined")
    return Agreement(
        raters=len(ratings), n=n, alpha=alphas[metric], metric=metric, alphas=alphas, why=tuple(why), **kappas
    )


def _kappas(ratings: Floats, groups: Ints, categories: Floats) -> dict[str, float | None]:
    """Kappa of two raters, plain, and weighted where there are more than two categories, with the ends of each."""
    codes = np.searchsorted(categories, ratings - _ALIKE)
    table = confusion(codes[0], codes[1], len(categories))
    _, place = np.unique(groups, return_inverse=True)
    tables = np.zeros((place.max() + 1, *table.shape))
    np.add.at(tables, (place, codes[0], codes[1]), 1)
    ways: dict[str, tuple[Floats | None, Weights]] = {"": (None, "quadratic")}
    if len(categories) > 2:
        ways |= {"linear": (categories, "linear"), "weighted": (categories, "quadratic")}
    kappas: dict[str, float | None] = {}
    for name, (values, weights) in ways.items():
        kappas[name or "kappa"] = cohen_kappa(table, values, weights)
        before = f"{name}_" if name else ""
        ends = kappa_interval(tables, values, weights)
        kappas[f"{before}low"], kappas[f"{before}high"] = ends or (None, None)
    return kappas


def compare_two(
    first: Floats, second: Floats, groups: Ints, categories: Categories
) -> tuple[Confusion | None, Agreement, Any]:
    """Two raters of the same items (NaN: not rated): the first by row, the second by column.

    Each stands in the category that it is nearest to; where the first lies evenly between two it is in no cell. Last
    come the numbers of the items on which they part.
    """
    values = np.array(categories.values)
    if not len(values):
        return None, agreement_of(np.array([second, first]), groups, ()), np.zeros(0, np.int64)
    cuts = categories.cuts
    known = np.isfinite(first) & np.isfinite(second)
    tied = np.isclose(first[:, None], cuts[None, :], rtol=0, atol=_ALIKE).any(axis=1)
    usable = known & ~tied
    rows, columns = (np.searchsorted(cuts, np.where(usable, each, 0.0), side="right") for each in (first, second))
    both = np.where(usable, np.array([values[columns], values[rows]]), np.nan)
    counts = confusion(rows[usable], columns[usable], len(values))
    table = Confusion(
        categories=categories.values,
        names=categories.names,
        cuts=tuple(cuts.tolist()),
        counts=tuple(map(tuple, counts.tolist())),
        ties=int((tied & known).sum()),
        is_exact=bool(
            known.any() and np.isclose(second[known][:, None], values, rtol=0, atol=_ALIKE).any(axis=1).all()
        ),
    )
    return table, agreement_of(both, groups, categories.values), np.flatnonzero(usable & (rows != columns))


def order_of(first: Floats, second: Floats) -> SystemOrder:
    """How two raters order systems, of systems x questions (NaN: not rated), over what both rated."""
    known = np.isfinite(first) & np.isfinite(second)
    there = known.any(axis=1)
    n, answers = int(there.sum()), int(known.sum())
    if n < 2:
        why = "there is one system, and an order needs two" if n else "no answer was rated by both"
        return SystemOrder(n=n, n_answers=answers, tau=None, why=why)
    each = [np.where(known, values, 0.0)[there].sum(axis=1) / known[there].sum(axis=1) for values in (first, second)]
    tau = kendall_tau(*each)
    if tau is None:
        return SystemOrder(n=n, n_answers=answers, tau=None, why="one of them gives all systems the same mean")
    masked = [np.where(known, values, np.nan)[there] for values in (first, second)]
    low, high = tau_interval(*masked) or (None, None)
    return SystemOrder(n=n, n_answers=answers, tau=tau, low=low, high=high, why=_too_few(n))


def _too_few(systems: int) -> str:
    if systems == 2:
        return "of two systems tau is 1 or -1: it says only whether both prefer the same"
    chance = chance_of_order(systems)
    if chance < _CERTAIN:
        return ""
    return f"{systems} systems are few: by chance they are ordered alike, or the other way round, with p {chance:.2f}"


def slants_of(
    judge: Floats, people: Floats, groups: Ints, about: Mapping[str, Sequence[float | str | None]]
) -> tuple[Slant, ...]:
    """What a judge leans to more than people do, by what is known about each item (length, position)."""
    slants = (_slant(judge, people, groups, name, values) for name, values in about.items())
    return tuple(slant for slant in slants if slant is not None)


def _slant(
    judge: Floats, people: Floats, groups: Ints, name: str, values: Sequence[float | str | None]
) -> Slant | None:
    known = np.isfinite(judge) & np.isfinite(people) & np.array([value is not None for value in values], bool)
    present = [value for value, there in zip(values, known, strict=True) if there and value is not None]
    judge, people, groups = judge[known], people[known], groups[known]
    numbers = _numbers(present)
    labels = _divided(present, numbers, name)
    if labels is None:
        return None
    place, names = labels
    off = judge - people
    members = []
    for number, title in enumerate(names):
        here = place == number
        bias, low, high = mean_difference(off[here], groups[here])
        means = float(judge[here].mean()), float(people[here].mean())
        members.append(
            SlantGroup(
                name=title, n=int(here.sum()), judge_mean=means[0], people_mean=means[1], bias=bias, low=low, high=high
            )
        )
    ends = (place == 0) | (place == len(names) - 1)
    difference, low, high = difference_between(off[ends], place[ends] > 0, groups[ends])
    correlation = spearman(off, numbers) if numbers is not None else None
    return Slant(by=name, groups=tuple(members), difference=difference, low=low, high=high, spearman=correlation)


def _numbers(values: Sequence[float | str]) -> Floats | None:
    """The values as numbers, if all are."""
    try:
        numbers = np.array([float(value) for value in values])
    except ValueError:
        return None
    return numbers if np.isfinite(numbers).all() else None


def _divided(values: Sequence[float | str], numbers: Floats | None, name: str) -> tuple[Ints, list[str]] | None:
    """The group of each value and their names: every position, else halves at the median. None of fewer than two."""
    distinct: list[Any] = sorted(set(values)) if numbers is None else np.unique(numbers).tolist()
    if len(distinct) < 2:
        return None
    if name == "position" and len(distinct) <= MOST_POSITIONS:
        number = {value: i for i, value in enumerate(distinct)}
        keys: Sequence[Any] = values if numbers is None else numbers.tolist()
        names = [f"{value:g}" if isinstance(value, float) else value for value in distinct]
        return np.array([number[key] for key in keys], np.int64), [f"{name} {title}" for title in names]
    if numbers is None:
        return None
    middle = float(np.median(numbers))
    above = numbers > middle if (numbers > middle).any() else numbers >= middle
    limit = float(numbers[~above].max())
    return above.astype(np.int64), [f"{name} up to {limit:g}", f"{name} above {limit:g}"]


def pairs_of(scores: Scores, categories: Categories) -> tuple[JudgePair, ...]:
    """Each two judges over the answers that both graded."""
    many = len(scores.measures)
    return tuple(_pair(scores, categories, a, b) for a in range(many) for b in range(a + 1, many))


def _pair(scores: Scores, categories: Categories, a: int, b: int) -> JudgePair:
    first, second = scores.values[:, :, a], scores.values[:, :, b]
    both = np.isfinite(first) & np.isfinite(second)
    groups = np.broadcast_to(np.arange(first.shape[1]), first.shape)[both]
    table, agreement, _ = compare_two(first[both], second[both], groups, categories)
    gap = mean_difference(second[both] - first[both], groups) if both.any() else (None, None, None)
    return JudgePair(
        a=scores.measures[a].name,
        b=scores.measures[b].name,
        agreement=agreement,
        confusion=table,
        spearman=spearman(first[both], second[both]),
        difference=gap[0],
        low=gap[1],
        high=gap[2],
        order=order_of(first, second),
    )
