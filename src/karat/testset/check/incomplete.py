"""Incomplete: questions that cannot be scored as they stand: empty, without gold or answer, or twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from karat.core.text import normalise
from karat.core.text.refusals import declines
from karat.core.text.words import excerpt
from karat.core.types import Question
from karat.results.checkup import Finding, Severity
from karat.results.drafts import Draft
from karat.testset.check._check import SHOWN, about_questions, audit_check, check, counted, draft_filter
from karat.testset.check._context import CheckContext
from karat.testset.check._surroundings import Surroundings

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


@check(15)
def incomplete(context: CheckContext) -> Iterator[Finding]:
    """Questions that cannot be scored as they stand."""
    for what, holds, remedy in FAULTS:
        ids = tuple(q.id for q in context.questions if holds(q))
        title = (
            f"{counted(len(ids), 'question', 'has', 'have')} {what.replace('{is}', 'is' if len(ids) == 1 else 'are')}"
        )
        yield from _finding("warning", title, ids, remedy)
    if not context.testset.is_plain:
        blank = tuple(q.id for q in context.questions if not q.text.strip())
        title = f"{counted(len(blank), 'question', 'is', 'are')} empty"
        yield from _finding("broken", title, blank, "Write the question, or take it out.")
    nameless = [u for u in context.resolution.unresolved if u.gold.grade >= 1 and u.reason == "names no unit"]
    if nameless:
        ids = tuple(dict.fromkeys(u.question for u in nameless))
        title = f"{counted(len(nameless), 'gold unit', 'names', 'name')} nothing that can be looked for"
        why = tuple(f"{u.question}: {u.why}" for u in nameless[:SHOWN])
        remedy = 'Give each a "doc", "page", "url", "quote", "chunk" or "id", or choose what is compared with --match.'
        numbers = {"entries": len(nameless), "questions": len(ids)}
        yield Finding(
            check="incomplete",
            severity="broken",
            title=title,
            numbers=numbers,
            questions=ids,
            examples=why,
            remedy=remedy,
        )
    twice = tuple(id_ for id_, count in Counter(context.testset.ids).items() if count > 1)
    title = f"{counted(len(twice), 'question id', 'stands', 'stand')} twice or more"
    yield from _finding("broken", title, twice, "Give every question an id of its own.")


def _finding(severity: Severity, title: str, ids: tuple[str, ...], remedy: str) -> Iterator[Finding]:
    if ids:
        yield Finding(
            check="incomplete",
            severity=severity,
            title=title,
            numbers={"questions": len(ids)},
            questions=ids,
            examples=ids[:SHOWN],
            remedy=remedy,
        )


@audit_check(1)
def missing_gold(context: CheckContext) -> Iterator[Finding]:
    """Questions whose gold no chunk holds."""
    answerable = [(q, question) for q, question in enumerate(context.questions) if question.answerable]
    yield from about_questions(
        "missing_gold", "warning", [(question, "") for _, question in answerable if not _has_gold(question)],
        len(answerable),
        ("has no gold and is not marked unanswerable", "have no gold and are not marked unanswerable"),
        "No measure of retrieval counts them.", 'Give them gold, or mark them "answerable": false.',
    )  # fmt: skip
    lost = [
        (question, f"gold: {excerpt(question.gold[0].label, 60)}")
        for q, question in answerable
        if context.has_corpus and _has_gold(question) and not len(context.gold_rows[q])
    ]
    yield from about_questions(
        "missing_gold", "broken", lost, len(answerable),
        ("has gold that no chunk of this index holds", "have gold that no chunk of this index holds"),
        "Every system scores 0 there.", "Run `karat testset check`, which says why.",
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
