"""Lookups: an evaluation and a study looked up the ways the builders and charts need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from karat.core.scores import Status
from karat.core.text.words import digits_of
from karat.core.types import NO_VALUE, TestSet, slice_order
from karat.results.decisions import BestSystems, best_systems, costliest, main_measures, ranked_systems
from karat.results.study import HitTable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from karat.core.measure import Measure
    from karat.core.scores import Scores
    from karat.core.types import Question
    from karat.report.answers import Answers
    from karat.results.evaluation import Evaluation, Summary
    from karat.results.study import Configuration, Failure, FailureCount, Study

MOST_ON_PAGE = 900  # questions that a page carries: more make it slow to open, and nobody reads them all
WORST_ANSWERS = 20  # answers of a system that a page lists


def statuses(scores: Scores) -> NDArray[np.uint8]:
    """The status of every score, where a value that is no finite number has failed, as the summaries count it."""
    broken = (scores.status == Status.ok) & ~np.isfinite(scores.values)
    return np.where(broken, np.uint8(Status.failed), scores.status)


class EvaluationView:
    """Lookups over an evaluation's summaries, in its own order."""

    def __init__(self, evaluation: Evaluation) -> None:
        self.evaluation = evaluation
        self.systems = evaluation.scores.systems
        self.measures = evaluation.scores.measures
        self.unranked = evaluation.matching.unranked if evaluation.matching is not None else frozenset[str]()
        self._best: dict[tuple[str, str | None, str | None], BestSystems] = {}
        self._found = {(s.system, s.measure, s.slice, s.value): s for s in evaluation.summaries}

    def summary(
        self, system: str, measure: Measure, slice_name: str | None = None, value: str | None = None
    ) -> Summary | None:
        return self._found.get((system, measure.name, slice_name, value))

    def row(self, measure: Measure, slice_name: str | None = None, value: str | None = None) -> list[Summary]:
        """The summaries of a measure, one per system that has one."""
        row = (self.summary(system, measure, slice_name, value) for system in self.systems)
        return [s for s in row if s is not None]

    def best_systems(self, measure: Measure, slice_name: str | None = None, value: str | None = None) -> BestSystems:
        """Who is best in a measure, and who may be as good."""
        key = (measure.name, slice_name, value)
        if key not in self._best:
            row = self.row(measure, slice_name, value)
            self._best[key] = (
                best_systems(measure, row, self.unranked) if self._same_rows(measure, row) else BestSystems()
            )
        return self._best[key]

    def digits(self, measure: Measure, slice_name: str | None = None) -> int:
        """The decimals that the means of a measure are worth in all, or by a slice: by the widest of the intervals."""
        return self._digits.get((measure.name, slice_name), 4)

    @cached_property
    def _digits(self) -> dict[tuple[str, str | None], int]:
        digits: dict[tuple[str, str | None], int] = {}
        for s in self.evaluation.summaries:
            key = (s.measure, s.slice)
            digits[key] = min(digits.get(key, 4), digits_of(s.low, s.high))
        return digits

    def _same_rows(self, measure: Measure, row: Sequence[Summary]) -> bool:
        """Whether means stand over the same questions, as far as missing answers go."""
        if not any(s.n_missing for s in row):
            return True
        scores = self.evaluation.scores
        systems = [self.systems.index(s.system) for s in row if s.mean is not None]
        scored = scores.status[systems, :, self.measures.index(measure)] == Status.ok
        return bool((scored == scored[:1]).all())

    @cached_property
    def slices(self) -> dict[str, list[str]]:
        """Values of each slice, in order."""
        slices: dict[str, dict[str, None]] = {}
        for s in self.evaluation.summaries:
            if s.slice is not None and s.value is not None:
                slices.setdefault(s.slice, {})[s.value] = None
        return {name: slice_order(name, values) for name, values in slices.items()}

    @cached_property
    def families(self) -> list[list[Measure]]:
        """Measures that differ in their cut only, together, in order of first appearance."""
        families: dict[object, list[Measure]] = {}
        for measure in self.measures:
            families.setdefault((measure.spec.name, measure.given), []).append(measure)
        return list(families.values())

    @cached_property
    def key_measures(self) -> list[Measure]:
        """The headlines, then one measure of each family, best known first: what a small table shows."""
        return main_measures(self.measures, self.evaluation.dialect)

    @cached_property
    def ordered_measures(self) -> list[Measure]:
        """All measures, the key measures first."""
        return [*self.key_measures, *(m for m in self.measures if m not in self.key_measures)]

    @cached_property
    def counts(self) -> list[tuple[list[Measure], list[tuple[str, int, int, int]]]]:
        """Measures with the same n, undefined and failed for every system, together."""
        alike: dict[tuple[tuple[str, int, int, int], ...], list[Measure]] = {}
        for measure in self.measures:
            key = tuple((s.system, s.n, s.n_undefined, s.n_failed) for s in self.row(measure))
            alike.setdefault(key, []).append(measure)
        return [(measures, list(key)) for key, measures in alike.items()]


class StudyView(EvaluationView):
    """Lookups over a study, in its own order unless said."""

    def __init__(self, study: Study) -> None:
        super().__init__(study.evaluation)
        self.study = study
        self.measure_named = {m.name: m for m in self.measures}
        self.configuration_of: dict[str, Configuration] = {c.name: c for c in study.configurations}

    @cached_property
    def answers(self) -> Answers:
        from karat.report.answers import Answers

        return Answers(self.evaluation, self.study.answers)

    @cached_property
    def main(self) -> Measure | None:
        """The main measure; the first that is well known where that was not computed."""
        return self.measure_named.get(self.study.main) or next(iter(super().key_measures), None)

    @cached_property
    def key_measures(self) -> list[Measure]:
        """The main measure, then the best known of the others."""
        others = [m for m in main_measures(self.measures, self.evaluation.dialect) if m is not self.main]
        return [*([self.main] if self.main is not None else []), *others]

    def mean(self, system: str, measure: Measure | None) -> float | None:
        """A mean that is a number."""
        summary = None if measure is None else self.summary(system, measure)
        return None if summary is None or summary.mean is None or not np.isfinite(summary.mean) else summary.mean

    @cached_property
    def by_mean(self) -> list[str]:
        """Systems by the main measure, best first, those without a value last; of equal ones the first stays first."""
        ranked = ranked_systems(self.evaluation, self.main.name if self.main is not None else "")
        return [*ranked, *(s for s in self.systems if s not in ranked)]

    @cached_property
    def ranking(self) -> list[str]:
        """The same with the chosen system in front."""
        chosen = self.study.choice.best.system if self.study.choice is not None else None
        return sorted(self.by_mean, key=lambda s: s != chosen)

    @property
    def best(self) -> str | None:
        """The system that leads: the chosen one, else the first by the main measure."""
        return next(iter(self.ranking), None)

    @cached_property
    def failure_counts(self) -> list[FailureCount]:
        """How the leading system fails, what costs most first."""
        return costliest(c for c in self.study.failure_counts if c.system == self.best)

    @cached_property
    def failure_of(self) -> dict[tuple[str, str], Failure]:
        """The failure of a system on a question."""
        return {(f.system, f.question): f for f in self.study.failures}

    def knows_gold(self, system: str) -> bool:
        """Whether it is stored which hits of a system hold gold."""
        if system not in self._knows_gold:
            hits = self.study.hits.get(system, {})
            known = (
                hits.holds.values()
                if isinstance(hits, HitTable)
                else (hit.holds for own in hits.values() for hit in own)
            )
            self._knows_gold[system] = any(known)
        return self._knows_gold[system]

    @cached_property
    def _knows_gold(self) -> dict[str, bool]:
        return {}

    @cached_property
    def number_of(self) -> dict[str, int]:
        """The place of a question."""
        return {id_: i for i, id_ in enumerate(self.evaluation.scores.questions)}

    @cached_property
    def on_page(self) -> dict[str, int]:
        """The questions that a page carries, with their places on it.

        Of more than MOST_ON_PAGE first the worst answers, then what the leading system fails, then the hardest.
        """
        ids, systems = self.evaluation.scores.questions, self.answers.systems if self.answers.quality else ()
        if len(ids) <= MOST_ON_PAGE:
            return self.number_of
        worst = {ids[q] for system in systems for q, _ in self.answers.worst(system, WORST_ANSWERS)}
        first = sorted(ids, key=lambda q: (q not in worst, (self.best, q) not in self.failure_of, self.ease.get(q, 1)))
        chosen = set(first[:MOST_ON_PAGE])
        return {question: place for place, question in enumerate(q for q in ids if q in chosen)}

    @cached_property
    def page(self) -> StudyView:
        """The study of the questions that a page carries alone; figures over all questions stay as they are."""
        if len(self.on_page) == len(self.number_of):
            return self
        evaluation, numbers = self.evaluation, [self.number_of[question] for question in self.on_page]
        testset, of = evaluation.testset, evaluation.testset.questions
        evaluation = replace(
            evaluation,
            testset=TestSet((of[n] for n in numbers), name=testset.name, norm=testset.norm),
            scores=evaluation.scores.select(questions=numbers),
            answers={system: [texts[n] for n in numbers] for system, texts in evaluation.answers.items()},
        )
        failures = tuple(failure for failure in self.study.failures if failure.question in self.on_page)
        return StudyView(replace(self.study, evaluation=evaluation, failures=failures))

    @cached_property
    def status(self) -> NDArray[np.uint8]:
        return statuses(self.evaluation.scores)

    @cached_property
    def ease(self) -> dict[str, float]:
        """The mean of the main measure over the systems, of each question that has one; the more the easier."""
        if self.main is None or self.main.spec.direction == "none":
            return {}
        scores, column = self.evaluation.scores, self.measures.index(self.main)
        ok = self.status[:, :, column] == Status.ok
        total = np.where(ok, scores.values[:, :, column], 0.0).sum(axis=0)
        sign = -1 if self.main.spec.direction == "lower" else 1
        known = zip(scores.questions, total.tolist(), ok.sum(axis=0).tolist(), strict=True)
        return {question: sign * value / n for question, value, n in known if n}

    def questions_of(self, slice_name: str) -> dict[str, list[Question]]:
        """The questions of each value of a slice."""
        questions: dict[str, list[Question]] = {}
        for question in self.evaluation.testset:
            questions.setdefault(question.slice_value(slice_name) or NO_VALUE, []).append(question)
        return {value: questions[value] for value in slice_order(slice_name, questions)}

    def alpha(self, system: str) -> str | None:
        """The weight of the dense engine as it is written; None where a system has none."""
        configuration = self.configuration_of.get(system)
        return f"{configuration.alpha:g}" if configuration is not None and configuration.alpha is not None else None
