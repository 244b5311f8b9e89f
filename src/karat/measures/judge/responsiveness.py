"""Responsiveness."""

from __future__ import annotations

from typing import TYPE_CHECKING

from karat.core.measure import measure
from karat.core.scores import EMPTY_ANSWER
from karat.core.text import drop_blocks
from karat.measures.judge import _prompts as prompts
from karat.measures.judge._asking import NO_QUESTION, Asking, By, Round, Sheet, by_question, graded
from karat.measures.judge._heuristics import responds

if TYPE_CHECKING:
    from karat.core.answered import Answered
    from karat.core.scores import Outcome

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
    sheet = Sheet(answered, prompts.RESPONSIVENESS, by)
    rows: dict[int, tuple[str, str]] = {}
    for pair, (question, answer) in enumerate(zip(answered.texts, answered.answers, strict=True)):
        said = drop_blocks(answer or "").strip()
        if not question.strip():
            sheet.undefined[pair] = NO_QUESTION
        elif not answered.answerable[pair]:
            sheet.undefined[pair] = UNANSWERABLE
        elif not said:
            sheet.settled[pair] = 0.0, EMPTY_ANSWER
        else:
            rows[pair] = question, said
    if by == "heuristic":
        for pair, (question, said) in rows.items():
            value, reason = responds(question, said)
            sheet.rounds[pair] = [Round(value, shown={"reason": reason})]
    else:
        _judge(Asking(answered, "Responsiveness"), sheet, by_question(answered, rows))
    return sheet.outcome()


def _judge(asking: Asking, sheet: Sheet, rows: dict[int, tuple[str, str]]) -> None:
    from karat.measures.judge._schemas import AnswerGrade

    asked = []
    for pair, (question, said) in rows.items():
        (shown,), sheet.cut[pair] = prompts.within([said], prompts.TEXT_CHARS, "answer")
        question = question[: prompts.QUESTION_CHARS]
        asked += [prompts.grade_response(question, shown, asking.purpose(), sample) for sample in asking.samples]
    replies = iter(asking.ask(asked, AnswerGrade))
    for pair in rows:
        sheet.rounds[pair] = [graded(next(replies), WORTH.__getitem__) for _ in asking.samples]
