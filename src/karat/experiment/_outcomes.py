"""Outcomes: answers right, abstained or wrong by whether their contexts suffice, and over the surest of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from karat.core.scores import Scores
from karat.core.text.words import plural
from karat.measures.outcomes import RIGHT, silent
from karat.results.evaluation import Evaluation, Note, OutcomeTable, SelectiveAccuracy
from karat.stats.arrays import Floats
from karat.stats.outcomes import outcome_table, selective_accuracy

OUTCOME, SUFFICIENT = "CRAG", "ContextSufficient"


def with_outcomes(evaluation: Evaluation) -> Evaluation:
    """The evaluation with what becomes of answers, where its measures say that."""
    scores = evaluation.scores
    selective: list[SelectiveAccuracy] = []
    notes: list[Note] = []
    for m in _columns(scores, OUTCOME):
        for s, system in enumerate(scores.systems):
            outcome = scores.of_measure(m)[s]
            if system in evaluation.answers and np.isfinite(outcome).any():
                texts, sure = evaluation.answers[system], evaluation.confidence.get(system, ())
                curve, curve_notes = selective_of(system, scores.measures[m].name, outcome, texts, sure)
                selective.append(curve)
                notes += curve_notes
    known = {note.text for note in evaluation.notes}
    more = [note for note in notes if note.text not in known]
    return replace(
        evaluation, outcomes=tuple(_tables(scores)), selective=tuple(selective), notes=(*evaluation.notes, *more)
    )


def selective_of(
    system: str, correct_by: str, outcome: Floats, answers: Sequence[str | None], confidence: Sequence[float | None]
) -> tuple[SelectiveAccuracy, list[Note]]:
    """The selective accuracy of a system by the outcomes of its answers (NaN: not known), and what is to be said of it.

    Confidences that are no probabilities are not ranked by: percent beside shares would stand first.
    """
    known = np.isfinite(outcome) & (outcome == np.rint(outcome))
    answered = known & ~silent(answers, outcome)
    sure = np.array(confidence or [None] * len(outcome), np.float64)
    ranked, notes = sure[answered], []
    outside = ranked[np.isfinite(ranked) & ((ranked < 0) | (ranked > 1))]
    if len(outside):
        text = f"{system}: {plural(len(outside), 'confidence')} outside 0 to 1 (such as {outside[0]:g})"
        notes.append(Note("warning", f"{text}, so its selective accuracy is given of all answers together."))
        ranked = np.full(len(ranked), np.nan)
    right = (outcome[answered] == RIGHT).astype(np.float64)
    return selective_accuracy(system, right, ranked, n=int(known.sum()), correct_by=correct_by), notes


def _tables(scores: Scores) -> Iterator[OutcomeTable]:
    """Of each system the table by each pair of measures."""
    for m in _columns(scores, OUTCOME):
        for by in _columns(scores, SUFFICIENT):
            for s, system in enumerate(scores.systems):
                outcome, enough = scores.of_measure(m)[s], scores.of_measure(by)[s]
                if np.isfinite(outcome).any():
                    yield outcome_table(
                        system, enough, outcome,
                        sufficient_by=scores.measures[by].name, outcome_by=scores.measures[m].name,
                        clusters=scores.conversations,
                    )  # fmt: skip


def _columns(scores: Scores, name: str) -> list[int]:
    return [m for m, measure in enumerate(scores.measures) if measure.spec.name == name]
