"""leaked_answers: questions that hold their own answer."""

from __future__ import annotations

import re
from collections.abc import Iterator

from karat.core.checkup import Finding
from karat.core.text.numbers import figures
from karat.testset.audit._lexicon import content_of
from karat.testset.audit._support import VERDICTS
from karat.testset.audit._view import View
from karat.testset.audit._words import about, short
from karat.testset.audit.check import Check

_CHOICE = re.compile(r"\b(?:or|either|versus|vs|или|либо|oder|ou|या)\b", re.IGNORECASE)
_DOUBT = re.compile(
    r"\s*(?:is|are|was|were|do|does|did|can|could|may|must|should|will|would|has|have|had|верно ли|правда ли|может ли"
    r"|можно ли|является ли|есть ли)\b|\b(?:ли|is it true|верно|правда)\b",
    re.IGNORECASE,
)


def leaked(view: View, q: int) -> str | None:
    """The reference answer that a question holds, or None.

    A choice ("... or ...") names its answers by right. So does a question that wants yes or no and then some.
    """
    question = view.questions[q]
    if _CHOICE.search(question.text) or not question.answerable:
        return None
    asked = view.asked[q]
    for answer in question.answers:
        stems = tuple(s for s in content_of(answer, view.languages[q]) if s not in VERDICTS)
        if not stems or (len(stems) < len(content_of(answer, view.languages[q])) and _DOUBT.search(question.text)):
            continue
        if _within(stems, asked) and _same_figures(answer, question.text):
            return answer
    return None


def _within(stems: tuple[str, ...], asked: tuple[str, ...]) -> bool:
    """Whether the words of an answer stand in a question: one or two side by side, of more nearly all."""
    if len(stems) <= 2:
        return any(asked[i : i + len(stems)] == stems for i in range(len(asked)))
    held = set(asked)
    return sum(1 for stem in stems if stem in held) >= 0.9 * len(stems)


def _same_figures(answer: str, question: str) -> bool:
    there = figures(question)
    return all(any(not figure.isdisjoint(other) for other in there) for figure in figures(answer))


def _find(view: View) -> Iterator[Finding]:
    looked = [q for q, question in enumerate(view.questions) if question.answers and question.answerable]
    found = [(view.questions[q], f"answer: {short(said, 50)}") for q in looked if (said := leaked(view, q)) is not None]
    if found:
        yield about(
            "leaked_answers", "warning", found, len(looked), "holds its own answer", "hold their own answer",
            "A system that repeats the question is right, and retrieval is told what to look for.",
            "Take the answer out of the question.",
        )  # fmt: skip


check = Check("leaked_answers", "questions that hold their own answer", _find, 22)
