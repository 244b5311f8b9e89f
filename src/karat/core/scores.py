"""Scores: system x question x measure, each a value with status ok, or no value with a status and a reason."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from enum import IntEnum
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from karat.core.glance import NotebookView, Table
from karat.core.text.words import names, plural

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from karat.core.measure import Measure


EMPTY_ANSWER = "the answer is empty"
MISSING_ANSWER = "no answer in the results"
"""The reason of a score whose answer is missing and would count as 0: undefined, or 0 where missing answers count."""


class Status(IntEnum):
    """Whether a score has a value."""

    ok = 0
    undefined = 1
    failed = 2


@dataclass(frozen=True)
class Floor:
    """What chance gives beside what answers have, both over the same `n` answers.

    `chance` is the mean over the references of other questions, `own` over those of their own.
    """

    chance: float
    own: float | None = None
    n: int = 0


@dataclass(frozen=True)
class MeasureResult:
    """What a measure returns when plain numbers do not suffice: values, and why some are missing.

    Keys of `undefined` and `failed` are pair numbers; `values` there are ignored. `details` is what a measure can show
    for a score, in plain values (JSON): a judge's reason and claims, the sentence that supports another. `floors` says,
    by the number of a system, what answers have by chance.
    """

    values: NDArray[np.float64]
    undefined: Mapping[int, str] = field(default_factory=dict)
    _: KW_ONLY
    failed: Mapping[int, str] = field(default_factory=dict)
    details: Mapping[int, Mapping[str, Any]] = field(default_factory=dict)
    floors: Mapping[int, Floor] = field(default_factory=dict)


@dataclass(frozen=True, repr=False)
class Scores(NotebookView):
    """All scores of one evaluation. NaN stands where status is not ok and never leaves the program.

    `lists_end` names the systems whose lists of hits all end at the same length, with that length: past it a cut-off
    sees nothing. `conversations` is the number of each question's conversation, None where each is its own: scores of
    one conversation are resampled together (`TestSet.conversations`).
    """

    systems: tuple[str, ...]
    questions: tuple[str, ...]
    measures: tuple[Measure, ...]
    _: KW_ONLY
    values: NDArray[np.float64]  # system x question x measure
    status: NDArray[np.uint8]  # Status, same shape
    reasons: Mapping[tuple[int, int, int], str] = field(default_factory=dict)
    details: Mapping[tuple[int, int, int], Mapping[str, Any]] = field(default_factory=dict)
    floors: Mapping[tuple[int, int], Floor] = field(default_factory=dict)  # system, measure: what chance gives
    lists_end: Mapping[str, int] = field(default_factory=dict)
    conversations: tuple[int, ...] | None = None

    @classmethod
    def without_values(
        cls, systems: Sequence[str], questions: Sequence[str], measures: Sequence[Measure], reason: str
    ) -> Scores:
        """No value for anything, all for the same reason."""
        shape = (len(systems), len(questions), len(measures))
        status = np.full(shape, Status.undefined, np.uint8)
        reasons = dict.fromkeys(np.ndindex(shape), reason)
        return cls(
            tuple(systems),
            tuple(questions),
            tuple(measures),
            values=np.full(shape, np.nan),
            status=status,
            reasons=reasons,
        )

    @classmethod
    def concat(cls, parts: Sequence[Scores], axis: Literal["systems", "measures"] = "systems") -> Scores:
        """Scores of the same questions, one part's systems (or measures of the same systems) after the other's."""
        first, along = parts[0], 0 if axis == "systems" else 2
        if len(parts) == 1:
            return first
        before = np.cumsum([0, *(part.values.shape[along] for part in parts)]).tolist()
        shifts = [(n, 0) if axis == "systems" else (0, n) for n in before]

        def shifted(name: str) -> dict[Any, Any]:
            return {
                (key[0] + systems, *key[1:-1], key[-1] + measures): entry
                for part, (systems, measures) in zip(parts, shifts, strict=False)
                for key, entry in getattr(part, name).items()
            }

        return cls(
            tuple(name for part in parts for name in part.systems) if axis == "systems" else first.systems,
            first.questions,
            tuple(measure for part in parts for measure in part.measures) if axis == "measures" else first.measures,
            values=np.concatenate([part.values for part in parts], axis=along),
            status=np.concatenate([part.status for part in parts], axis=along),
            reasons=shifted("reasons"),
            details=shifted("details"),
            floors=shifted("floors"),
            lists_end={system: end for part in parts for system, end in part.lists_end.items()},
            conversations=next((part.conversations for part in parts if part.conversations is not None), None),
        )

    def averaged(self, sizes: Sequence[int]) -> Scores:
        """Systems that stand for repeats of one, so many after the other, as one: under the name of the first.

        A score is the mean of those repeats that have a value. Where a repeat failed it has failed: a question is never
        left out of some repeats alone.
        """
        firsts = np.cumsum([0, *sizes[:-1]]).tolist()
        first = self.select(systems=firsts)
        values, status, reasons = first.values.copy(), first.status.copy(), dict(first.reasons)
        for system, (begin, size) in enumerate(zip(firsts, sizes, strict=True)):
            if size == 1:
                continue
            states = self.status[begin : begin + size]
            defined, failed = (states == Status.ok).sum(axis=0), (states == Status.failed).sum(axis=0)
            sums = np.where(states == Status.ok, self.values[begin : begin + size], 0.0).sum(axis=0)
            is_ok = (failed == 0) & (defined > 0)
            values[system] = np.where(is_ok, sums / np.maximum(defined, 1), np.nan)
            status[system] = np.where(failed > 0, Status.failed, np.where(is_ok, Status.ok, Status.undefined))
            for q, m in np.argwhere(is_ok).tolist():
                reasons.pop((system, q, m), None)
            for q, m in np.argwhere(failed > 0).tolist():
                repeat = begin + int(np.argmax(states[:, q, m] == Status.failed))
                why = self.reasons.get((repeat, q, m), "no reason is known")
                reasons[system, q, m] = f"{failed[q, m]} of {size} repeats failed: {why}"
        return replace(first, values=values, status=status, reasons=reasons)

    def select(
        self,
        *,
        systems: Sequence[int] | None = None,
        questions: Sequence[int] | None = None,
        measures: Sequence[int] | None = None,
    ) -> Scores:
        """The scores of some systems, questions and measures, by their numbers, in this order; None: all."""
        asked = zip((systems, questions, measures), self.values.shape, strict=True)
        chosen = [range(size) if numbers is None else numbers for numbers, size in asked]
        new = [{number: place for place, number in enumerate(numbers)} for numbers in chosen]

        def selected(table: Mapping[Any, Any], axes: Sequence[int] = (0, 1, 2)) -> dict[Any, Any]:
            places = ([new[axis].get(n) for axis, n in zip(axes, key, strict=True)] for key in table)
            return {tuple(at): entry for at, entry in zip(places, table.values(), strict=True) if None not in at}

        rows, lists, columns = chosen
        names = tuple(self.systems[row] for row in rows)
        return Scores(
            names,
            tuple(self.questions[question] for question in lists),
            tuple(self.measures[column] for column in columns),
            values=self.values[np.ix_(*chosen)],
            status=self.status[np.ix_(*chosen)],
            reasons=selected(self.reasons),
            details=selected(self.details),
            floors=selected(self.floors, (0, 2)),
            lists_end={name: self.lists_end[name] for name in names if name in self.lists_end},
            conversations=self.conversations and tuple(self.conversations[question] for question in lists),
        )

    def of_measure(self, measure: int) -> NDArray[np.float64]:
        """Values by one measure, systems x questions; NaN where there is none."""
        return np.where(self.status[:, :, measure] == Status.ok, self.values[:, :, measure], np.nan)

    def value(self, system: int, question: int, measure: int) -> float | None:
        """The score, or None where there is none."""
        place = system, question, measure
        return float(self.values.item(place)) if self.status.item(place) == Status.ok else None

    def reason(self, system: int, question: int, measure: int) -> str | None:
        """Why there is no value."""
        return self.reasons.get((system, question, measure))

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Which scores are of missing answers, in the shape of `values`: left out, or counted as 0."""
        is_missing = np.zeros(self.values.shape, bool)
        for place, reason in self.reasons.items():
            is_missing[place] = reason == MISSING_ANSWER
        return is_missing

    def detail(self, system: int, question: int, measure: int) -> Mapping[str, Any]:
        """What the measure can show for a score; empty where it shows nothing."""
        return self.details.get((system, question, measure), {})

    def _line(self) -> str:
        counts = (plural(len(self.questions), "question"), plural(len(self.measures), "measure"))
        return "; ".join((names(self.systems), *counts))

    def _table(self) -> Table:
        counts = ([int((part == status).sum()) for status in Status] for part in self.status)
        return ("system", *(status.name for status in Status)), (
            (system, *row) for system, row in zip(self.systems, counts, strict=True)
        )
