"""Incomplete: questions that cannot be scored as they stand: without gold or answer, or twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from karat.core.text import normalise
from karat.core.text.refusals import declines
from karat.core.text.words import excerpt
from karat.core.types import Question
from karat.testset.check._check import (
    SHOWN,
    CheckContext,
    Draft,
    Finding,
    Severity,
    Surroundings,
    check,
    counted,
    draft_filter,
)

LONGEST = 120  # words; a draft's answer that is longer is a copy of the chunk
FAULTS: tuple[tuple[str, Callable[[Question], bool], str], ...] = (
    (
        "no gold and {is} not marked unanswerable",
        lambda q: q.answerable and not q.gold,
        'Add "gold", or mark the question "answerable": false. It is left out of every mean of retrieval.',
    ),
    (
        "gold that is graded 0 or less only",
        lambda q: bool(q.gold) and not _has_gold(q),
        "Give what answers the question a grade of 1 or more. It is left out of every mean of retrieval.",
    ),
    (
        "gold though {is} marked unanswerable",
        lambda q: not q.answerable and _has_gold(q),
        'Take the gold away, or drop "answerable": false.',
    ),
)


def _has_gold(question: Question) -> bool:
    return any(gold.grade >= 1 for gold in question.gold)


@check(15, needs_index=False)
def incomplete(context: CheckContext) -> Iterator[Finding]:
    """Questions that cannot be scored as they stand."""
    for what, holds, remedy in FAULTS:
        ids = tuple(q.id for q in context.questions if holds(q))
        title = (
            f"{counted(len(ids), 'question', 'has', 'have')} {what.replace('{is}', 'is' if len(ids) == 1 else 'are')}"
        )
        yield from _finding("warning", title, ids, remedy)
    twice = tuple(id_ for id_, count in Counter(context.testset.ids).items() if count > 1)
    title = f"{counted(len(twice), 'question id', 'stands', 'stand')} twice or more"
    yield from _finding("broken", title, twice, "Give every question an id of its own.")
    nameless = [u for u in context.missing_gold if u.reason == "names no unit"]
    title = f"{counted(len(nameless), 'gold unit', 'names', 'name')} nothing that can be looked for"
    remedy = 'Give each a "doc", "page", "url", "quote", "chunk" or "id", or choose what is compared with --match.'
    for finding in _finding("broken", title, tuple(dict.fromkeys(u.question for u in nameless)), remedy):
        numbers = {"entries": len(nameless), **finding.numbers}
        yield replace(finding, numbers=numbers, examples=tuple(f"{u.question}: {u.why}" for u in nameless[:SHOWN]))


def _finding(severity: Severity, title: str, ids: tuple[str, ...], remedy: str) -> Iterator[Finding]:
    if ids:
        yield Finding(
            "incomplete", severity, title, numbers={"questions": len(ids)}, questions=ids, examples=ids[:SHOWN],
            remedy=remedy,
        )  # fmt: skip


@draft_filter(12)
def no_answer(draft: Draft, surroundings: Surroundings, accepted: Sequence[Draft]) -> str | None:
    """The answer is missing, a refusal, or the question again."""
    if not draft.answerable:
        return None
    answer = (draft.answer or "").strip()
    if not normalise(answer, "words"):
        return "It has no answer."
    if declines(answer):
        return f'Its answer is a refusal: "{excerpt(answer, 80)}".'
    if normalise(answer, "words") == normalise(draft.text, "words") or answer.endswith(("?", "？")):
        return f'Its answer is a question: "{excerpt(answer, 80)}".'
    size = len(answer.split())
    return f"Its answer has {size} words, more than {LONGEST}." if size > LONGEST else None
