"""Subjects of rules: the measures, counts, times and costs of a stored run, each with its value per question."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from karat.core.errors import UsageError, did_you_mean
from karat.core.scores import Status
from karat.core.text.words import names
from karat.experiment._costs import system_costs
from karat.experiment._named import find_measure, spellings
from karat.stats.arrays import Bools, Floats

if TYPE_CHECKING:
    from karat.core.measure import Measure
    from karat.results.study import Study


SAVED_COUNTS = ("failed", "undefined", "questions")
"""Counts that a baseline holds beside the measures."""
COUNTS = ("failed", "undefined", "empty_answers", "questions")
_STEPS = {"seconds": "retrieve", "seconds_answer": "answer", "seconds_total": "both"}
_SHARES = {"p50": 50.0, "p95": 95.0, "p99": 99.0}
TIMES = tuple(f"{how}_{what}" for what in _STEPS for how in ("mean", *_SHARES, "max"))
SUMS = ("cost_usd", "tokens", "mean_cost_usd", "mean_tokens")


@dataclass(frozen=True)
class Subject:
    """What a rule is about, for one system: a value for each question, and how they become one.

    `failed` marks questions whose value is missing because something broke; `missing` those whose value ought to be
    known and is not. What has neither and is not finite does not count.
    """

    name: str
    values: Floats
    failed: Bools
    missing: Bools
    bounds: tuple[float, float] = (-np.inf, np.inf)
    share: float | None = None  # a percentile in place of the mean
    is_sum: bool = False
    is_measure: bool = False
    why: dict[int, str] = field(default_factory=dict)

    def of(self, chosen: Bools) -> Subject:
        """The same of some questions alone: the others have no value, and none is missed of them."""
        return replace(
            self,
            values=np.where(chosen, self.values, np.nan),
            failed=self.failed & chosen,
            missing=self.missing & chosen,
        )

    @property
    def known(self) -> Bools:
        return np.isfinite(self.values)

    @property
    def value(self) -> float | None:
        """The one value of all questions that have one; None where none has."""
        known = self.values[self.known]
        if self.is_sum:
            return float(known.sum())
        if not len(known):
            return None
        if self.share is not None:
            return float(np.percentile(known, self.share))
        return float(np.clip(known.mean(), known.min(), known.max()))


def subject_of(study: Study, system: str, name: str) -> Subject:
    """The subject that a name means: a measure that the run computed, a count, a time, tokens or cost."""
    plain = name.strip().lower().replace("-", "_")
    measure = _measure_of(study, name)
    if measure is not None:
        return _measured(study, system, measure)
    if plain in COUNTS:
        return _counted(study, system, plain)
    if plain in TIMES:
        return _timed(study, system, plain)
    if plain in SUMS:
        return _spent(study, system, plain)
    measures = study.evaluation.scores.measures
    also = (*COUNTS, *TIMES, *SUMS)
    near = did_you_mean(name, [*spellings(measures), *also])
    raise UsageError(
        f"the run has no {name!r}.{near} It has {names([m.name for m in measures], 24)}; counts "
        f"({', '.join(COUNTS)}), times (such as {TIMES[2]}) and cost ({SUMS[0]})."
    )


def check_system(run: str, name: str, systems: Sequence[str]) -> None:
    """Refuse a name that no system of a run has."""
    if name not in systems:
        near = did_you_mean(name, systems)
        raise UsageError(f"run {run} has no system {name!r}.{near} It has {names(systems, 12)}.")


def saved_subjects(study: Study, system: str) -> Iterator[Subject]:
    """What a baseline holds of a system: measures that have a mean, and counts."""
    for number, measure in enumerate(study.evaluation.scores.measures):
        if measure.is_mean:
            yield _measured(study, system, number)
    for name in SAVED_COUNTS:
        yield _counted(study, system, name)


def _measure_of(study: Study, name: str) -> int | None:
    """The measure that a name means, as the dialect of the run means it."""
    from karat.core.language import parse
    from karat.measures.dialects import dialect_named

    measures = study.evaluation.scores.measures
    number = find_measure(name, measures)
    if number is not None:
        return number
    dialect = dialect_named(study.evaluation.dialect)
    try:
        meant = dialect.meant(parse(name, names=dialect.names), study.evaluation.testset.norm)
    except UsageError:
        return None
    rel = study.manifest.get("spec", {}).get("rel", 1)
    return find_measure(meant.with_rel(rel).name, measures)


def _measured(study: Study, system: str, number: int) -> Subject:
    scores = study.evaluation.scores
    measure: Measure = scores.measures[number]
    measure.require_mean("gates test")
    s = scores.systems.index(system)
    status = scores.status[s, :, number]
    values = np.where(status == Status.ok, scores.values[s, :, number], np.nan)
    failed = (status == Status.failed) | ((status == Status.ok) & ~np.isfinite(values))
    why = {int(q): scores.reason(s, int(q), number) or "" for q in np.flatnonzero(failed)}
    low, high = measure.bounds
    return Subject(
        measure.name, values, failed, np.zeros_like(failed), (float(low), float(high)), is_measure=True, why=why
    )


def _counted(study: Study, system: str, name: str) -> Subject:
    scores = study.evaluation.scores
    s, many = scores.systems.index(system), len(scores.questions)
    nothing = np.zeros(many, bool)
    if name == "questions":
        return Subject(name, np.ones(many), nothing, nothing, is_sum=True)
    if name == "empty_answers":
        from karat.core.text import drop_blocks

        answers = study.answers.get(system)
        if answers is None:
            raise UsageError(f"{system} has no answers in this run, so that there are no empty_answers to count.")
        given = [answers.get(q) for q in scores.questions]
        empty = [a is not None and a.text is not None and not drop_blocks(a.text).strip() for a in given]
        return Subject(name, np.array(empty, np.float64), nothing, nothing, is_sum=True)
    wanted = Status.failed if name == "failed" else Status.undefined
    held = scores.status[s] == wanted
    why = {
        int(q): scores.reason(s, int(q), int(np.flatnonzero(held[q])[0])) or ""
        for q in np.flatnonzero(held.any(axis=1))
    }
    return Subject(name, held.any(axis=1).astype(np.float64), nothing, nothing, is_sum=True, why=why)


def failed_rows(study: Study, system: str) -> Bools:
    """Questions of a system of which at least one score failed."""
    scores = study.evaluation.scores
    failed: Bools = (scores.status[scores.systems.index(system)] == Status.failed).any(axis=1)
    return failed


def _timed(study: Study, system: str, name: str) -> Subject:
    how, _, what = name.partition("_")
    step = _STEPS[what]
    questions = study.evaluation.scores.questions
    many = len(questions)
    took = study.seconds.get(system, ())
    retrieve = np.array(took if len(took) == many else [None] * many, np.float64)
    answers = study.answers.get(system, {})
    answer = np.array([answers[q].seconds if q in answers else None for q in questions], np.float64)
    asked = np.array([q in answers for q in questions], bool)
    wanted = asked if step != "retrieve" and asked.any() else np.ones(many, bool)
    if system in study.timed and step != "answer":
        wanted = wanted & np.isfinite(retrieve)
    whole = system_costs(study, system)["seconds"] if step == "both" else ()
    values = {"retrieve": retrieve, "answer": answer, "both": np.array(whole, np.float64)}[step]
    missing = wanted & ~np.isfinite(values)
    failed = missing & failed_rows(study, system)
    share = 100.0 if how == "max" else _SHARES.get(how)
    return Subject(name, values, failed, missing & ~failed, (0.0, np.inf), share=share)


def _spent(study: Study, system: str, name: str) -> Subject:
    what = name.removeprefix("mean_")
    questions = study.evaluation.scores.questions
    answers = study.answers.get(system, {})
    asked = np.array([q in answers for q in questions], bool)
    values = np.array([getattr(answers[q], what) if q in answers else None for q in questions], np.float64)
    if not asked.any():
        asked = np.ones(len(questions), bool)  # nothing says what was spent: not a 0
    missing = asked & ~np.isfinite(values)
    return Subject(name, values, np.zeros_like(missing), missing, (0.0, np.inf), is_sum=name == what)
