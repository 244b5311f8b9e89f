"""Labelled answers: where people's labels and the scores of a run meet, and all that does not."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from karat.core.errors import InputError, NoOverlapError, UsageError, did_you_mean
from karat.core.registry import key_of
from karat.core.text.words import names, plural
from karat.experiment._named import FEW, find_measures, need_measure, spellings
from karat.results.evaluation import Note
from karat.stats.arrays import Floats

if TYPE_CHECKING:
    from karat.core.measure import Measure
    from karat.core.scores import Scores
    from karat.results.calibration import HumanLabel, Labels

Scale = tuple[float, float]
CORRECTNESS = "Correctness"
MOST_CATEGORIES = 11
_SCALE = re.compile(r"(?:(?P<measure>.+)=)?(?P<low>-?[\d.]+):(?P<high>-?[\d.]+)")


@dataclass
class Item:
    """One answer with the labels that people gave it, in the scale of the measure."""

    system: int
    question: int
    ratings: dict[str, float] = field(default_factory=dict)  # rater -> label

    @property
    def mean(self) -> float:
        return float(np.mean(list(self.ratings.values())))


@dataclass
class Labelled:
    """The answers labelled by one measure, and what categories the labels have."""

    name: str
    bounds: Scale
    number: int | None  # of the measure in the run; None where the run does not have it
    items: list[Item]
    labels: int
    categories: tuple[float, ...]  # in the measure's scale; none where the labels are of a continuous scale
    names: tuple[str, ...]  # the same as the labels are written
    notes: list[Note]

    @property
    def ends(self) -> Scale | None:
        """The two values of labels that have no more."""
        return (self.categories[0], self.categories[1]) if len(self.categories) == 2 else None

    @property
    def raters(self) -> tuple[str, ...]:
        """Everyone who rated, in the order they appear."""
        return tuple(dict.fromkeys(rater for item in self.items for rater in item.ratings))


@dataclass
class Met:
    """What of the labels was used, and what not."""

    labelled: list[Labelled]
    unmatched: Counter[str]
    notes: list[Note]


def meet(labels: Labels, scores: Scores, wanted: Sequence[str], scale: Sequence[str], *, confident: bool) -> Met:
    """Put each label to the answer it is about. What meets nothing is counted and told; if all does, that is an error.

    Labels of Correctness, which a run without a judge has no scores for, are kept where a system is `confident`.
    """
    chosen = [need_measure(name, scores.measures, "-m") for name in wanted]
    given = dict.fromkeys(label.measure for label in labels.rows if label.measure is not None)
    known = {name: find_measures(name, scores.measures, chosen) for name in given}
    systems = {name: number for number, name in enumerate(scores.systems)}
    questions = {name: number for number, name in enumerate(scores.questions)}
    scales = _scales(scale, scores.measures)
    unmatched: Counter[str] = Counter()
    aside: Counter[str] = Counter()
    placed: dict[tuple[str, int | None], list[tuple[HumanLabel, int, int]]] = {}
    for label in labels.rows:
        meant: Sequence[int | None] = known[label.measure] if label.measure is not None else _only(chosen, labels)
        used = [number for number in meant if not chosen or number in chosen]
        if not used and confident and label.measure is not None and key_of(label.measure) == key_of(CORRECTNESS):
            meant = used = [None]
        system = systems.get(label.system) if label.system is not None else _only_system(scores, labels)
        question = questions.get(label.question)
        if not meant:
            unmatched[f"measure {label.measure}"] += 1
        elif not used:
            aside[str(label.measure)] += 1
        elif system is None:
            unmatched[f"system {label.system}"] += 1
        elif question is None:
            unmatched[f"question {label.question}"] += 1
        else:
            for number in used:
                name = CORRECTNESS if number is None else scores.measures[number].name
                placed.setdefault((name, number), []).append((label, system, question))
    notes = [Note("warning", text) for text in _told(unmatched, scores)]
    notes += [
        Note("info", f"{plural(n, 'label')} of {name} left aside: -m names other measures.")
        for name, n in aside.items()
    ]
    if not placed:
        raise NoOverlapError(_nothing(labels, scores, unmatched, aside))
    order = sorted(placed, key=lambda key: len(scores.measures) if key[1] is None else key[1])
    labelled = [
        labelled_answers(scores.measures, name, number, placed[name, number], scales, labels) for name, number in order
    ]
    return Met(labelled, unmatched, notes)


def _only(chosen: Sequence[int], labels: Labels) -> Sequence[int]:
    if len(chosen) != 1:
        raise InputError(
            "the labels do not say of which measure they are",
            place=labels.place,
            remedy='Add a column "measure", or name the one they are of: -m Faithfulness.',
        )
    return chosen


def _only_system(scores: Scores, labels: Labels) -> int:
    if len(scores.systems) != 1:
        raise InputError(
            f"the labels do not say whose answers they are about, and the run has {len(scores.systems)} systems",
            place=labels.place,
            remedy=f'Add a column "system" with {names(scores.systems, FEW)}.',
        )
    return 0


def _scales(given: Sequence[str], measures: Sequence[Measure]) -> dict[int | None, Scale]:
    """`--scale` values: the ends of the labels' scale by measure, None for all others."""
    scales: dict[int | None, Scale] = {}
    for text in given:
        named, ends = read_scale(text)
        if named is not None and not find_measures(named, measures):
            need_measure(named, measures, "--scale")
        scales.update(dict.fromkeys((None,) if named is None else find_measures(named, measures), ends))
    return scales


def read_scale(text: str) -> tuple[str | None, Scale]:
    """What a `--scale` value is of, None if it does not say, and the ends that it gives."""
    shape = _SCALE.fullmatch(text.strip())
    try:
        low, high = (float(shape["low"]), float(shape["high"])) if shape else (0.0, 0.0)
    except ValueError:
        low = high = 0.0
    if shape is None or not low < high:
        raise UsageError(f"--scale {text!r}: write the lowest and the highest label, as in 1:5 or Faithfulness=1:5.")
    return shape["measure"].strip() if shape["measure"] else None, (low, high)


def labelled_answers(
    measures: Sequence[Measure],
    name: str,
    number: int | None,
    placed: Sequence[tuple[HumanLabel, int, int]],
    scales: Mapping[int | None, Scale],
    labels: Labels,
    grades: Sequence[float] = (),
) -> Labelled:
    """The answers labelled by one measure; `grades` are further ones whose values are categories too."""
    bounds = measures[number].bounds if number is not None else (0.0, 1.0)
    values = np.array([label.value for label, _, _ in placed])
    notes: list[Note] = []
    raw: Scale = (0.0, 1.0)
    if placed[0][0].is_word:
        _refuse_words(name, None if number is None else measures[number], labels)
        notes.append(Note("info", "yes is the highest value, no the lowest (also true, correct; false, wrong)."))
    else:
        raw = scales.get(number, scales.get(None, bounds))
        _check_scale(name, raw, bounds, placed, labels)
        if raw != bounds:
            ends = f"{raw[0]:g} to {raw[1]:g} became {bounds[0]:g} to {bounds[1]:g}"
            notes.append(Note("info", f"labels were put into the scale of the measure: {ends}."))
    steps = steps_of(np.concatenate([values, grades]), raw)
    items: dict[tuple[int, int], Item] = {}
    for (label, system, question), value in zip(placed, moved(values, raw, bounds), strict=True):
        item = items.setdefault((system, question), Item(system, question))
        item.ratings[label.rater if label.rater is not None else "people"] = value
    return Labelled(
        name=name,
        bounds=bounds,
        number=number,
        items=[items[key] for key in sorted(items)],
        labels=len(placed),
        categories=tuple(moved(np.array(steps), raw, bounds)),
        names=tuple(f"{step:g}" for step in steps),
        notes=notes,
    )


def _refuse_words(name: str, measure: Measure | None, labels: Labels) -> None:
    if measure is None:
        return
    low, high = measure.bounds
    if measure.spec.direction == "lower" or not np.isfinite(measure.bounds).all():
        raise InputError(
            f"the labels of {name} are words, and which value of {name} a yes would be cannot be told",
            place=labels.place,
            remedy=f"Write numbers from {low:g} to {high:g}." if np.isfinite(high) else "Write numbers.",
        )


def _check_scale(
    name: str, raw: Scale, bounds: Scale, placed: Sequence[tuple[HumanLabel, int, int]], labels: Labels
) -> None:
    """Every label lies within the scale; one that differs from the measure's was asked for."""
    if raw != bounds and not np.isfinite(bounds).all():
        raise UsageError(f"--scale cannot be used for {name}, whose values have no end. Label in its own values.")
    outside = next((label for label, _, _ in placed if not raw[0] <= label.value <= raw[1]), None)
    if outside is None:
        return
    values = [label.value for label, _, _ in placed]
    least, most = min(values), max(values)
    if raw != bounds:
        remedy = "Correct it, or say the true scale, from the lowest label that could be given to the highest."
        problem = f"label {outside.value:g} lies outside the scale {raw[0]:g}:{raw[1]:g}"
    else:
        remedy = (
            "If they are of another scale, say the lowest and highest label that could be given, as in --scale 1:5."
        )
        problem = (
            f"labels of {name} go from {least:g} to {most:g}, and {name} itself from {bounds[0]:g} to {bounds[1]:g}"
        )
    raise InputError(problem, place=labels.place, row=outside.row, unit=labels.unit, remedy=remedy)


def steps_of(values: Floats, raw: Scale) -> list[float]:
    """The categories of labels: every whole number of a short scale, else the values seen; none of too many."""
    low, high = raw
    whole = bool(np.all(values == np.rint(values)))
    if whole and np.isfinite(raw).all() and low == round(low) and high == round(high) and high - low < MOST_CATEGORIES:
        return [float(step) for step in range(round(low), round(high) + 1)]
    seen = sorted(set(values.tolist()))
    return seen if 2 <= len(seen) <= min(MOST_CATEGORIES, len(values) // 2) else []


def moved(values: Floats, raw: Scale, bounds: Scale) -> list[float]:
    """Values of one scale in another."""
    if raw == bounds:
        return [float(value) for value in values]
    share = (values - raw[0]) / (raw[1] - raw[0])
    return [float(value) for value in bounds[0] + share * (bounds[1] - bounds[0])]


def _told(unmatched: Counter[str], scores: Scores) -> Iterable[str]:
    """A sentence for each kind of thing that labels name and the run does not have."""
    there = {
        "measure": spellings(scores.measures),
        "system": list(scores.systems),
        "question": list(scores.questions),
    }
    for kind, known in there.items():
        strange = [key.partition(" ")[2] for key in unmatched if key.partition(" ")[0] == kind]
        if not strange:
            continue
        labels = sum(unmatched[f"{kind} {name}"] for name in strange)
        near = did_you_mean(strange[0], known)
        has = f" The run has {names(known, FEW)}." if kind != "question" and not near else ""
        yield f"{plural(labels, 'label')} not used: the run has no {kind} {names(strange, FEW)}.{near}{has}"


def _nothing(labels: Labels, scores: Scores, unmatched: Counter[str], aside: Counter[str]) -> str:
    reasons = " ".join(_told(unmatched, scores))
    if aside:
        reasons = f"{reasons} {plural(sum(aside.values()), 'label')} of other measures than -m names.".strip()
    ids = names(scores.questions, FEW)
    example = f" Its questions are {ids}." if any(key.startswith("question ") for key in unmatched) else ""
    return f"{labels.place}: no label meets a score of the run. {reasons}{example}"
