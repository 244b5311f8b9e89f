"""Relevance."""

from __future__ import annotations

from karat.core.measure import EMPTY_ANSWER, AnswerTable, MeasureResult, measure
from karat.measures.judge import _prompts as prompts
from karat.measures.judge._heuristics import liverag_grade
from karat.measures.judge._runner import (
    ANSWER,
    BLANK_REFERENCE,
    EACH_REFERENCE,
    NO_QUESTION,
    By,
    Judge,
    JudgedAnswer,
    ask_for_grades,
    best_reference,
    graded,
)

NEEDS_REFERENCE = "no reference answer, which the heuristic needs"


@measure(
    name="Relevance",
    aliases=("liverag_relevance", "relevance_score"),
    bounds=(-1.0, 2.0),
    needs=("chat",),
    needs_gold=False,
    formula="the model's grade: 2, 1, 0 or -1",
    defined_by="LiveRAG (SIGIR 2025)",
    best_for="comparing with LiveRAG's figures",
    prefer="Correctness and Responsiveness, which keep apart what this scale mixes",
    variants=("Relevance(by=heuristic)",),
)
def relevance(answered: AnswerTable, *, by: By = "model") -> MeasureResult:
    """LiveRAG's grade of an answer, by a language model, from -1 to 2.

    2: correct and to the point; 1: correct, with what was not asked for; 0: no answer; -1: incorrect. Compared
    with each reference, of which the best counts; without one the model goes by what it knows. An empty answer is no
    answer: 0. `by=heuristic` asks no model: 0 if the answer declines, -1 if it holds less than half of the reference's
    content words and figures, else 1, or 2 if it is at most three times as long.
    """
    return _JUDGE.run(answered, by)


def _settle(case: JudgedAnswer, by: By) -> str | tuple[float, str] | None:
    if not case.question.strip():
        return NO_QUESTION
    if case.has_references and not case.references:
        return BLANK_REFERENCE
    if by == "heuristic" and not case.references:
        return NEEDS_REFERENCE
    return None if case.answer else (0.0, EMPTY_ANSWER)


_JUDGE = Judge(
    name="Relevance",
    prompt=prompts.RELEVANCE,
    settle=_settle,
    items=lambda case: case.references or ("",),
    limits=(ANSWER, EACH_REFERENCE),
    ask=ask_for_grades(
        "LiveRagGrade",
        lambda case, reference, *more: prompts.grade_liverag(case.asked, case.answer, reference, *more),
    ),
    weigh=lambda reply: graded(reply, float),
    heuristic=lambda case, reference: liverag_grade(case.answer, reference),
    combine=best_reference,
)
