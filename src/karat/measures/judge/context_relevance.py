"""ContextRelevance."""

from __future__ import annotations

from math import fsum
from typing import TYPE_CHECKING

from karat.core.measure import measure
from karat.measures.answer._support import BLANK_CONTEXTS, NO_CONTEXTS
from karat.measures.judge import _prompts as prompts
from karat.measures.judge._asking import NO_QUESTION, Asking, By, Round, Sheet, by_question, graded
from karat.measures.judge._heuristics import NO_WORDS, content_words, held_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from karat.core.answered import Answered
    from karat.core.scores import Outcome

WORTH = {"answers": 1.0, "helps": 2 / 3, "related": 1 / 3, "unrelated": 0.0}
BLANK = Round(0.0, shown={"grade": "unrelated", "reason": "the context holds no text"})


@measure(
    name="ContextRelevance",
    aliases=("context_relevance", "context_relevancy"),
    needs=("chat",),
    needs_gold=False,
    needs_contexts=True,
    needs_answer=False,
    best_for="how much of what was retrieved is of use, without gold",
    prefer="Precision and nDCG where there is gold",
    variants=("ContextRelevance(by=heuristic)",),
)
def context_relevance(answered: Answered, *, by: By = "model") -> Outcome:
    """Mean relevance of the retrieved chunks to the question, by a language model that sees one chunk at a time.

    A chunk that answers the question scores 1, one that helps 2/3, one on the matter only 1/3, any other 0; the details
    give each. Answers are not looked at. Where nothing was retrieved it is undefined. `by=heuristic` asks no model: it
    is the share of the question's content words that a chunk holds.
    """
    sheet = Sheet(answered, prompts.CONTEXT_RELEVANCE, by)
    rows: dict[int, tuple[str, list[str]]] = {}
    for pair, (question, contexts) in enumerate(zip(answered.texts, answered.contexts, strict=True)):
        if contexts is None:
            sheet.undefined[pair] = NO_CONTEXTS
        elif not question.strip():
            sheet.undefined[pair] = NO_QUESTION
        elif not contexts:
            sheet.undefined[pair] = "nothing retrieved"
        elif not any(text.strip() for text in contexts):
            sheet.undefined[pair] = BLANK_CONTEXTS
        elif by == "heuristic" and not content_words(question):
            sheet.undefined[pair] = NO_WORDS
        else:
            rows[pair] = question, list(contexts)
    if by == "heuristic":
        for pair, (question, texts) in rows.items():
            sheet.rounds[pair] = [_together([_by_words(question, text) for text in texts])]
    else:
        _judge(Asking(answered, "ContextRelevance"), sheet, by_question(answered, rows))
    return sheet.outcome()


def _judge(asking: Asking, sheet: Sheet, rows: dict[int, tuple[str, list[str]]]) -> None:
    from karat.measures.judge._schemas import ContextGrade

    for pair, (question, contexts) in rows.items():
        cut = [prompts.within([text], prompts.TEXT_CHARS, f"context {i}") for i, text in enumerate(contexts, 1)]
        rows[pair] = question[: prompts.QUESTION_CHARS], [text for (text,), _ in cut]
        sheet.cut[pair] = [note for _, notes in cut for note in notes]
    asked = [
        prompts.grade_context(question, text, asking.purpose(), sample)
        for question, contexts in rows.values()
        for sample in asking.samples
        for text in contexts
        if text.strip()
    ]
    replies = iter(asking.ask(asked, ContextGrade))
    for pair, (_, contexts) in rows.items():
        sheet.rounds[pair] = [
            _together([graded(next(replies), WORTH.__getitem__) if text.strip() else BLANK for text in contexts])
            for _ in asking.samples
        ]


def _together(rounds: Sequence[Round]) -> Round:
    """The mean over the chunks; one that could not be judged fails them all."""
    replies = tuple(reply for one in rounds for reply in one.replies)
    for number, one in enumerate(rounds, 1):
        if one.error is not None:
            return Round(error=f"context {number}: {one.error}", replies=replies)
    values = [one.value or 0.0 for one in rounds]
    chunks = [{"context": i, "value": one.value, **one.shown} for i, one in enumerate(rounds, 1)]
    useful = sum(value > 1 / 2 for value in values)
    shown = {"reason": f"{useful} of {len(values)} contexts help with the question", "contexts": chunks}
    return Round(fsum(values) / len(values), shown=shown, replies=replies)


def _by_words(question: str, context: str) -> Round:
    share, held = held_words(question, context)
    return Round(share, shown={"reason": f"holds {', '.join(held)}" if held else "holds no word of the question"})
