"""Shown: a study looked up the ways the sections need."""

from __future__ import annotations

from functools import cached_property
from statistics import median
from typing import TYPE_CHECKING

import numpy as np

from karat.core.scores import Status
from karat.core.text.words import probability as probability
from karat.report._answers import Answers
from karat.report._labels import costliest
from karat.report._numbers import NONE, deviation, figure, interval, short
from karat.report._view import View

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from karat.core.measure import Measure
    from karat.core.types import Question
    from karat.results.comparison import Pair
    from karat.results.study import Cell, Configuration, Failure, FailureCount, KindChoice, Study

COLUMNS = 6  # measures a table shows before all are asked for


class Shown:
    """Lookups over a study, in its own order unless said."""

    def __init__(self, study: Study) -> None:
        self.study = study
        self.evaluation = study.evaluation
        self.view = View(study.evaluation)
        self.answers = Answers(study.evaluation, study.answers)
        self.measure_named = {m.name: m for m in self.view.measures}
        self._sliced: dict[str, dict[str, list[Question]]] = {}
        self.configuration_of: dict[str, Configuration] = {c.name: c for c in study.configurations}

    @cached_property
    def main(self) -> Measure | None:
        """The main measure, where it was computed; else the one that stands first."""
        found = self.measure_named.get(self.study.main)
        return found if found is not None else next(iter(self.view.key_measures), None)

    @cached_property
    def key_measures(self) -> list[Measure]:
        """The main measure, then the best known of the others."""
        found = [self.main] if self.main is not None else []
        return (found + [m for m in self.view.key_measures if m is not self.main])[:COLUMNS]

    @cached_property
    def ranking(self) -> list[str]:
        """Systems by the main measure, the best first; the chosen one leads."""
        chosen = self.study.choice.best.system if self.study.choice is not None else None
        sign = -1 if self.main is not None and self.main.spec.direction == "lower" else 1

        def key(system: str) -> tuple[bool, bool, float]:
            found = self.view.summary(system, self.main) if self.main is not None else None
            mean = found.mean if found is not None else None
            return system != chosen, mean is None, -sign * (mean or 0.0)

        return sorted(self.view.systems, key=key)

    @property
    def best(self) -> str | None:
        """The system that leads."""
        return next(iter(self.ranking), None)

    @cached_property
    def counts(self) -> list[FailureCount]:
        """How the leading system fails, what costs most first."""
        return costliest(c for c in self.study.failure_counts if c.system == self.best)

    @cached_property
    def failure_of(self) -> dict[tuple[str, str], Failure]:
        """The failure of a system on a question."""
        return {(f.system, f.question): f for f in self.study.failures}

    @cached_property
    def number_of(self) -> dict[str, int]:
        """The place of a question."""
        return {id_: i for i, id_ in enumerate(self.evaluation.scores.questions)}

    @cached_property
    def kinds(self) -> list[str]:
        """Kinds of questions, in order of appearance."""
        return list(dict.fromkeys(q.kind for q in self.evaluation.testset if q.kind is not None))

    @cached_property
    def ease(self) -> dict[str, float]:
        """The mean of the main measure over the systems, of each question that has one; the more the easier."""
        if self.main is None or self.main.spec.direction == "none":
            return {}
        scores, column = self.evaluation.scores, self.view.measures.index(self.main)
        ok = self.answers.status[:, :, column] == Status.ok
        total = np.where(ok, scores.values[:, :, column], 0.0).sum(axis=0)
        sign = -1 if self.main.spec.direction == "lower" else 1
        known = zip(scores.questions, total.tolist(), ok.sum(axis=0).tolist(), strict=True)
        return {question: sign * value / n for question, value, n in known if n}

    @cached_property
    def choice_of_kind(self) -> dict[str, KindChoice]:
        """The best configuration for each kind of question."""
        choice = self.study.choice
        return {kind.kind: kind for kind in choice.by_kind} if choice is not None else {}

    def questions_of(self, slice_name: str) -> dict[str, list[Question]]:
        """The questions of each value of a slice."""
        if slice_name not in self._sliced:
            found = self._sliced[slice_name] = {}
            for question in self.evaluation.testset:
                found.setdefault(question.slice_value(slice_name) or "(none)", []).append(question)
        return self._sliced[slice_name]

    def measure_of(self, cell: Cell) -> Measure | None:
        return self.measure_named.get(cell.measure)

    def value(self, name: str, value: float | None) -> str:
        """A mean of a measure, by its name, in the measure's unit."""
        measure = self.measure_named.get(name)
        return figure(measure, value) if measure is not None else figure_of(value)

    def ends(self, name: str, low: float | None, high: float | None) -> str:
        """An interval of a measure, by its name."""
        measure = self.measure_named.get(name)
        if measure is not None:
            return interval(measure, low, high)
        return "" if low is None or high is None else f"[{short(low)}, {short(high)}]"

    def difference(self, pair: Pair) -> str:
        """A signed difference in the unit of the pair's measure; none where the two share no question."""
        if pair.difference is None:
            return NONE
        measure = self.measure_named.get(pair.measure)
        shown = deviation(measure, abs(pair.difference)) if measure is not None else short(abs(pair.difference))
        return ("+" if pair.difference > 0 else "-" if pair.difference < 0 else "") + shown

    def seconds(self, systems: Iterable[str]) -> dict[str, float]:
        """Median seconds a question, of the systems that were timed."""
        found = {s: [x for x in self.study.seconds.get(s, ()) if x is not None] for s in systems}
        return {s: median(times) for s, times in found.items() if times}

    def alpha(self, system: str) -> float | None:
        found = self.configuration_of.get(system)
        return found.alpha if found is not None else None


def figure_of(value: float | None) -> str:
    """A mean of no measure in particular."""
    return short(value)


def listed(names: Sequence[str], most: int = 6) -> str:
    """Names in a row, the first of many with the number of the rest."""
    left = len(names) - most
    return ", ".join(names[:most]) + (f" and {left:,} more" if left > 0 else "")
