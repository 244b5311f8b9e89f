"""Calibrate: how far a judge, or any measure of a stored run, agrees with what people say of the same answers."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from karat.core.scores import Status
from karat.core.text.words import plural
from karat.experiment._confidence import reliabilities, selectives
from karat.experiment._labelled import Labelled, meet
from karat.experiment.report import file_writer
from karat.experiment.store import find_run
from karat.results.calibration import Agreement, Calibration, Confusion, CorrectedMean, Disagreement, MeasureCalibration
from karat.results.evaluation import Note
from karat.results.serial import load_study
from karat.results.study import Study
from karat.stats.agreement import (
    Metric,
    cohen_kappa,
    confusion,
    kappa_interval,
    krippendorff_alpha,
    mean_difference,
    spearman,
)
from karat.stats.prediction_powered import FEWEST, Estimate, effective_labels, people_mean, powered_mean
from karat.stats.repeats import repeats

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from karat.core.scores import Scores

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

ROUGH = 10  # labelled answers below which figures are called rough
_FAR = 3.0  # standard errors by which labelled answers may differ from the others before they are called unlike them


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

    `scale` gives the ends of the labels' scale where it is not the measure's ("1:5", "Faithfulness=1:5"); `correct`
    says by which measure an answer is right ("TokenF1>=0.5"), for the calibration of confidences and for the accuracy
    of the surest answers.
    """
    from karat.files import as_labels

    study = run if isinstance(run, Study) else load_study(find_run(runs_dir, os.fspath(run)).path)
    given = as_labels(labels, columns=columns)
    scores = study.evaluation.scores
    confidence = study.evaluation.confidence
    confident = any(value is not None for values in confidence.values() for value in values)
    met = meet(given, scores, measures, scale, confident=confident)
    found = tuple(_measure(one, scores) for one in met.labelled if one.number is not None)
    selective, said = selectives(study.evaluation, met.labelled, correct)
    reliable, more = (
        reliabilities(scores, confidence, met.labelled, correct)
        if confident
        else ((), () if selective else _pointless(correct))
    )
    return Calibration(
        run=study.name,
        taken=given.taken,
        measures=found,
        reliability=tuple(reliable),
        selective=tuple(selective),
        unmatched=dict(met.unmatched),
        notes=(*met.notes, *more, *said),
    )


def calibration_writer(path: str | os.PathLike[str]) -> Callable[[Calibration], None]:
    """What writes a calibration into this file, by its ending; an ending that says nothing is refused at once."""
    from karat.report import objects, tables
    from karat.report.build.calibration import document
    from karat.report.render import written

    forms: dict[str, Callable[[Calibration], str]] = {
        ".json": objects.calibration, ".csv": tables.calibration,
        ".md": lambda found: written(document(found), ".md"), ".txt": lambda found: written(document(found), ".txt"),
    }  # fmt: skip
    return file_writer(path, forms)


def _pointless(correct: str | None) -> tuple[Note, ...]:
    text = "--correct changes nothing: no system of this run reports how sure it is of its answers."
    return () if correct is None else (Note("warning", text),)


def _measure(labelled: Labelled, scores: Scores) -> MeasureCalibration:
    number = labelled.number or 0
    items = labelled.items
    systems, questions = (np.array([getattr(i, name) for i in items], np.int64) for name in ("system", "question"))
    status = scores.status[systems, questions, number]
    values = np.where(status == Status.ok, scores.values[systems, questions, number], np.nan)
    people = np.array([item.mean for item in items])
    scored = np.isfinite(values)
    among = _among_people(labelled, questions)
    shown, agreement = _against_people(labelled, scores, values, people, systems, questions)
    both = values[scored], people[scored]
    correlation = spearman(*both)
    bias = mean_difference(both[0] - both[1], questions[scored]) if scored.any() else (None, None, None)
    corrected = tuple(
        _corrected(scores, labelled, system, questions[here & scored], people[here & scored])
        for system in np.unique(systems).tolist()
        if (here := systems == system).any()
    )
    again = repeats([tuple(d["repeats"]) for (_, _, m), d in scores.details.items() if m == number and "repeats" in d])
    undefined, failed = int((status == Status.undefined).sum()), int((~scored & (status != Status.undefined)).sum())
    without = _without(scores, number, zip(systems[~scored].tolist(), questions[~scored].tolist(), strict=True))
    notes = [*labelled.notes, *without, *_told(both, shown, correlation)]
    notes += _unlike(scores, number, systems[scored], questions[scored])
    return MeasureCalibration(
        measure=labelled.name,
        n_labels=labelled.labels,
        n_items=len(items),
        n_scored=int(scored.sum()),
        n_undefined=undefined,
        n_failed=failed,
        raters=labelled.raters,
        people=among,
        agreement=agreement,
        spearman=correlation,
        bias=bias[0],
        bias_low=bias[1],
        bias_high=bias[2],
        confusion=shown,
        systems=corrected,
        flips=again.flips if again else None,
        n_repeated=again.rows if again else 0,
        notes=tuple(notes),
    )


def _among_people(labelled: Labelled, questions: Ints) -> Agreement:
    """How far people agree with each other."""
    raters = labelled.raters
    ratings = np.array([[item.ratings.get(rater, np.nan) for item in labelled.items] for rater in raters])
    if len(raters) < 2:
        return Agreement(
            raters=1, n=0, why=("there is one rater, so how far people agree with each other is not known",)
        )
    return _agreement(ratings, questions, labelled)


def _agreement(ratings: Floats, questions: Ints, labelled: Labelled) -> Agreement:
    """Agreement of raters x items, in values of the categories where there are any."""
    categories = np.array(labelled.categories)
    metric: Metric = "interval" if not len(categories) else "nominal" if len(categories) == 2 else "ordinal"
    several = np.isfinite(ratings).sum(axis=0) > 1
    n = int(several.sum())
    if not n:
        return Agreement(raters=len(ratings), n=0, metric=metric, why=("no answer was rated by two",))
    why: list[str] = []
    alpha = krippendorff_alpha(ratings, metric)
    if alpha is None:
        why.append("all ratings are the same, so there is nothing to agree about: kappa and alpha are undefined")
    kappa = weighted = None
    ends = weighted_ends = None
    if len(ratings) == 2 and len(categories):
        codes = np.searchsorted(categories, ratings[:, several] - 1e-9)
        table = confusion(codes[0], codes[1], len(categories))
        _, groups = np.unique(questions[several], return_inverse=True)
        tables = np.zeros((groups.max() + 1, *table.shape))
        np.add.at(tables, (groups, codes[0], codes[1]), 1)
        kappa, ends = cohen_kappa(table), kappa_interval(tables)
        if len(categories) > 2:
            weighted, weighted_ends = cohen_kappa(table, categories), kappa_interval(tables, categories)
        if kappa is None and alpha is not None:
            why.append("kappa is undefined")
    low, high = ends or (None, None)
    weighted_low, weighted_high = weighted_ends or (None, None)
    return Agreement(
        raters=len(ratings),
        n=n,
        kappa=kappa,
        low=low,
        high=high,
        weighted=weighted,
        weighted_low=weighted_low,
        weighted_high=weighted_high,
        alpha=alpha,
        metric=metric,
        why=tuple(why),
    )


def _against_people(
    labelled: Labelled, scores: Scores, values: Floats, people: Floats, systems: Ints, questions: Ints
) -> tuple[Confusion | None, Agreement]:
    """The measure as one rater and people's mean as another, in categories where the labels have any."""
    categories = np.array(labelled.categories)
    if not len(categories):
        return None, _agreement(np.array([values, people]), questions, labelled)
    cuts = (categories[1:] + categories[:-1]) / 2
    tied = np.isclose(people[:, None], cuts[None, :], rtol=0, atol=1e-9).any(axis=1)
    usable = np.isfinite(values) & ~tied
    theirs = np.searchsorted(cuts, people, side="right")
    its = np.searchsorted(cuts, np.where(usable, values, 0.0), side="right")
    both = np.where(usable, np.array([categories[its], categories[theirs]]), np.nan)
    off = tuple(
        Disagreement(
            system=scores.systems[int(systems[i])],
            question=scores.questions[int(questions[i])],
            people=float(people[i]),
            score=float(values[i]),
        )
        for i in np.flatnonzero(usable & (its != theirs))
    )
    counts = confusion(theirs[usable], its[usable], len(categories))
    table = Confusion(
        categories=labelled.categories,
        names=labelled.names,
        cuts=tuple(cuts.tolist()),
        counts=tuple(map(tuple, counts.tolist())),
        ties=int((tied & np.isfinite(values)).sum()),
        off=off,
    )
    return table, _agreement(both, questions, labelled)


def _corrected(scores: Scores, labelled: Labelled, system: int, questions: Ints, people: Floats) -> CorrectedMean:
    """A system's mean by the measure, by people, and by both."""
    number = labelled.number or 0
    known = scores.status[system, :, number] == Status.ok
    values = scores.values[system, :, number]
    name, n, n_scored = scores.systems[system], len(questions), int(known.sum())
    mean = float(values[known].mean()) if n_scored else None
    if not n:
        return CorrectedMean(
            system=name,
            n=0,
            n_scored=n_scored,
            measure_mean=mean,
            people_mean=None,
            people_low=None,
            people_high=None,
            why="no labelled answer has a score",
        )
    ends = (labelled.categories[0], labelled.categories[1]) if len(labelled.categories) == 2 else None
    others = known.copy()
    others[questions] = False
    alone = _within(people_mean(people, ends), labelled.bounds) if n > 1 else Estimate(float(people[0]), None, None)
    both = powered_mean(people, values[questions], values[others], ends)
    corrected = CorrectedMean(
        system=name,
        n=n,
        n_scored=n_scored,
        measure_mean=mean,
        people_mean=alone.mean,
        people_low=alone.low,
        people_high=alone.high,
    )
    if both is None:
        few = f"{n} labelled answer{'' if n == 1 else 's'} with a score: {FEWEST} are needed to correct the measure"
        return replace(corrected, why=few)
    both = _within(both, labelled.bounds)
    return replace(
        corrected,
        mean=both.mean,
        low=both.low,
        high=both.high,
        weight=both.weight,
        effective=effective_labels(n, alone, both),
    )


def _within(found: Estimate, bounds: tuple[float, float]) -> Estimate:
    """The same, no end of it past what the measure can be."""
    mean, low, high = (None if v is None else float(np.clip(v, *bounds)) for v in (found.mean, found.low, found.high))
    return Estimate(mean if mean is not None else found.mean, low, high, found.weight)


def _without(scores: Scores, number: int, places: Iterable[tuple[int, int]]) -> list[Note]:
    """Warns of labelled answers that have no score, with the reasons."""
    from karat.core.text.words import in_words

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
    told: list[tuple[bool, str]] = []
    if len(values) < ROUGH:
        told.append(
            (True, f"{plural(len(values), 'labelled answer')} with a score: below {ROUGH} every figure is rough.")
        )
    if len(values) and np.ptp(values) == 0:
        told.append((True, f"the measure scores all labelled answers {values[0]:.3g}: it tells nothing apart."))
    if len(people) and np.ptp(people) == 0:
        told.append((True, f"people give all labelled answers {people[0]:.3g}: label answers that differ."))
    if correlation is not None and correlation < -0.2:
        told.append((True, "the measure runs against people. Does a high label mean what a high score means?"))
    if table is not None and table.ties:
        told.append((False, f"people are evenly divided on {plural(table.ties, 'answer')}, in no cell of the table."))
    if table is None:
        told.append((False, "the labels are of a continuous scale: no categories, so no kappa and no table."))
    return [Note("warning" if warns else "info", text) for warns, text in told]


def _unlike(scores: Scores, number: int, systems: Ints, questions: Ints) -> list[Note]:
    """Warns where the labelled answers cannot be a random sample: the measure itself scores them otherwise."""
    found = []
    for system in np.unique(systems).tolist():
        known = scores.status[system, :, number] == Status.ok
        inside = np.zeros(len(known), bool)
        inside[questions[systems == system]] = True
        values = scores.values[system, :, number]
        here, there = values[known & inside], values[known & ~inside]
        if min(len(here), len(there)) < FEWEST:
            continue
        error = float(np.sqrt(here.var(ddof=1) / len(here) + there.var(ddof=1) / len(there)))
        if abs(here.mean() - there.mean()) > max(_FAR * error, 1e-9):
            found.append(
                Note(
                    "warning",
                    f"{scores.systems[system]}: the labelled answers are not like the others (mean score "
                    f"{here.mean():.3f} against {there.mean():.3f}). Corrected means hold for answers chosen for "
                    "labelling at random.",
                )
            )
    return found
