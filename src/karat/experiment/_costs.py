"""What systems cost question by question, and the differences between them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from karat.results.pareto import COSTS

if TYPE_CHECKING:
    from karat.core.run import Run
    from karat.experiment._compared_inputs import ScoredSystem
    from karat.results.comparison import Pair
    from karat.results.evaluation import Usage
    from karat.results.study import Study, StudyAnswer
    from karat.stats.corrections import Correction

    Costs = Mapping[str, Sequence[float | None]]  # cost -> a value for each question, None where it is not known


def run_costs(runs: Iterable[Run], questions: Sequence[str]) -> dict[str, Costs]:
    """Of each system what its results say of each question."""
    from karat.systems.source import whole_seconds

    return {
        run.name: {
            "seconds": whole_seconds(run, questions),
            "tokens": [run.answers[q].tokens if q in run.answers else None for q in questions],
            "cost_usd": [run.answers[q].cost_usd if q in run.answers else None for q in questions],
        }
        for run in runs
    }


def study_costs(study: Study) -> dict[str, Costs]:
    """The same of what a run has stored."""
    return {system: system_costs(study, system) for system in study.evaluation.scores.systems}


def system_costs(study: Study, system: str) -> Costs:
    """The same of one system of a stored run."""
    questions, answers = study.evaluation.scores.questions, study.answers.get(system, {})
    of = [answers.get(question) for question in questions]
    spent = study.seconds.get(system) or [None] * len(questions)
    takes = (system in study.evaluation.ranked, bool(answers))
    return {
        "seconds": [_whole(retrieve, answer, takes) for retrieve, answer in zip(spent, of, strict=True)],
        "tokens": [None if answer is None else answer.tokens for answer in of],
        "cost_usd": [None if answer is None else answer.cost_usd for answer in of],
    }


def _whole(retrieve: float | None, answer: StudyAnswer | None, takes: tuple[bool, bool]) -> float | None:
    """Seconds of a question by a system that takes the steps of retrieval and of answering, or one of them."""
    if answer is not None and answer.seconds_total is not None:
        return answer.seconds_total
    parts = [s for s, taken in zip((retrieve, None if answer is None else answer.seconds), takes, strict=True) if taken]
    known = [part for part in parts if part is not None]
    return sum(known) if known and len(known) == len(parts) else None


def compared_costs(
    systems: Sequence[ScoredSystem],
    questions: Sequence[str],
    pairs: Sequence[tuple[int, int]],
    correction: Correction,
    draws: int,
    seed: int,
    conversations: Sequence[int] | None,
) -> tuple[tuple[Usage, ...], tuple[Pair, ...]]:
    """What each system costs over the questions, and each pair of systems by the questions that both have a cost for.

    The correction is over these pairs alone: that costs are shown changes nothing about the measures.
    """
    from karat.stats.compare import compare_systems, pairs_of
    from karat.stats.summary import usage

    values = np.full((len(COSTS), len(systems), len(questions)), np.nan)
    for s, system in enumerate(systems):
        for c, cost in enumerate(COSTS):
            known = dict(zip(system.questions, system.costs.get(cost, ()), strict=False))
            values[c, s] = np.array([known.get(question) for question in questions], np.float64)
    spent = [
        usage(system.name, cost, values[c, s].tolist())
        for c, cost in enumerate(COSTS)
        for s, system in enumerate(systems)
    ]
    compared = [c for c in range(len(COSTS)) if np.isfinite(values[c]).any(axis=1).sum() > 1]
    if not compared:
        return tuple(one for one in spent if one is not None), ()
    figures = compare_systems(
        values[compared], pairs, lower=[True] * len(compared), draws=draws, seed=seed, tests=(), clusters=conversations
    )
    adjusted = figures.adjusted("permutation", correction)
    named = [(systems[a].name, systems[b].name) for a, b in pairs]
    cost_pairs = (pair for row, c in enumerate(compared) for pair in pairs_of(figures, row, COSTS[c], named, adjusted))
    return tuple(one for one in spent if one is not None), tuple(pair for pair in cost_pairs if pair.n)
