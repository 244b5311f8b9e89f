"""Results: results.json of a run, for programs: where it comes from, and every question of every system."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from karat.report._answers import Answers
from karat.report.frame import SUMMARY, TEXT
from karat.report.json import finite

if TYPE_CHECKING:
    from karat.core.study import Study

FORMAT = "karat results"
VERSION = 1


def render(study: Study) -> str:
    """The object as text. `results.schema.json` beside this file is its JSON Schema."""
    return json.dumps(document(study), indent=1, allow_nan=False) + "\n"


def document(study: Study) -> dict[str, Any]:
    """The object itself; a score that does not exist is null, and `reasons` says why.

    `details` is what a measure shows for its score: a judge's reason, claims and raw reply, the sentence that supports
    another. No seconds stand here: they differ from run to run.
    """
    evaluation = study.evaluation
    labels = {(f.system, f.question): f.label for f in study.failures}
    answers = Answers(evaluation, study.answers)
    settings = {c.name: dict(c.settings) for c in study.configurations}
    return {
        "format": FORMAT,
        "version": VERSION,
        "manifest": dict(study.manifest),
        "testset": {
            "name": evaluation.testset.name,
            "digest": evaluation.testset.digest,
            "version": evaluation.testset.version,
        },
        "main": study.main,
        "systems": [
            {
                "name": name,
                "settings": settings.get(name, {}),
                "summary": _summary(study, name),
                "answers": _answers(study, answers, name),
                "questions": [_question(study, s, q, labels) for q in range(len(evaluation.scores.questions))],
            }
            for s, name in enumerate(evaluation.scores.systems)
        ],
    }


def _summary(study: Study, system: str) -> dict[str, dict[str, Any]]:
    """Every measure over all questions."""
    columns = {column: field for column, field in SUMMARY.items() if column not in TEXT or column == "note"}
    return {
        summary.measure: {column: finite(getattr(summary, field)) for column, field in columns.items()}
        for summary in study.evaluation.summaries
        if summary.system == system and summary.slice is None
    }


def _answers(study: Study, answers: Answers, system: str) -> dict[str, Any] | None:
    """How the answers of a system went; an unknown number is null, and so is all where it gave none."""
    if system not in answers.systems:
        return None
    bill, refused = answers.bill(system), study.evaluation.refusals.get(system)
    rates = ("unanswerable", "declined", "right", "precision", "recall", "f1")
    return {
        **answers.counts(system),
        "tokens": bill.tokens,
        "cost_usd": bill.cost_usd,
        "refusals": None if refused is None else {name: finite(getattr(refused, name)) for name in rates},
    }


def _question(study: Study, system: int, question: int, labels: dict[tuple[str, str], Any]) -> dict[str, Any]:
    evaluation = study.evaluation
    scores = evaluation.scores
    name, qid = scores.systems[system], scores.questions[question]
    ranked, answers = evaluation.ranked.get(name), evaluation.answers.get(name)
    reasons = {
        measure.name: reason
        for m, measure in enumerate(scores.measures)
        if (reason := scores.reason(system, question, m)) is not None
    }
    said = study.answers.get(name, {}).get(qid)
    details = {
        measure.name: finite(dict(shown))
        for m, measure in enumerate(scores.measures)
        if (shown := scores.detail(system, question, m))
    }
    return {
        "id": qid,
        "ranked": list(ranked[question]) if ranked is not None else [],
        "answer": answers[question] if answers is not None else None,
        "scores": {measure.name: scores.value(system, question, m) for m, measure in enumerate(scores.measures)},
        "reasons": reasons,
        "details": details,
        "answer_error": said.error if said is not None else None,
        "declined": said.declined if said is not None else None,
        "contexts": list(said.used) if said is not None else None,
        "failure": labels.get((name, qid)),
    }
