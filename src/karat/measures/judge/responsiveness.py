"""Responsiveness."""

from __future__ import annotations

from karat.core.measure import EMPTY_ANSWER, AnswerTable, MeasureResult, measure
from karat.measures.judge import _prompts as prompts
from karat.measures.judge._heuristics import responds
from karat.measures.judge._runner import ANSWER, NO_QUESTION, By, Judge, JudgedAnswer, ask_for_grades, graded

WORTH = {"fully": 1.0, "mostly": 2 / 3, "barely": 1 / 3, "not": 0.0}
UNANSWERABLE = "the question is marked unanswerable: Refusal says whether the answer declines it"


@measure(
    name="Responsiveness",
    aliases=("answer_relevancy", "responsive"),
    needs=("chat",),
    needs_gold=False,
    formula="1 (fully), 2/3 (mostly), 1/3 (barely) or 0 (not)",
    defined_by="karat",
    best_for="whether an answer gives what was asked for, true or not",
    prefer="Correctness where there are references",
    variants=("Responsiveness(by=heuristic)",),
)
def responsiveness(answered: AnswerTable, *, by: By = "model") -> MeasureResult:
    """Whether the answer gives what was asked for, true or not, by a language model.

    Fully 1, mostly 2/3, barely 1/3, not at all 0. An empty answer scores 0; a question marked unanswerable is
    undefined. `by=heuristic` asks no model: 0 if the answer declines or says nothing that the question does not, else
    1, so that it sees only the worst.
    """
    return _JUDGE.run(answered, by)


def _settle(case: JudgedAnswer, by: By) -> str | tuple[float, str] | None:
    if not case.question.strip():
        return NO_QUESTION
    if not case.answerable:
        return UNANSWERABLE
    return None if case.answer else (0.0, EMPTY_ANSWER)


_JUDGE = Judge(
    name="Responsiveness",
    prompt=prompts.RESPONSIVENESS,
    settle=_settle,
    items=lambda case: (case.answer,),
    limits=(ANSWER,),
    ask=ask_for_grades("AnswerGrade", lambda case, answer, *more: prompts.grade_response(case.asked, answer, *more)),
    weigh=lambda reply: graded(reply, WORTH.__getitem__),
    heuristic=lambda case, answer: responds(case.question, answer),
)
