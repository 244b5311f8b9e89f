"""Results: results.json of a run, for programs: where it comes from, and every question of every system."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from karat.core.scores import Scores
from karat.report.answers import Answers
from karat.report.frame import SUMMARY, TEXT
from karat.results.serial import plain
from karat.results.study import Study, StudyAnswer

FORMAT = "karat results"
VERSION = 1


def render(study: Study) -> str:
    """The object as text, a line for each question. `results.schema.json` beside this file is its JSON Schema.

    A score that does not exist is null, and `reasons` says why. `details` is what a measure shows for its score: a
    judge's reason, claims and raw reply, the sentence that supports another. No seconds stand here: they differ from
    run to run.
    """
    return "".join(parts(study))


def parts(study: Study) -> Iterator[str]:
    """The same, question by question."""
    evaluation = study.evaluation
    labels = {(f.system, f.question): f.label for f in study.failures}
    answers = Answers(evaluation, study.answers)
    settings = {c.name: dict(c.settings) for c in study.configurations}
    about = {
        "format": FORMAT,
        "version": VERSION,
        "manifest": dict(study.manifest),
        "testset": {
            "name": evaluation.testset.name,
            "digest": evaluation.testset.digest,
            "version": evaluation.testset.version,
        },
        "main": study.main,
    }
    between = ",\n"
    yield f'{_open(about)},\n "systems": [\n'
    for s, name in enumerate(evaluation.scores.systems):
        system = {
            "name": name,
            "settings": settings.get(name, {}),
            "summary": _summary(study, name),
            "answers": _answers(study, answers, name),
        }
        yield f'{between if s else ""}{_open(system)},\n "questions": [\n'
        for q, question in enumerate(_questions(study, s, labels)):
            yield f"{between if q else ''}{json.dumps(question, allow_nan=False)}"
        yield "\n ]}"
    yield "\n ]\n}\n"


def _open(about: dict[str, Any]) -> str:
    """The text of an object to which more is added: without its end."""
    return json.dumps(about, indent=1, allow_nan=False).removesuffix("\n}")


def _summary(study: Study, system: str) -> dict[str, dict[str, Any]]:
    """Every measure over all questions."""
    columns = {column: field for column, field in SUMMARY.items() if column not in TEXT or column == "note"}
    return {
        summary.measure: {column: plain(getattr(summary, field)) for column, field in columns.items()}
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
        "refusals": None if refused is None else {name: plain(getattr(refused, name)) for name in rates},
    }


def _questions(study: Study, system: int, labels: dict[tuple[str, str], Any]) -> Iterator[dict[str, Any]]:
    evaluation = study.evaluation
    name, questions = evaluation.scores.systems[system], evaluation.scores.questions
    ranked: Sequence[Sequence[str]] = evaluation.ranked.get(name, [()] * len(questions))
    answers = evaluation.answers.get(name, [None] * len(questions))
    for q, qid in enumerate(questions):
        yield {
            "id": qid,
            "ranked": list(ranked[q]),
            "answer": answers[q],
            **_scores(evaluation.scores, system, q),
            **_known(study.answers.get(name, {}).get(qid)),
            "failure": labels.get((name, qid)),
        }


def _scores(scores: Scores, system: int, question: int) -> dict[str, Any]:
    """Every measure of a question, why some have no value, and what they show."""
    reasons = {
        measure.name: reason
        for m, measure in enumerate(scores.measures)
        if (reason := scores.reason(system, question, m)) is not None
    }
    details = {
        measure.name: plain(dict(shown))
        for m, measure in enumerate(scores.measures)
        if (shown := scores.detail(system, question, m))
    }
    return {
        "scores": {measure.name: scores.value(system, question, m) for m, measure in enumerate(scores.measures)},
        "reasons": reasons,
        "details": details,
    }


def _known(answer: StudyAnswer | None) -> dict[str, Any]:
    """What is known of an answer beside its text; nulls where there is none."""
    if answer is None:
        return dict.fromkeys(("answer_error", "declined", "contexts"))
    return {"answer_error": answer.error, "declined": answer.declined, "contexts": list(answer.used)}
