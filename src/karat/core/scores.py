"""Scores: system x question x measure, each a value with status ok, or no value with a status and a reason."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING, Any

import numpy as np

from karat.core.glance import Glance, Table
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
class Outcome:
    """What a measure returns when plain numbers do not suffice: values, and why some are missing.

    Keys of `undefined` and `failed` are pair numbers; `values` there are ignored. `details` is what a measure can show
    for a score, in plain values (JSON): a judge's reason and claims, the sentence that supports another. `floors` says,
    by the number of a system, what answers have by chance.
    """

    values: NDArray[np.float64]
    undefined: Mapping[int, str] = field(default_factory=dict)
    failed: Mapping[int, str] = field(default_factory=dict)
    details: Mapping[int, Mapping[str, Any]] = field(default_factory=dict)
    floors: Mapping[int, Floor] = field(default_factory=dict)


@dataclass(frozen=True, repr=False)
class Scores(Glance):
    """All scores of one evaluation. NaN stands where status is not ok and never leaves the program.

    `lists_end` names the systems whose lists of hits all end at the same length, with that length: past it a cut-off
    sees nothing.
    """

    systems: tuple[str, ...]
    questions: tuple[str, ...]
    measures: tuple[Measure, ...]
    values: NDArray[np.float64]  # system x question x measure
    status: NDArray[np.uint8]  # Status, same shape
    reasons: Mapping[tuple[int, int, int], str] = field(default_factory=dict)
    details: Mapping[tuple[int, int, int], Mapping[str, Any]] = field(default_factory=dict)
    floors: Mapping[tuple[int, int], Floor] = field(default_factory=dict)  # system, measure: what chance gives
    lists_end: Mapping[str, int] = field(default_factory=dict)

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
        found = np.zeros(self.values.shape, bool)
        for place, reason in self.reasons.items():
            found[place] = reason == MISSING_ANSWER
        return found

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
