"""Difficulty: kinds that BM25 alone finds nearly always, or that nothing finds."""

from __future__ import annotations

from collections.abc import Iterator

from karat.core.text.words import percent
from karat.results.testset_check import ALL
from karat.testset.attained import attained
from karat.testset.check._check import SEMANTIC, CheckContext, Finding, check

CUT = 5
EASY = 0.95  # Recall@5 of BM25 from which a kind tells no two systems apart
HARD = 0.2  # Recall@20 of the better engine below which the gold is in doubt
_LEAST = 10  # questions of a kind


@check(52)
def difficulty(context: CheckContext) -> Iterator[Finding]:
    """Kinds that BM25 alone finds nearly always, or that nothing finds."""
    alone = len({row.kind for row in attained(context)}) == 2  # all, and the one kind that there is
    for row in attained(context):
        if row.questions < _LEAST or row.better is None or not row.ceiling or (alone and row.kind == ALL):
            continue
        asked = "all questions" if row.kind == ALL else f"the questions of kind {row.kind}"
        if row.k == CUT and row.bm25 is not None and row.bm25 >= EASY * row.ceiling:
            semantic = row.kind.lower() in SEMANTIC
            yield Finding(
                check="difficulty",
                severity="warning" if semantic else "info",
                title=f"BM25 alone reaches {percent(row.bm25, 0)} Recall@{CUT} on {asked}",
                text="Systems hardly differ there"
                + (", and other words than the text's were promised." if semantic else "."),
                numbers={"kind": row.kind, "questions": row.questions, "bm25": row.bm25},
                remedy="Add harder questions: paraphrases, scenarios, questions over two documents.",
            )
        if row.k == 20 and row.better < HARD * row.ceiling:
            yield Finding(
                check="difficulty",
                severity="warning",
                title=f"neither engine finds the gold of {asked}: Recall@20 is {percent(row.better, 0)} at best",
                text="Very hard questions are one cause, wrong gold is another.",
                numbers={"kind": row.kind, "questions": row.questions, "better": row.better},
                remedy="Read some of these questions beside their gold.",
            )
