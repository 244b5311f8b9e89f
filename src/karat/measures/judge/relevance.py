"""Relevance."""

from __future__ import annotations

from typing import TYPE_CHECKING

from karat.core.measure import measure
from karat.core.scores import EMPTY_ANSWER
from karat.core.text import drop_blocks, tokenise
from karat.measures.judge import _prompts as prompts
from karat.measures.judge._asking import (
    BLANK_REFERENCE,
    NO_QUESTION,
    Asking,
    By,
    Round,
    Sheet,
    best,
    by_question,
    graded,
)
from karat.measures.judge._heuristics import liverag_grade

if TYPE_CHECKING:
    from karat.core.answered import Answered
    from karat.core.scores import Outcome

NEEDS_REFERENCE = "no reference answer, which the heuristic needs"


@measure(
    name="Relevance",
    aliases=("liverag_relevance", "relevance_score"),
    bounds=(-1.0, 2.0),
    needs=("chat",),
    needs_gold=False,
    best_for="comparing with LiveRAG's figures",
    prefer="Correctness and Responsiveness, which keep apart what this scale mixes",
    variants=("Relevance(by=heuristic)",),
)
def relevance(answered: Answered, *, by: By = "model") -> Outcome:
    """LiveRAG's grade of an answer, by a language model, from -1 to 2.

    2: correct and to the point; 1: correct, with what was not asked for; 0: no answer; -1: incorrect. Held
    against each reference, of which the best counts; without one the model goes by what it knows. An empty answer is no
    answer: 0. `by=heuristic` asks no model: 0 if the answer declines, -1 if it holds less than half of the reference's
    content words and figures, else 1, or 2 if it is at most three times as long.
    """
    sheet = Sheet(answered, prompts.RELEVANCE, by)
    rows: dict[int, tuple[str, str, list[str]]] = {}
    for pair, (question, answer) in enumerate(zip(answered.texts, answered.answers, strict=True)):
        said = drop_blocks(answer or "").strip()
        references = [text for text in dict.fromkeys(answered.references[pair]) if tokenise(text)]
        if not question.strip():
            sheet.undefined[pair] = NO_QUESTION
        elif answered.references[pair] and not references:
            sheet.undefined[pair] = BLANK_REFERENCE
        elif by == "heuristic" and not references:
            sheet.undefined[pair] = NEEDS_REFERENCE
        elif not said:
            sheet.settled[pair] = 0.0, EMPTY_ANSWER
        else:
            rows[pair] = question, said, references or [""]
    if by == "heuristic":
        for pair, (_, said, references) in rows.items():
            found = [liverag_grade(said, text) for text in references]
            sheet.rounds[pair] = [best([Round(value, shown={"reason": reason}) for value, reason in found])]
    else:
        _judge(Asking(answered, "Relevance"), sheet, by_question(answered, rows))
    return sheet.outcome()


def _judge(asking: Asking, sheet: Sheet, rows: dict[int, tuple[str, str, list[str]]]) -> None:
    from karat.measures.judge._schemas import LiveRagGrade

    asked = []
    for pair, (question, said, references) in rows.items():
        (shown,), cut = prompts.within([said], prompts.TEXT_CHARS, "answer")
        held = [prompts.within([text], prompts.TEXT_CHARS, "reference") for text in references]
        sheet.cut[pair] = cut + [note for _, notes in held for note in notes]
        question = question[: prompts.QUESTION_CHARS]
        asked += [
            prompts.grade_liverag(question, shown, text, asking.purpose(), sample)
            for sample in asking.samples
            for (text,), _ in held
        ]
    replies = iter(asking.ask(asked, LiveRagGrade))
    for pair, (_, _, references) in rows.items():
        sheet.rounds[pair] = [best([graded(next(replies), float) for _ in references]) for _ in asking.samples]
