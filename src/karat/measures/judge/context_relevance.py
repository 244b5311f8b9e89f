"""ContextRelevance."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum

from karat.core.measure import AnswerTable, MeasureResult, measure
from karat.measures.answer._support import BLANK_CONTEXTS, NO_CONTEXTS
from karat.measures.judge import _prompts as prompts
from karat.measures.judge._heuristics import NO_WORDS, content_words, held_words
from karat.measures.judge._runner import (
    EACH_CONTEXT,
    NO_QUESTION,
    By,
    Judge,
    JudgedAnswer,
    Sample,
    ask_for_grades,
    graded,
)

WORTH = {"answers": 1.0, "helps": 2 / 3, "related": 1 / 3, "unrelated": 0.0}


@measure(
    name="ContextRelevance",
    aliases=("context_relevance", "context_relevancy"),
    needs=("chat",),
    needs_gold=False,
    needs_contexts=True,
    needs_answer=False,
    formula="mean over chunks of 1 (answers), 2/3 (helps), 1/3 (related) or 0 (unrelated)",
    defined_by="karat",
    best_for="how much of what was retrieved is of use, without gold",
    prefer="Precision and nDCG where there is gold",
    variants=("ContextRelevance(by=heuristic)",),
)
def context_relevance(answered: AnswerTable, *, by: By = "model") -> MeasureResult:
    """Mean relevance of the retrieved chunks to the question, by a language model that sees one chunk at a time.

    A chunk that answers the question scores 1, one that helps 2/3, one on the matter only 1/3, any other 0; the details
    give each. Answers are not looked at. Where nothing was retrieved it is undefined. `by=heuristic` asks no model: it
    is the share of the question's content words that a chunk holds.
    """
    return _JUDGE.run(answered, by)


def _settle(case: JudgedAnswer, by: By) -> str | None:
    if case.contexts is None:
        return NO_CONTEXTS
    if not case.question.strip():
        return NO_QUESTION
    if not case.contexts:
        return "nothing retrieved"
    if not any(text.strip() for text in case.contexts):
        return BLANK_CONTEXTS
    return NO_WORDS if by == "heuristic" and not content_words(case.question) else None


def _together(rounds: Sequence[Sample]) -> Sample:
    """The mean over the chunks; one that could not be judged fails them all."""
    replies = tuple(reply for one in rounds for reply in one.replies)
    for number, one in enumerate(rounds, 1):
        if one.error is not None:
            return Sample(error=f"context {number}: {one.error}", replies=replies)
    values = [one.value or 0.0 for one in rounds]
    chunks = [{"context": i, "value": one.value, **one.shown} for i, one in enumerate(rounds, 1)]
    useful = sum(value > 1 / 2 for value in values)
    shown = {"reason": f"{useful} of {len(values)} contexts help with the question", "contexts": chunks}
    return Sample(fsum(values) / len(values), shown=shown, replies=replies)


_JUDGE = Judge(
    name="ContextRelevance",
    prompt=prompts.CONTEXT_RELEVANCE,
    settle=_settle,
    items=lambda case: case.contexts or (),
    limits=(EACH_CONTEXT,),
    ask=ask_for_grades("ContextGrade", lambda case, context, *more: prompts.grade_context(case.asked, context, *more)),
    weigh=lambda reply: graded(reply, WORTH.__getitem__),
    heuristic=lambda case, context: held_words(case.question, context),
    combine=_together,
    blank=Sample(0.0, shown={"grade": "unrelated", "reason": "the context holds no text"}),
)
