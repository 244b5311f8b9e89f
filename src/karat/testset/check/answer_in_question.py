"""Answer in question: questions that hold their own answer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from karat.core.text.detect import holds_answer
from karat.core.text.words import excerpt
from karat.testset.check._check import CheckContext, Draft, Finding, Surroundings, about_questions, check, draft_filter
from karat.testset.lexicon import content_of


def _leaked(question: str, answers: Iterable[str], language: str | None) -> str | None:
    """The answer that a question holds, or None."""
    words = content_of(question, language)
    return next((one for one in answers if holds_answer(question, one, words, content_of(one, language))), None)


@check(42, needs_index=False)
def leaked_answers(context: CheckContext) -> Iterable[Finding]:
    """Questions that hold their own answer."""
    pairs = zip(context.questions, context.languages, strict=True)
    answered = [(q, language) for q, language in pairs if q.answers and q.answerable]
    leaks = [(q, _leaked(q.text, q.answers, language)) for q, language in answered]
    return about_questions(
        "leaked_answers", "warning",
        [(q, f"answer: {excerpt(answer, 50)}") for q, answer in leaks if answer is not None], len(answered),
        ("holds its own answer", "hold their own answer"),
        "A system that repeats the question is right, and retrieval is told what to look for.",
        "Take the answer out of the question.",
    )  # fmt: skip


@draft_filter(30)
def answer_in_question(draft: Draft, surroundings: Surroundings, accepted: Sequence[Draft]) -> str | None:
    """The question gives its answer away."""
    if not draft.answerable or not draft.answer:
        return None
    language = draft.fragments[0].language if draft.fragments else None
    if _leaked(draft.text, [draft.answer], language) is not None:
        return f'The question holds its answer, "{excerpt(draft.answer, 80)}".'
    return None
