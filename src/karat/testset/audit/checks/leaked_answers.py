"""leaked_answers: questions that hold their own answer."""

from __future__ import annotations

from collections.abc import Iterator

from karat.core.text.detect import holds_answer
from karat.core.text.words import excerpt
from karat.results.checkup import Finding
from karat.testset.audit._lexicon import content_of
from karat.testset.audit._view import View
from karat.testset.audit._words import about
from karat.testset.audit.check import Check


def leaked(view: View, q: int) -> str | None:
    """The reference answer that a question holds, or None."""
    question = view.questions[q]
    if not question.answerable:
        return None
    for answer in question.answers:
        if holds_answer(question.text, answer, view.asked[q], content_of(answer, view.languages[q])):
            return answer
    return None


def _find(view: View) -> Iterator[Finding]:
    looked = [q for q, question in enumerate(view.questions) if question.answers and question.answerable]
    found = [
        (view.questions[q], f"answer: {excerpt(said, 50)}") for q in looked if (said := leaked(view, q)) is not None
    ]
    if found:
        yield about(
            "leaked_answers", "warning", found, len(looked), "holds its own answer", "hold their own answer",
            "A system that repeats the question is right, and retrieval is told what to look for.",
            "Take the answer out of the question.",
        )  # fmt: skip


check = Check("leaked_answers", "questions that hold their own answer", _find, 22)
