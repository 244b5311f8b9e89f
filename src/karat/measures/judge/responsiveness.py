"""Responsiveness."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from karat.core.measure import EMPTY_ANSWER, Answered, Outcome, measure
from karat.measures.judge import _prompts as prompts
from karat.measures.judge._heuristics import responds
from karat.measures.judge._runner import NO_QUESTION, Asked, Asking, By, Case, Judge, cut_answer, graded

WORTH = {"fully": 1.0, "mostly": 2 / 3, "barely": 1 / 3, "not": 0.0}
UNANSWERABLE = "the question is marked unanswerable: Refusal says whether the answer declines it"


@measure(
    name="Responsiveness",
    aliases=("answer_relevancy", "responsive"),
    needs=("chat",),
    needs_gold=False,
    best_for="whether an answer gives what was asked for, true or not",
    prefer="Correctness where there are references",
    variants=("Responsiveness(by=heuristic)",),
)
def responsiveness(answered: Answered, *, by: By = "model") -> Outcome:
    """Whether the answer gives what was asked for, true or not, by a language model.

    Fully 1, mostly 2/3, barely 1/3, not at all 0. An empty answer scores 0; a question marked unanswerable is
    undefined. `by=heuristic` asks no model: 0 if the answer declines or says nothing that the question does not, else
    1, so that it sees only the worst.
    """
    return _JUDGE.run(answered, by)


def _settle(case: Case, by: By) -> str | tuple[float, str] | None:
    if not case.question.strip():
        return NO_QUESTION
    if not case.answerable:
        return UNANSWERABLE
    return None if case.answer else (0.0, EMPTY_ANSWER)


def _ask(asking: Asking, asked: Asked) -> Sequence[Any]:
    from karat.measures.judge._schemas import AnswerGrade

    purpose = asking.purpose()
    grades = [prompts.grade_response(case.question, answer, purpose, sample) for case, answer, sample in asked]
    return asking.ask(grades, AnswerGrade)


_JUDGE = Judge(
    name="Responsiveness",
    prompt=prompts.RESPONSIVENESS,
    settle=_settle,
    items=lambda case: (case.answer,),
    cuts=(cut_answer,),
    ask=_ask,
    weigh=lambda reply: graded(reply, WORTH.__getitem__),
    heuristic=lambda case, answer: responds(case.question, answer),
)
