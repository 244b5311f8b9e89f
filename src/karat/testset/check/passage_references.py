"""Passage references: questions that lean on a passage which only their author had before the eyes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from karat.core.text.detect import passage_reference
from karat.testset.check._check import CheckContext, Draft, Finding, Surroundings, about_questions, check, draft_filter


@check(41, needs_index=False)
def passage_references(context: CheckContext) -> Iterable[Finding]:
    """Questions that refer to a passage which only their author saw."""
    leaning = [(q, words) for q in context.questions if (words := passage_reference(q.text)) is not None]
    return about_questions(
        "passage_references", "warning", leaning, len(context.questions),
        ("refers to a passage that only its author saw", "refer to a passage that only their author saw"),
        "Nobody who searches has it before the eyes, and no retriever knows which is meant.",
        "Rewrite them so that they stand on their own.",
    )  # fmt: skip


@draft_filter(15)
def leakage(draft: Draft, surroundings: Surroundings, accepted: Sequence[Draft]) -> str | None:
    """The question or its answer leans on a passage that the asker does not see."""
    for what, text in (("question", draft.text), ("answer", draft.answer or "")):
        words = passage_reference(text)
        if words:
            return f'The {what} leans on a passage that the asker does not see: "{words}".'
    return None
