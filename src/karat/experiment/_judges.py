"""Judges of the same answers as scores, a measure each, with people's labels of them: no run is needed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from karat.core.errors import InputError, NoOverlapError, UsageError, did_you_mean
from karat.core.measure import ANYTHING, Measure, MeasureSpec
from karat.core.registry import key_of
from karat.core.scores import Scores, Status
from karat.core.text.words import names, plural
from karat.experiment._labelled import Labelled, Scale, labelled_answers, moved, read_scale, steps_of
from karat.experiment._named import FEW
from karat.experiment._raters import Categories
from karat.results.evaluation import Note

if TYPE_CHECKING:
    from karat.results.calibration import HumanLabel, Judgements, Labels

    Place = tuple[int, int]

PEOPLE = "people"
ANSWERS = "answers"  # what the one system is called of which no file says the name
NO_GRADE = "the judge gave no grade"
_MOST_CELLS = 20_000_000  # systems x questions x judges
_WIDER = 1.5  # times that a judge's grades may span what people's do before two scales are suspected


@dataclass(frozen=True)
class JudgeTable:
    """Grades of judges as scores, the labels of people for each of them, and what may bias a judge by answer."""

    scores: Scores
    labelled: list[Labelled]
    categories: Categories
    about: Mapping[str, Mapping[Place, float | str]]
    notes: list[Note]


def table_of(given: Judgements, measures: Sequence[str], scale: Sequence[str]) -> JudgeTable:
    """Put what judges and people say of the same answers beside each other."""
    raters = _raters(given, measures)
    _refuse_mixtures(raters)
    is_word = next(iter(raters.values())).rows[0].is_word
    scales = _scales(scale, list(raters), is_word)
    systems = _Systems(raters)
    questions = {label.question: None for labels in raters.values() for label in labels.rows}
    number = {question: i for i, question in enumerate(questions)}
    _refuse_strangers(raters)
    bounds = scales[PEOPLE]
    judges = {name: labels for name, labels in raters.items() if name != PEOPLE}
    spec = {name: MeasureSpec(name, _unasked, stage="answer", bounds=bounds) for name in judges}
    shape = (len(systems.names), len(questions), len(judges))
    if math.prod(shape) > _MOST_CELLS:
        raise InputError(
            f"{shape[0]:,} systems by {shape[1]:,} questions are more than can be compared",
            place=given.place,
            remedy='Does the column "system" hold the names of systems?',
        )
    values = np.full(shape, np.nan)
    for j, (name, labels) in enumerate(judges.items()):
        grades = moved(_within(name, labels, scales[name]), scales[name], bounds)
        for label, grade in zip(labels.rows, grades, strict=True):
            values[systems.of(label, labels), number[label.question], j] = grade
    status = np.where(np.isfinite(values), Status.ok, Status.undefined).astype(np.uint8)
    scores = Scores(
        tuple(systems.names),
        tuple(questions),
        tuple(map(Measure, spec.values())),
        values=values,
        status=status,
    )
    every = values[np.isfinite(values)]
    notes = _scale_notes(scores, raters.get(PEOPLE), scale, is_word)
    about = {
        what: {
            (systems.number(system, given.place), number[question]): value
            for (system, question), value in known.items()
            if question in number and (system is None or system in systems)
        }
        for what, known in (("length", given.lengths), ("position", given.positions))
    }
    if PEOPLE not in raters:
        steps = steps_of(every, bounds)
        return JudgeTable(scores, [], Categories(tuple(steps), tuple(f"{s:g}" for s in steps)), about, notes)
    people = raters[PEOPLE]
    _within(PEOPLE, people, bounds)
    placed = [(label, systems.of(label, people), number[label.question]) for label in people.rows]
    without = [(s, q, j) for _, s, q in placed for j in range(len(judges)) if not np.isfinite(values[s, q, j])]
    scores = replace(scores, reasons=dict.fromkeys(without, NO_GRADE))
    first = labelled_answers(scores.measures, "", 0, placed, {}, people, every.tolist())
    labelled = [replace(first, name=name, number=j, notes=[]) for j, name in enumerate(judges)]
    categories = Categories(first.categories, first.names)
    return JudgeTable(scores, labelled, categories, about, [*first.notes, *notes])


def _unasked(**given: Any) -> Any:
    """A judge whose grades were read."""
    raise AssertionError("a judge of a file is not asked again")


def _raters(given: Judgements, measures: Sequence[str]) -> dict[str, Labels]:
    """People, if there are any, and every judge, of the one measure that is meant."""
    if PEOPLE in given.judges:
        raise UsageError(f"--judge {PEOPLE}=...: a judge cannot be called so. Give it another name.")
    raters = {PEOPLE: given.people} if given.people is not None else {}
    raters |= given.judges
    if len(raters) < 2:
        raise UsageError(
            f"{given.place}: there is one judge and no label of people, so there is nothing to compare it with. Name "
            "the column of people's labels with --people, or a second judge with --judge."
        )
    there = dict.fromkeys(label.measure for labels in raters.values() for label in labels.rows if label.measure)
    if len(measures) > 1:
        raise UsageError("judges are compared by one measure at a time. Name one with -m.")
    if len(there) > 1 and not measures:
        raise InputError(
            f"the labels are of {len(there)} measures ({names(list(there), FEW)})",
            place=given.place,
            remedy=f"Name the one that judges are compared by: -m {next(iter(there))}.",
        )
    meant = [name for name in there if measures and key_of(name) == key_of(measures[0])]
    if there and measures and not meant:
        raise UsageError(f"-m {measures[0]}: no label is of it.{did_you_mean(measures[0], there)}")
    return {
        name: replace(labels, rows=tuple(row for row in labels.rows if row.measure in (None, *(meant or there))))
        for name, labels in raters.items()
    }


def _refuse_mixtures(raters: Mapping[str, Labels]) -> None:
    """Words of one rater and numbers of another: nobody can say which number a yes is."""
    for name, labels in raters.items():
        if not labels.rows:
            raise InputError(f"{name} has no grade by the measure that -m names", place=labels.place)
    first = next(iter(raters))
    other = next((name for name, labels in raters.items() if labels.rows[0].is_word != _is_word(raters[first])), None)
    if other is not None:
        word, number = (first, other) if _is_word(raters[first]) else (other, first)
        raise InputError(
            f"{word} grades by words and {number} by numbers",
            place=raters[other].place,
            row=raters[other].rows[0].row,
            unit=raters[other].unit,
            remedy="Write the grades of all in one way.",
        )


def _is_word(labels: Labels) -> bool:
    return labels.rows[0].is_word


def _scales(given: Sequence[str], raters: Sequence[str], is_word: bool) -> dict[str, Scale]:
    """The scale of every rater; that of people is the one into which all are put."""
    if is_word:
        if given:
            raise UsageError("--scale would change nothing: the grades are words, yes or no. Leave it out.")
        return dict.fromkeys((PEOPLE, *raters), (0.0, 1.0))
    stated = dict(map(read_scale, given))
    for name in stated:
        if name is not None and name not in (PEOPLE, *raters):
            raise UsageError(f"--scale {name}=...: there is no judge {name!r}.{did_you_mean(name, raters)}")
    common = stated.get(PEOPLE, stated.get(None))
    if common is None and stated:
        name, (low, high) = next(iter(stated.items()))
        raise UsageError(f"--scale {name}={low:g}:{high:g}: say the scale of the others too, as in --scale 1:5.")
    others = stated.get(None, common)
    return {name: stated.get(name, others) or ANYTHING for name in raters} | {PEOPLE: common or ANYTHING}


def _within(name: str, labels: Labels, scale: Scale) -> np.ndarray[Any, np.dtype[np.float64]]:
    """The grades of a rater, each of which lies on the scale."""
    outside = next((label for label in labels.rows if not scale[0] <= label.value <= scale[1]), None)
    if outside is not None:
        whose = "label" if name == PEOPLE else f"grade of {name},"
        raise InputError(
            f"{whose} {outside.value:g} lies outside the scale {scale[0]:g}:{scale[1]:g}",
            place=labels.place,
            row=outside.row,
            unit=labels.unit,
            remedy=f"Correct it, or say the true scale, as in --scale {'' if name == PEOPLE else f'{name}='}1:10.",
        )
    return np.array([label.value for label in labels.rows])


class _Systems:
    """The systems that are named anywhere, in the order in which they first are."""

    def __init__(self, raters: Mapping[str, Labels]) -> None:
        named = dict.fromkeys(label.system for labels in raters.values() for label in labels.rows if label.system)
        self.names: list[str] = list(named) or [ANSWERS]
        self._number = {name: i for i, name in enumerate(self.names)}

    def __contains__(self, name: str) -> bool:
        return name in self._number

    def of(self, label: HumanLabel, labels: Labels) -> int:
        return self.number(label.system, labels.place)

    def number(self, name: str | None, place: str) -> int:
        if name is not None:
            return self._number[name]
        if len(self.names) > 1:
            raise InputError(
                f"the grades do not say whose answers they are about, and there are {len(self.names)} systems",
                place=place,
                remedy=f'Add a column "system" with {names(self.names, FEW)}.',
            )
        return 0


def _refuse_strangers(raters: Mapping[str, Labels]) -> None:
    """Judges of which none graded an answer that people labelled, or, without people, that another judge graded."""
    ids = {name: {label.question for label in labels.rows} for name, labels in raters.items()}
    pairs = [(PEOPLE, name) for name in ids if name != PEOPLE] if PEOPLE in ids else list(combinations(ids, 2))
    if any(ids[a] & ids[b] for a, b in pairs):
        return
    a, b = pairs[0]
    raise NoOverlapError(
        f"no answer was graded by {a} and by {b}: {a} has {names(sorted(ids[a]), FEW)}; {b} has "
        f"{names(sorted(ids[b]), FEW)}. Do the ids agree?"
    )


def _scale_notes(scores: Scores, people: Labels | None, scale: Sequence[str], is_word: bool) -> list[Note]:
    """What should be known of scales: grades that look like those of another one, judges that say one thing alone."""
    notes = []
    theirs = [label.value for label in people.rows] if people is not None else None
    for j, measure in enumerate(scores.measures):
        grades = scores.values[:, :, j][np.isfinite(scores.values[:, :, j])]
        if theirs is None and np.ptp(grades) == 0:
            text = f"{measure.name} gives all {plural(len(grades), 'answer')} {grades[0]:g}: it tells nothing apart."
            notes.append(Note("warning", text))
        if theirs is not None and not scale and not is_word and np.ptp(grades) > _WIDER * np.ptp(theirs):
            text = (
                f"{measure.name} grades from {grades.min():g} to {grades.max():g}, people from {min(theirs):g} to "
                f"{max(theirs):g}, and both are taken for one scale. If they are two, say both, as in "
                f"--scale {min(theirs):g}:{max(theirs):g} --scale {measure.name}={grades.min():g}:{grades.max():g}."
            )
            notes.append(Note("warning", text))
    return notes
