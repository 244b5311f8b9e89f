"""Calibrate: how far a judge, or any measure of a stored run, agrees with what people say of the same answers."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from karat.core.errors import UsageError
from karat.core.scores import Scores, Status
from karat.core.text.words import in_words, plural
from karat.experiment._confidence import reliabilities, selectives
from karat.experiment._corrected import are_unlike, corrected_mean
from karat.experiment._identity import judges_of, mixture_notes
from karat.experiment._judges import table_of
from karat.experiment._labelled import CORRECTNESS, Labelled, meet
from karat.experiment._raters import Categories, agreement_of, compare_two, order_of, pairs_of, slants_of
from karat.experiment.rendering import file_writer
from karat.experiment.store import find_run
from karat.files import as_judgements, as_labels
from karat.results.calibration import (
    Agreement,
    Calibration,
    Confusion,
    Disagreement,
    LabelledScore,
    MeasureCalibration,
    SystemOrder,
)
from karat.results.evaluation import Note
from karat.results.serial import load_study
from karat.results.study import Study
from karat.stats.agreement import mean_difference, spearman
from karat.stats.arrays import Floats, Ints
from karat.stats.repeats import repeats

ROUGH = 10  # labelled answers below which figures are called rough


def calibrate(
    run: Study | str | os.PathLike[str],
    labels: Any,
    *,
    measures: Sequence[str] = (),
    scale: Sequence[str] = (),
    correct: str | None = None,
    columns: Mapping[str, str] | None = None,
    runs_dir: str | os.PathLike[str] = "runs",
) -> Calibration:
    """Compare the scores of a run with labels: a path, a list of dicts or a frame of id, system, measure, label, rater.

    A labels.jsonl of `karat view` holds labels of Correctness, or of the one measure that is named.
    `scale` gives the ends of the labels' scale where it is not the measure's ("1:5", "Faithfulness=1:5"); `correct`
    says by which measure an answer is right ("TokenF1>=0.5"), for the calibration of confidences and for the accuracy
    of the surest answers.
    """
    study = run if isinstance(run, Study) else load_study(find_run(runs_dir, os.fspath(run)).path)
    given = as_labels(labels, columns=columns, measure=None if len(measures) == 1 else CORRECTNESS)
    scores = study.evaluation.scores
    confidence = study.evaluation.confidence
    confident = any(value is not None for values in confidence.values() for value in values)
    met = meet(given, scores, measures, scale, confident=confident)
    calibrated = tuple(_measure(one, scores) for one in met.labelled if one.number is not None)
    selective, curve_notes = selectives(study.evaluation, met.labelled, correct)
    reliable, more = (
        reliabilities(scores, confidence, met.labelled, correct)
        if confident
        else ((), () if selective else _pointless(correct))
    )
    return Calibration(
        run=study.name,
        taken=given.taken,
        measures=calibrated,
        reliability=tuple(reliable),
        selective=tuple(selective),
        unmatched=dict(met.unmatched),
        notes=(*met.notes, *more, *curve_notes),
    )


def calibrate_judges(
    labels: Any,
    judges: Mapping[str, Any],
    *,
    people: Sequence[str] = (),
    measures: Sequence[str] = (),
    scale: Sequence[str] = (),
    columns: Mapping[str, str] | None = None,
) -> Calibration:
    """Compare judges with people and with each other on the same answers, of which no run is needed.

    `judges` are columns of the labels, or a path, a list of dicts or a frame each, by name; `people` the columns of
    those who rated, one each, where the labels have no column `label`. `scale` gives the ends of all grades ("1:5"),
    or of one judge ("gpt=1:10"), whose grades are put into the scale of the others.
    """
    if not judges:
        raise UsageError("no judge is named. Name one with --judge NAME=COLUMN or --judge NAME=FILE.")
    given = as_judgements(labels, judges, people=people, columns=columns)
    table = table_of(given, measures, scale)
    return Calibration(
        run=given.place,
        taken=given.taken[0],
        others=given.taken[1:],
        measures=tuple(_measure(one, table.scores, table.about) for one in table.labelled),
        pairs=pairs_of(table.scores, table.categories),
        notes=tuple(table.notes),
    )


def calibration_writer(path: str | os.PathLike[str]) -> Callable[[Calibration], None]:
    """What writes a calibration into this file, by its ending; an ending that says nothing is refused at once."""
    from karat.report import objects, tables
    from karat.report.build.calibration import document

    return file_writer(path, document, {".json": objects.calibration, ".csv": tables.calibration})


def _pointless(correct: str | None) -> tuple[Note, ...]:
    text = "--correct changes nothing: no system of this run reports how sure it is of its answers."
    return () if correct is None else (Note("warning", text),)


def _measure(
    labelled: Labelled, scores: Scores, about: Mapping[str, Mapping[tuple[int, int], float | str]] | None = None
) -> MeasureCalibration:
    """One measure against people; `about` is what may bias it, by system and question."""
    number = labelled.number or 0
    items = labelled.items
    systems, questions = (np.array([getattr(i, name) for i in items], np.int64) for name in ("system", "question"))
    status = scores.status[systems, questions, number]
    values = np.where(status == Status.ok, scores.values[systems, questions, number], np.nan)
    people = np.array([item.mean for item in items])
    scored = np.isfinite(values)
    shown, agreement, parted = compare_two(people, values, questions, Categories(labelled.categories, labelled.names))
    sample = tuple(
        LabelledScore(
            system=scores.systems[items[i].system],
            question=scores.questions[items[i].question],
            score=float(values[i]),
            people=float(people[i]),
        )
        for i in np.flatnonzero(scored)
    )
    both = values[scored], people[scored]
    correlation = spearman(*both)
    bias = mean_difference(both[0] - both[1], questions[scored]) if scored.any() else (None, None, None)
    again = repeats([tuple(d["repeats"]) for (_, _, m), d in scores.details.items() if m == number and "repeats" in d])
    judges = judges_of(scores, number)
    without = _without(scores, number, zip(systems[~scored].tolist(), questions[~scored].tolist(), strict=True))
    notes = [*labelled.notes, *without, *_told(both, shown, correlation), *mixture_notes(judges)]
    notes += _unlike(scores, number, systems[scored], questions[scored])
    return MeasureCalibration(
        measure=labelled.name,
        n_labels=labelled.labels,
        n_items=len(items),
        n_scored=int(scored.sum()),
        n_undefined=int((status == Status.undefined).sum()),
        n_failed=int((~scored & (status != Status.undefined)).sum()),
        raters=labelled.raters,
        people=_among_people(labelled, questions),
        agreement=agreement,
        spearman=correlation,
        bias=bias[0],
        bias_low=bias[1],
        bias_high=bias[2],
        confusion=shown and replace(shown, off=_parted(labelled, scores, values, people, parted)),
        systems=tuple(
            corrected_mean(scores, labelled, system, questions[here & scored], people[here & scored])
            for system in np.unique(systems).tolist()
            if (here := systems == system).any()
        ),
        flips=again.flips if again else None,
        n_repeated=again.rows if again else 0,
        order=_order(labelled, scores, systems, questions, people),
        slants=slants_of(values, people, questions, _beside(labelled, about or {})),
        judges=judges,
        sample=sample,
        ends=labelled.ends,
        notes=tuple(notes),
    )


def _order(labelled: Labelled, scores: Scores, systems: Ints, questions: Ints, people: Floats) -> SystemOrder:
    """The order of systems by people and by the measure, over the answers that both graded."""
    theirs = np.full(scores.values.shape[:2], np.nan)
    theirs[systems, questions] = people
    return order_of(theirs, scores.of_measure(labelled.number or 0))


def _beside(
    labelled: Labelled, about: Mapping[str, Mapping[tuple[int, int], float | str]]
) -> dict[str, list[float | str | None]]:
    """What is known about each labelled answer, where anything is."""
    return {
        name: [values.get((item.system, item.question)) for item in labelled.items]
        for name, values in about.items()
        if values
    }


def _parted(
    labelled: Labelled, scores: Scores, values: Floats, people: Floats, places: Ints
) -> tuple[Disagreement, ...]:
    return tuple(
        Disagreement(
            system=scores.systems[labelled.items[i].system],
            question=scores.questions[labelled.items[i].question],
            people=float(people[i]),
            score=float(values[i]),
        )
        for i in places.tolist()
    )


def _among_people(labelled: Labelled, questions: Ints) -> Agreement:
    """How far people agree with each other."""
    raters = labelled.raters
    if len(raters) < 2:
        return Agreement(
            raters=1, n=0, why=("there is one rater, so how far people agree with each other is not known",)
        )
    ratings = np.array([[item.ratings.get(rater, np.nan) for item in labelled.items] for rater in raters])
    return agreement_of(ratings, questions, labelled.categories)


def _without(scores: Scores, number: int, places: Iterable[tuple[int, int]]) -> list[Note]:
    """Warns of labelled answers that have no score, with the reasons."""
    reasons: dict[str, dict[str, str]] = {"failed": {}, "is undefined": {}}
    for system, question in places:
        verb = "is undefined" if scores.status[system, question, number] == Status.undefined else "failed"
        row = f"{scores.questions[question]} of {scores.systems[system]}"
        reasons[verb][row] = scores.reason(system, question, number) or ""
    return [
        Note(
            "warning",
            f"{plural(len(rows), 'labelled answer')} without a score: the measure {verb} there: {in_words(rows)}.",
        )
        for verb, rows in reasons.items()
        if rows
    ]


def _told(both: tuple[Floats, Floats], table: Confusion | None, correlation: float | None) -> list[Note]:
    """What the reader of the figures must know."""
    values, people = both
    remarks: list[tuple[bool, str]] = []
    if len(values) < ROUGH:
        remarks.append(
            (True, f"{plural(len(values), 'labelled answer')} with a score: below {ROUGH} every figure is rough.")
        )
    if len(values) and np.ptp(values) == 0:
        remarks.append((True, f"the measure scores all labelled answers {values[0]:.3g}: it tells nothing apart."))
    if len(people) and np.ptp(people) == 0:
        remarks.append((True, f"people give all labelled answers {people[0]:.3g}: label answers that differ."))
    if correlation is not None and correlation < -0.2:
        remarks.append((True, "the measure runs against people. Does a high label mean what a high score means?"))
    if table is not None and table.ties:
        remarks.append(
            (False, f"people are evenly divided on {plural(table.ties, 'answer')}, in no cell of the table.")
        )
    if table is None:
        remarks.append((False, "the labels are of a continuous scale: no categories, so no kappa and no table."))
    return [Note("warning" if warns else "info", text) for warns, text in remarks]


def _unlike(scores: Scores, number: int, systems: Ints, questions: Ints) -> list[Note]:
    """Warns where the labelled answers cannot be a random sample: the measure itself scores them otherwise."""
    notes = []
    for system in np.unique(systems).tolist():
        known = scores.status[system, :, number] == Status.ok
        inside = np.zeros(len(known), bool)
        inside[questions[systems == system]] = True
        values = scores.values[system, :, number]
        here, there = values[known & inside], values[known & ~inside]
        if are_unlike(here, there):
            notes.append(
                Note(
                    "warning",
                    f"{scores.systems[system]}: the labelled answers are not like the others (mean score "
                    f"{here.mean():.3f} against {there.mean():.3f}). Corrected means hold for answers chosen for "
                    "labelling at random.",
                )
            )
    return notes
