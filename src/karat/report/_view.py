"""View: an evaluation looked up the ways the renderers need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from karat.core.scores import Status
from karat.report.verdict import headlines, leader, main_measures

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from karat.core.measure import Measure
    from karat.core.scores import Scores
    from karat.results.evaluation import Evaluation, Summary

SAME = 1e-12


@dataclass(frozen=True)
class Marks:
    """Systems with the best mean of a row, and those whose interval overlaps that of a best one."""

    best: frozenset[str] = frozenset()
    near: frozenset[str] = frozenset()


def mark(measure: Measure, row: Sequence[Summary], unranked: frozenset[str] = frozenset()) -> Marks:
    """Which of several systems are best in a measure, by its direction; all of those that tie.

    Nothing is marked in a measure without a direction, where fewer than two systems have a mean, or where the best
    has no interval to judge it by. Systems that are `unranked` are no part of it in measures of retrieval.
    """
    left_out = unranked if measure.spec.stage == "retrieval" else ()
    known = [(s, s.mean) for s in row if s.mean is not None and s.system not in left_out]
    if measure.spec.direction == "none" or len(known) < 2:
        return Marks()
    top = (max if measure.spec.direction == "higher" else min)(mean for _, mean in known)
    best = [s for s, mean in known if abs(mean - top) <= SAME]
    if any(s.low is None or s.high is None for s in best):
        return Marks()
    names = frozenset(s.system for s in best)
    near = frozenset(s.system for s, _ in known if s.system not in names and any(overlap(s, b) for b in best))
    return Marks(names, near)


def overlap(one: Summary, other: Summary) -> bool:
    """Whether two intervals share a point."""
    if one.low is None or one.high is None or other.low is None or other.high is None:
        return False
    return one.low <= other.high and other.low <= one.high


def statuses(scores: Scores) -> NDArray[np.uint8]:
    """The status of every score, where a value that is no finite number has failed, as the summaries count it."""
    broken = (scores.status == Status.ok) & ~np.isfinite(scores.values)
    return np.where(broken, np.uint8(Status.failed), scores.status)


class View:
    """Lookups over an evaluation's summaries, in its own order."""

    def __init__(self, evaluation: Evaluation) -> None:
        self.evaluation = evaluation
        self.systems = evaluation.scores.systems
        self.measures = evaluation.scores.measures
        self.unranked = evaluation.matching.unranked if evaluation.matching is not None else frozenset[str]()
        self._found = {(s.system, s.measure, s.slice, s.value): s for s in evaluation.summaries}

    def summary(
        self, system: str, measure: Measure, slice_name: str | None = None, value: str | None = None
    ) -> Summary | None:
        return self._found.get((system, measure.name, slice_name, value))

    def row(self, measure: Measure, slice_name: str | None = None, value: str | None = None) -> list[Summary]:
        """The summaries of a measure, one per system that has one."""
        found = (self.summary(system, measure, slice_name, value) for system in self.systems)
        return [s for s in found if s is not None]

    def marks(self, measure: Measure, slice_name: str | None = None, value: str | None = None) -> Marks:
        row = self.row(measure, slice_name, value)
        return mark(measure, row, self.unranked) if self._same_rows(measure, row) else Marks()

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
        found: dict[str, dict[str, None]] = {}
        for s in self.evaluation.summaries:
            if s.slice is not None and s.value is not None:
                found.setdefault(s.slice, {})[s.value] = None
        return {name: list(values) for name, values in found.items()}

    @cached_property
    def families(self) -> list[list[Measure]]:
        """Measures that differ in their cut only, together, in order of first appearance."""
        found: dict[object, list[Measure]] = {}
        for measure in self.measures:
            found.setdefault((measure.spec.name, measure.given), []).append(measure)
        return list(found.values())

    @cached_property
    def key_measures(self) -> list[Measure]:
        """The headlines, then one measure of each family, best known first: what a small table shows."""
        return main_measures(self.measures, self.evaluation.dialect)

    @cached_property
    def leaders(self) -> list[str]:
        """A sentence per headline measure on who leads, where several systems are compared."""
        said = []
        for head in headlines(self.measures, self.evaluation.dialect):
            marks = self.marks(head)
            said.append(leader(head, self.row(head), marks.best, marks.near))
        return [line for line in said if line is not None]

    @cached_property
    def counts(self) -> list[tuple[list[Measure], list[tuple[str, int, int, int]]]]:
        """Measures with the same n, undefined and failed for every system, together."""
        alike: dict[tuple[tuple[str, int, int, int], ...], list[Measure]] = {}
        for measure in self.measures:
            key = tuple((s.system, s.n, s.n_undefined, s.n_failed) for s in self.row(measure))
            alike.setdefault(key, []).append(measure)
        return [(measures, list(key)) for key, measures in alike.items()]
