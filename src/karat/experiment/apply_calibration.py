"""Apply a calibration: the means of a run that nobody labelled, by labels of other answers of the same judge."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from karat.core.errors import InputError, UsageError
from karat.core.scores import Scores, Status
from karat.core.text.words import names, plural
from karat.experiment._corrected import are_unlike, within
from karat.experiment._identity import judges_of, same_judge
from karat.experiment._named import FEW, need_measure
from karat.experiment.rendering import file_writer
from karat.experiment.store import find_run
from karat.io.opening import read_whole
from karat.io.records import JSONError, parse_json
from karat.report.objects import CALIBRATION
from karat.results.calibration import AppliedCalibration, AppliedMeasure, CorrectedMean, JudgeIdentity
from karat.results.evaluation import Note
from karat.results.serial import load_study
from karat.results.study import Study
from karat.stats.arrays import Floats, Ints
from karat.stats.prediction_powered import FEWEST, transferred_mean

_HEAD = 200  # bytes of a file within which its format stands
_ASSUMED = (
    "These means hold where the answers are like the labelled ones: questions of the same kind, answered by systems of "
    "the same kind. Labels of this run itself need no such assumption."
)


@dataclass(frozen=True)
class SavedMeasure:
    """What a calibration's file holds of one measure."""

    judges: tuple[JudgeIdentity, ...]
    scores: Floats
    people: Floats
    rows: tuple[tuple[str, str], ...]  # system and question
    ends: tuple[float, float] | None

    @property
    def groups(self) -> Ints:
        """The question of each row, as a number."""
        number = {question: i for i, question in enumerate(dict.fromkeys(question for _, question in self.rows))}
        return np.array([number[question] for _, question in self.rows], np.int64)


def is_calibration(path: str | os.PathLike[str]) -> bool:
    """Whether a file is a calibration that karat wrote, rather than a table of labels."""
    try:
        with open(path, "rb") as file:
            return f'"format": "{CALIBRATION.rpartition(" ")[0]}'.encode() in file.read(_HEAD)
    except OSError:
        return False


def apply_calibration(
    run: Study | str | os.PathLike[str],
    calibration: str | os.PathLike[str],
    *,
    measures: Sequence[str] = (),
    runs_dir: str | os.PathLike[str] = "runs",
) -> AppliedCalibration:
    """The means of a run, corrected by the labels that a calibration's file holds; one of another judge is refused."""
    study = run if isinstance(run, Study) else load_study(find_run(runs_dir, os.fspath(run)).path)
    place = os.fspath(calibration)
    calibrated, saved = load_calibration(place)
    scores = study.evaluation.scores
    there = {measure.name: number for number, measure in enumerate(scores.measures)}
    wanted = [scores.measures[need_measure(name, scores.measures, "-m")].name for name in measures]
    for name in wanted:
        if name not in saved:
            raise UsageError(f"{place}: it holds no labels of {name}. It has {names(list(saved), FEW)}.")
    common = wanted or [name for name in saved if name in there]
    if not common:
        raise UsageError(f"{place} is of {names(list(saved), FEW)}, and run {study.name} has no scores by it.")
    applied = tuple(_applied(saved[name], scores, there[name], place, study.name) for name in common)
    return AppliedCalibration(
        run=study.name, calibration=place, calibrated=calibrated, measures=applied, notes=(Note("info", _ASSUMED),)
    )


def applied_writer(path: str | os.PathLike[str]) -> Callable[[AppliedCalibration], None]:
    """What writes corrected means into this file, by its ending; an ending that says nothing is refused at once."""
    from karat.report import objects, tables
    from karat.report.build.applied import document

    return file_writer(path, document, {".json": objects.applied, ".csv": tables.applied})


def _applied(saved: SavedMeasure, scores: Scores, number: int, place: str, run: str) -> AppliedMeasure:
    measure = scores.measures[number]
    ours = judges_of(scores, number)
    notes = same_judge(measure, saved.judges, ours, place=place, run=run)
    systems = tuple(_corrected(saved, scores, number, system) for system in range(len(scores.systems)))
    notes += _told(saved, scores, number)
    return AppliedMeasure(
        measure=measure.name,
        judge=ours[0] if ours else None,
        n_labels=len(saved.scores),
        systems=systems,
        notes=tuple(notes),
    )


def _new_scores(scores: Scores, number: int, system: int) -> Floats:
    known = scores.status[system, :, number] == Status.ok
    return np.asarray(scores.values[system, known, number], np.float64)


def _corrected(saved: SavedMeasure, scores: Scores, number: int, system: int) -> CorrectedMean:
    """A system's mean by the measure, and by the line of the saved labels on the saved scores."""
    new, n = _new_scores(scores, number, system), len(saved.scores)
    estimate = transferred_mean(saved.people, saved.scores, saved.groups, new, saved.ends)
    why = ""
    if estimate is None:
        why = (
            "no answer has a score" if not len(new)
            else f"{plural(n, 'label')} in the calibration: {FEWEST} are needed" if n < FEWEST
            else "the judge tells nothing of what people say, so its scores of other answers do not either"
        )  # fmt: skip
    else:
        estimate = within(estimate, scores.measures[number].bounds)
    return CorrectedMean(
        system=scores.systems[system],
        n=n,
        n_scored=len(new),
        measure_mean=float(new.mean()) if len(new) else None,
        people_mean=None,
        people_low=None,
        people_high=None,
        mean=estimate.mean if estimate else None,
        low=estimate.low if estimate else None,
        high=estimate.high if estimate else None,
        weight=estimate.weight if estimate else None,
        why=why,
    )


def _told(saved: SavedMeasure, scores: Scores, number: int) -> list[Note]:
    """Where these answers are unlike the labelled ones, or are them."""
    notes = []
    for system, name in enumerate(scores.systems):
        new = _new_scores(scores, number, system)
        if are_unlike(saved.scores, new):
            text = (
                f"{name}: these answers are not like the labelled ones (mean score {new.mean():.3f} against "
                f"{saved.scores.mean():.3f}), so that the correction may not hold for them. Label some of them."
            )
            notes.append(Note("warning", text))
    places = {name: i for i, name in enumerate(scores.systems)}, {name: i for i, name in enumerate(scores.questions)}
    same = (
        system in places[0]
        and question in places[1]
        and scores.values[places[0][system], places[1][question], number] == score
        for (system, question), score in zip(saved.rows, saved.scores.tolist(), strict=True)
    )
    if saved.rows and all(same):
        text = "The labels are of this very run: `karat judge calibrate RUN LABELS` corrects it without assuming more."
        notes.append(Note("info", text))
    return notes


def load_calibration(path: str | os.PathLike[str]) -> tuple[str, dict[str, SavedMeasure]]:
    """The run that was labelled, and what a calibration's file holds of each measure."""
    place = os.fspath(path)
    try:
        data = parse_json(read_whole(Path(path)).decode("utf-8"))
    except (OSError, UnicodeDecodeError, JSONError) as problem:
        raise _unreadable(place, str(problem)) from None
    if not isinstance(data, dict) or data.get("format") != CALIBRATION or not isinstance(data.get("measures"), list):
        raise _unreadable(place, f"its format is not {CALIBRATION!r}")
    try:
        return str(data["run"]), {str(one["measure"]): _saved(one) for one in data["measures"]}
    except (KeyError, TypeError, ValueError, AttributeError) as problem:
        raise _unreadable(place, f"{type(problem).__name__}: {problem}") from None


def _saved(one: Mapping[str, Any]) -> SavedMeasure:
    others = [field.name for field in fields(JudgeIdentity) if field.name != "by"]
    judges = tuple(
        JudgeIdentity(by=str(judge["by"]), **{name: _text(judge.get(name)) for name in others})
        for judge in one["judges"]
    )
    sample = list(one["sample"])
    values = np.array([[float(row["score"]), float(row["people"])] for row in sample], np.float64).reshape(-1, 2)
    ends = None if one["ends"] is None else (float(one["ends"][0]), float(one["ends"][1]))
    if not np.isfinite(values).all() or (ends and not np.isfinite(ends).all()):
        raise ValueError("a number that is none")
    rows = tuple((str(row["system"]), str(row["question"])) for row in sample)
    return SavedMeasure(judges, values[:, 0], values[:, 1], rows, ends)


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def _unreadable(place: str, why: str) -> InputError:
    remedy = "Write it again with `karat judge calibrate RUN LABELS -o calibration.json`."
    return InputError(f"is no calibration that can be read ({why})", place=place, remedy=remedy)
