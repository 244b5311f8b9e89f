"""JSON: everything the console says, as one object for programs.

Keys come in a fixed order, a number that does not exist is null (NaN and Infinity are no JSON), and the text is
plain ASCII, so that it survives any terminal and any encoding.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from karat.core.measure import Measure
from karat.core.scores import Status
from karat.report._output import Output
from karat.report.build.evaluation import leaders
from karat.report.lookups import EvaluationView, statuses
from karat.results.evaluation import Evaluation
from karat.results.serial import plain

FORMAT = 1


def render(evaluation: Evaluation, *, rows: bool = False, indent: int | None = 2) -> str:
    """The object as text, with a newline at its end. `rows` adds every question of every system."""
    return json.dumps(document(evaluation, rows=rows), indent=indent, allow_nan=False) + "\n"


def document(evaluation: Evaluation, *, rows: bool = False) -> dict[str, Any]:
    """The object itself, made of plain dicts, lists, texts and numbers."""
    view = EvaluationView(evaluation)
    fields: dict[str, Any] = {
        "format": FORMAT,
        "dialect": evaluation.dialect,
        "testset": {
            "name": evaluation.testset.name,
            "questions": len(evaluation.testset),
            "digest": evaluation.testset.digest,
            "version": evaluation.testset.version,
        },
        "inputs": evaluation.taken,
        "matching": evaluation.matching,
        "systems": view.systems,
        "measures": [_measure(view, measure) for measure in view.measures],
        "summaries": evaluation.summaries,
        "targets": evaluation.targets,
        "usage": evaluation.usage,
        "pareto": evaluation.pareto,
        "refusals": list(evaluation.refusals.values()),
        "outcomes": evaluation.outcomes,
        "selective": evaluation.selective,
        "verdicts": evaluation.verdicts,
        "leaders": leaders(view),
        "notes": evaluation.notes,
        **({"labelled": evaluation.labelled} if evaluation.labelled is not None else {}),
    }
    if rows:
        fields["rows"] = list(question_rows(evaluation))
    document: dict[str, Any] = plain(fields)
    return document


def _measure(view: EvaluationView, measure: Measure) -> dict[str, Any]:
    best = view.best_systems(measure)
    scores = view.evaluation.scores
    floors = {scores.systems[s]: f.chance for (s, m), f in scores.floors.items() if scores.measures[m] == measure}
    return {
        "name": measure.name,
        "stage": measure.spec.stage,
        "direction": measure.spec.direction,
        "range": list(measure.bounds),
        "unit": measure.spec.unit,
        "best": [s for s in view.systems if s in best.best],
        "overlaps_best": [s for s in view.systems if s in best.near],
        **({"floors": floors} if floors else {}),
    }


def question_rows(evaluation: Evaluation) -> Iterator[dict[str, Any]]:
    """Every question of every system: what was ranked and answered, and each score with its status and reason."""
    scores = evaluation.scores
    status = statuses(scores)
    for s, system in enumerate(scores.systems):
        ranked, answers = evaluation.ranked.get(system), evaluation.answers.get(system)
        for q, question in enumerate(scores.questions):
            row: dict[str, Any] = {"system": system, "question": question, "scores": {}}
            if ranked is not None:
                row["ranked"] = list(ranked[q])
            if answers is not None:
                row["answer"] = answers[q]
            if (steps := evaluation.steps.get(system, {}).get(question)) is not None:
                row["steps"] = plain(steps)
            for m, measure in enumerate(scores.measures):
                value = scores.value(s, q, m)
                score: dict[str, Any] = {"value": value, "status": Status(status[s, q, m]).name}
                reason = scores.reason(s, q, m)
                if reason is not None:
                    score["reason"] = reason
                shown = scores.detail(s, q, m)
                if shown:
                    score["details"] = dict(shown)
                row["scores"][measure.name] = score
            yield row


def with_rows(evaluation: Evaluation) -> str:
    """results.json: the object with every question of every system."""
    return render(evaluation, rows=True)


OUTPUT = Output(".json", with_rows, {"results.json": with_rows})
