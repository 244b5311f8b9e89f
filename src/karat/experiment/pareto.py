"""Fronts: systems of an evaluation by a measure against what they cost, with the tests between them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from karat.core.errors import UsageError
from karat.results.decisions import headlines, is_full
from karat.results.evaluation import SIGNIFICANT, Evaluation, Summary
from karat.results.pareto import COSTS, Cost, ParetoFront, ParetoPoint, ParetoSaving, cost_named

if TYPE_CHECKING:
    from karat.core.measure import Measure
    from karat.results.comparison import Pair
    from karat.results.study import Choice, Study


def with_fronts(
    evaluation: Evaluation, main: Measure | None = None, pairs: Iterable[Pair] | None = None, *, seed: int = 0
) -> Evaluation:
    """The evaluation with a front of its main measure for each cost that two systems or more are known by."""
    main = main or next(iter(headlines(evaluation.scores.measures, evaluation.dialect)), None)
    if main is None or main.spec.direction == "none":
        return evaluation
    costs = [cost for cost in COSTS if len(_costs(evaluation, cost)) > 1]
    fronts = tuple(_fronts(evaluation, main, costs, pairs, seed))
    return replace(evaluation, pareto=tuple(front for front in fronts if len(front.points) > 1))


def front_of(
    evaluation: Evaluation, measure: Measure, cost: Cost, pairs: Iterable[Pair] | None = None, *, seed: int = 0
) -> ParetoFront:
    """The front of one measure and one cost. Without `pairs` the best system is tested against all cheaper ones."""
    (front,) = _fronts(evaluation, measure, [cost], pairs, seed)
    return front


def front_of_study(study: Study, measure: str | None, cost: str) -> ParetoFront:
    """The front of a measure, the main one by default: as it is stored, else made anew."""
    evaluation, name, asked = study.evaluation, measure or study.main, cost_named(cost)
    for front in evaluation.pareto:
        if (front.measure, front.cost) == (name, asked):
            return front
    chosen = next(m for m in evaluation.scores.measures if m.name == name)
    if chosen.spec.direction == "none":
        raise UsageError(f"of {name} neither more nor less is better, so that it has no front. Name another measure.")
    pairs = tested_pairs(study.choice, study.pairs) if study.pairs and name == study.main else None
    return front_of(evaluation, chosen, asked, pairs)


def tested_pairs(choice: Choice | None, pairs: Sequence[Pair]) -> list[Pair]:
    """The pairs of a study, those with the best system as the choice has them: corrected for having picked it."""
    chosen = (*choice.equals, *choice.beaten, *choice.ahead) if choice is not None else ()
    return [*pairs, *chosen]


def _costs(evaluation: Evaluation, cost: Cost) -> dict[str, float]:
    """What a question costs each system of which that is known, for about as many questions as of any other.

    In twelve digits: the order in which costs are added up shall put no system behind another.
    """
    usage = {system: evaluation.usage_of(system, cost) for system in evaluation.scores.systems}
    most = max((one.n for one in usage.values() if one is not None), default=0)
    known = {system: one for system, one in usage.items() if one is not None and is_full(one.n, most)}
    return {system: float(f"{one.typical:.12g}") for system, one in known.items()}


def _fronts(
    evaluation: Evaluation, measure: Measure, costs: Sequence[Cost], pairs: Iterable[Pair] | None, seed: int
) -> Iterator[ParetoFront]:
    fronts = [_untested(evaluation, measure, cost) for cost in costs]
    tested = _tested(evaluation, measure, fronts, seed) if pairs is None else pairs
    by_systems = {frozenset((p.a, p.b)): p for p in tested if p.measure == measure.name}
    for front in fronts:
        yield replace(front, savings=tuple(_savings(front, by_systems)))


def _untested(evaluation: Evaluation, measure: Measure, cost: Cost) -> ParetoFront:
    """The points, and which dominate which."""
    from karat.stats.pareto import dominance

    matching = evaluation.matching
    unranked = matching.unranked if matching is not None and measure.spec.stage == "retrieval" else frozenset[str]()
    summaries: dict[str, Summary] = {
        s.system: s
        for s in evaluation.summaries
        if s.slice is None and s.measure == measure.name and s.mean is not None
    }
    most = max((s.n for name, s in summaries.items() if name not in unranked), default=0)
    apart = [name for name, s in summaries.items() if name in unranked or not is_full(s.n, most)]
    costs = _costs(evaluation, cost)
    systems = [name for name in evaluation.scores.systems if name in summaries and name not in apart and name in costs]
    higher = measure.spec.direction != "lower"
    of = [(summaries[name], summaries[name].mean or 0.0) for name in systems]
    beaten = dominance(
        np.array([value for _, value in of]), np.array([costs[name] for name in systems]), higher_is_better=higher
    )
    is_front = np.array([not row.any() for row in beaten], bool)
    points = [
        ParetoPoint(
            system=summary.system,
            value=value,
            low=summary.low,
            high=summary.high,
            cost=costs[summary.system],
            on_front=bool(is_front[i]),
            dominated_by=tuple(sorted(systems[j] for j in np.flatnonzero(beaten[i] & is_front).tolist())),
            n=summary.n,
        )
        for i, (summary, value) in enumerate(of)
    ]
    points.sort(key=lambda p: (p.cost, -p.value if higher else p.value, p.system))
    return ParetoFront(
        measure=measure.name,
        cost=cost,
        higher_is_better=higher,
        points=tuple(points),
        without_cost=tuple(name for name in summaries if name not in apart and name not in costs),
        without_value=tuple(name for name in evaluation.scores.systems if name not in summaries),
        not_ranked=tuple(apart),
    )


def _tested(evaluation: Evaluation, measure: Measure, fronts: Sequence[ParetoFront], seed: int) -> Sequence[Pair]:
    """The best system of the fronts against each that is cheaper by some cost, with Holm's correction over them."""
    from karat.experiment.study import values_of
    from karat.stats.compare import pairs

    wanted: dict[tuple[str, str], None] = {}
    for front in fronts:
        if front.front:
            best = front.front[-1]
            wanted |= dict.fromkeys((name, best) for name in front.front[:-1])
    systems = evaluation.scores.systems
    chosen = sorted((systems.index(a), systems.index(b)) for a, b in wanted)
    if not chosen:
        return ()
    values, higher = values_of(evaluation.scores, measure.name), measure.spec.direction != "lower"
    scores = evaluation.scores
    return pairs(
        measure.name, systems, values, chosen, ids=scores.questions, seed=seed, higher_is_better=higher,
        clusters=scores.conversations,
    )  # fmt: skip


def _savings(front: ParetoFront, pairs: dict[frozenset[str], Pair]) -> Iterator[ParetoSaving]:
    """For each system of the front the cheapest one of it that is not significantly worse, where that was tested."""
    sign = 1 if front.higher_is_better else -1
    stands = [point for point in front.points if point.on_front]
    for point in stands:
        for cheaper in (one for one in stands if one.cost < point.cost):
            pair = pairs.get(frozenset((point.system, cheaper.system)))
            if pair is None or pair.difference is None:
                continue
            turned = -1.0 if pair.b == cheaper.system else 1.0
            if pair.adjusted <= SIGNIFICANT and sign * turned * pair.difference > 0:
                continue
            ends = (pair.low, pair.high) if turned > 0 else (pair.high, pair.low)
            low, high = (None if end is None else turned * end + 0.0 for end in ends)
            yield ParetoSaving(
                system=point.system,
                cheaper=cheaper.system,
                times=point.cost / cheaper.cost if cheaper.cost > 0 else None,
                difference=turned * pair.difference + 0.0,
                low=low,
                high=high,
                adjusted=pair.adjusted,
                n=pair.n,
            )
            break
