"""Confidence: whether a system that says how sure it is of its answers can be believed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from karat.core.errors import UsageError
from karat.core.scores import Scores
from karat.experiment._labelled import CORRECTNESS, Labelled
from karat.experiment._named import find_measure, others
from karat.experiment._outcomes import selective_of
from karat.measures.outcomes import BY_WORDS, RightRule, outcomes
from karat.results.calibration import Reliability
from karat.results.evaluation import Evaluation, Note, SelectiveAccuracy
from karat.stats.arrays import Floats
from karat.stats.calibration_error import brier, expected_calibration_error, reliability


def reliabilities(
    scores: Scores,
    confidence: Mapping[str, Sequence[float | None]],
    labelled: Sequence[Labelled],
    correct: str | None,
) -> tuple[list[Reliability], list[Note]]:
    """The calibration of each system's confidence, by what makes an answer right, and what should be known of it."""
    right, rule, notes = _right(scores, labelled, correct)
    if right is None:
        return [], notes
    calibrations = []
    for number, system in enumerate(scores.systems):
        sure = np.array(confidence.get(system, ()), np.float64)
        if not np.isfinite(sure).any():
            continue
        wrong = np.isfinite(sure) & ~((sure >= 0) & (sure <= 1))
        if wrong.any():
            text = f"{system}: {int(wrong.sum()):,} confidences lie outside 0 to 1 (such as {sure[wrong][0]:g})"
            notes.append(Note("warning", f"{text}: they are no probabilities, so its calibration is not given."))
            continue
        known = np.isfinite(sure) & np.isfinite(right[number])
        left = int((np.isfinite(sure) & ~known).sum())
        if not known.any():
            notes.append(Note("warning", f"{system}: nothing says whether its {left:,} answers are right ({rule})."))
            continue
        calibrations.append(_one(system, rule, sure[known], right[number][known], left))
    return calibrations, notes


def selectives(
    evaluation: Evaluation, labelled: Sequence[Labelled], correct: str | None
) -> tuple[list[SelectiveAccuracy], list[Note]]:
    """Of each system that answers, how often its surest answers are right; none where nothing says which are."""
    right, rule, _ = _right(evaluation.scores, labelled, correct)
    answerable = [question.answerable for question in evaluation.testset.questions]
    curves, notes = [], list[Note]()
    for number, system in enumerate(evaluation.scores.systems if right is not None else ()):
        texts, sure = evaluation.answers.get(system, ()), evaluation.confidence.get(system, ())
        if right is None or not texts:
            continue
        outcome = outcomes(texts, right[number], answerable)
        if np.isfinite(outcome).any():
            curve, curve_notes = selective_of(system, rule, outcome, texts, sure)
            curves.append(curve)
            notes += curve_notes
    return curves, notes


def _one(system: str, rule: str, sure: Floats, right: Floats, left: int) -> Reliability:
    wide, full = reliability(sure, right), reliability(sure, right, by="mass")
    return Reliability(
        system=system,
        correct_by=rule,
        n=len(sure),
        n_left_out=left,
        confidence=float(sure.mean()),
        accuracy=float(right.mean()),
        ece_width=expected_calibration_error(wide),
        ece_mass=expected_calibration_error(full),
        brier=brier(sure, right),
        bins=wide,
    )


def _right(scores: Scores, labelled: Sequence[Labelled], correct: str | None) -> tuple[Floats | None, str, list[Note]]:
    """1 for each right answer (system x question), 0 for a wrong one, NaN where nothing says; and by what rule."""
    by_people = next((one for one in labelled if one.name.partition("(")[0] == CORRECTNESS), None)
    if correct is None and by_people is not None:
        half = sum(by_people.bounds) / 2
        right = np.full(scores.values.shape[:2], np.nan)
        for item in by_people.items:
            right[item.system, item.question] = float(item.mean >= half)
        return right, f"people's labels of {CORRECTNESS} of at least {half:g}", []
    rule = BY_WORDS if correct is None else RightRule.parse(correct, "--correct")
    wanted = rule.measure
    number = find_measure(wanted, scores.measures)
    if number is None and correct is not None:
        raise UsageError(f"--correct {correct!r}: no scores by {wanted} in the run. {others(wanted, scores.measures)}")
    if number is None:
        text = (
            "systems report how sure they are of their answers, and nothing says which answers are right: label "
            f'{CORRECTNESS}, or name a measure of the run, as in --correct "{BY_WORDS}".'
        )
        return None, str(rule), [Note("warning", text)]
    shown = f"{scores.measures[number].name} {rule.sign} {rule.value:g}"
    shown += "" if correct is not None else " (the default of --correct)"
    return rule.right(scores.of_measure(number)), shown, []
