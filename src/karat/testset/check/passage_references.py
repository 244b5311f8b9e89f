"""Passage references: questions that lean on a passage which only their author had before the eyes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from karat.core.text.detect import passage_reference
from karat.core.text.words import excerpt, percent
from karat.core.types import Question
from karat.results.checkup import Finding
from karat.results.drafts import Draft
from karat.testset.check._check import SHOWN, about_questions, audit_check, check, counted, draft_filter
from karat.testset.check._context import CheckContext
from karat.testset.check._surroundings import Surroundings

REMEDY = "Rewrite them so that they stand on their own."


def _leaning(questions: Sequence[Question]) -> list[tuple[Question, str]]:
    return [(q, words) for q in questions if (words := passage_reference(q.text)) is not None]


@check(32)
def leaks(context: CheckContext) -> Iterator[Finding]:
    """Questions that point at a passage nobody but their author sees."""
    leaning = _leaning(context.questions)
    if leaning:
        share = len(leaning) / len(context.questions)
        yield Finding(
            check="leaks",
            severity="warning",
            title=f"{counted(len(leaning), 'question', 'points', 'point')} at a text that the asker has before the "
            "eyes",
            text=f"{percent(share, 0)} of the questions. Nobody who searches asks so, and no retriever can know "
            "which text is meant.",
            numbers={"questions": len(leaning), "share": share},
            questions=tuple(q.id for q, _ in leaning),
            examples=tuple(f'{q.id}: "{excerpt(q.text, 90)}" ({words})' for q, words in leaning[:SHOWN]),
            remedy=REMEDY,
        )


@audit_check(21)
def passage_references(context: CheckContext) -> Iterable[Finding]:
    """Questions that lean on a passage which only their author saw."""
    return about_questions(
        "passage_references", "warning", _leaning(context.questions), len(context.questions),
        ("leans on a passage", "lean on a passage"),
        "Nobody who searches has it before the eyes, and no retriever knows which is meant.", REMEDY,
    )  # fmt: skip


@draft_filter(15)
def leakage(draft: Draft, surroundings: Surroundings, accepted: Sequence[Draft]) -> str | None:
    """The question or its answer leans on a passage that the asker does not see."""
    for what, text in (("question", draft.text), ("answer", draft.answer or "")):
        words = passage_reference(text)
        if words:
            return f'The {what} leans on a passage that the asker does not see: "{words}".'
    return None
