"""Balance: kinds that are rare, questions without a reference answer, answers of odd length."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from karat.core.text.words import excerpt, percent, plural
from karat.testset.check._check import CheckContext, Finding, about_questions, check

FEW = 10  # questions of a kind below which its mean says little
LONG = 100  # words of an answer from which word measures say little of it


@check(53, needs_index=False)
def balance(context: CheckContext) -> Iterator[Finding]:
    """Kinds, unanswerable questions and answer lengths out of balance."""
    total = len(context.questions)
    kinds = Counter(question.kind for question in context.questions if question.kind is not None)
    rare = {kind: count for kind, count in kinds.items() if count < FEW}
    if len(kinds) > 1 and rare:
        yield Finding(
            check="balance",
            severity="info",
            title=f"{plural(len(rare), 'kind')} of {len(kinds):,} {'has' if len(rare) == 1 else 'have'} fewer than "
            f"{FEW} questions",
            text="A mean over so few says little.",
            numbers={"kinds": len(kinds), "rare": len(rare)},
            examples=tuple(f"{kind}: {plural(count, 'question')}" for kind, count in sorted(rare.items())),
            remedy="Add questions of these kinds, or report them together with others.",
        )
    answerable = [question for question in context.questions if question.answerable]
    bare = [(q, "") for q in answerable if not any(answer.strip() for answer in q.answers)]
    yield from about_questions(
        "balance", "info", bare, len(answerable), ("has no reference answer", "have no reference answer"),
        "Retrieval can be scored on them, answers only by measures that need no reference. What is said here of "
        "answers is said of the others.", "Add reference answers if answers are to be scored.",
    )  # fmt: skip
    refused = total - len(answerable)
    if total and not refused:
        yield Finding(
            check="balance",
            severity="info",
            title="no question is marked unanswerable",
            text="Whether a system admits that it does not know cannot be measured.",
            numbers={"unanswerable": 0},
            remedy="Add some questions that the documents do not answer.",
        )
    elif total and refused > total / 2:
        yield Finding(
            check="balance",
            severity="warning",
            title=f"{percent(refused / total, 0)} of the questions are unanswerable",
            text="Most scores rest on the few others." if answerable else "No measure of retrieval counts any of them.",
            numbers={"unanswerable": refused, "share": refused / total},
            remedy="Check that the answerable ones have gold: without it they count as unanswerable.",
        )
    answered = [q for q in answerable if q.answers]
    long = [
        (q, f"{len(q.answers[0].split())} words: {excerpt(q.answers[0], 40)}")
        for q in answered
        if len(q.answers[0].split()) > LONG
    ]
    yield from about_questions(
        "balance", "info", long, len(answered),
        (f"has an answer of more than {LONG} words", f"have an answer of more than {LONG} words"),
        "Measures that compare words say little of such answers.",
        "Shorten them to what is asked, or score answers by a judge.",
    )  # fmt: skip
