"""From runs and a test set to Answered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from karat.core.answered import Answered
from karat.core.order import ranking

if TYPE_CHECKING:
    from karat.core.run import Run
    from karat.core.types import TestSet


def answered_of(testset: TestSet, runs: Sequence[Run]) -> Answered | None:
    """Answers of all systems beside the references; None when no system gave any."""
    if not any(run.has_answers for run in runs):
        return None
    questions = testset.questions
    answers: list[str | None] = []
    contexts: list[tuple[str, ...] | None] = []
    for run in runs:
        retrieved = retrieved_texts(run)
        for question in questions:
            answer = run.answers.get(question.id)
            answers.append(answer.text if answer is not None else None)
            used = answer.contexts if answer is not None else None
            contexts.append(used if used is not None else retrieved.get(question.id))
    return Answered(
        tuple(run.name for run in runs),
        testset.ids,
        [q.text for q in questions] * len(runs),
        answers,
        [q.answers for q in questions] * len(runs),
        contexts,
        [q.answerable for q in questions] * len(runs),
    )


def retrieved_texts(run: Run) -> dict[str, tuple[str, ...]]:
    """Texts of the hits of each question, best first: the contexts when the answerer does not say what it used."""
    texts = run.fields.get("text")
    if texts is None:
        return {}
    order = ranking(run).tolist()
    found = {}
    for q, qid in enumerate(run.question_ids):
        held = [texts[i] for i in order[run.offsets[q] : run.offsets[q + 1]]]
        if any(t is not None for t in held):
            found[qid] = tuple(t for t in held if t is not None)
    return found
