"""Literal wording: questions that repeat the words of their gold though they promise others, or share none."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from karat.core.text.names import named_terms
from karat.core.text.words import percent
from karat.core.types import Question
from karat.testset.check._check import (
    SEMANTIC,
    CheckContext,
    Draft,
    Finding,
    Surroundings,
    about_questions,
    check,
    draft_filter,
)
from karat.testset.lexicon import content_of, longest_run, words_of
from karat.testset.once import once

LITERAL = 0.65  # share of a question's content words that stand in the gold from which it is literal: two of three
CLAUSE = 0.75  # and share of the words of one clause, if it has three or more
RUN = 5  # neighbouring words in common from which it is literal, whatever the share
LEAST = 2  # content words below which a share says nothing
_CLAUSES = re.compile(r"(?<![.,:;!?…—–()])[.,:;!?…—–()]++\s")
_MOST_GOLD = 8  # gold chunks that are looked at
OTHER_WORDS = ("paraphrase", "paraphrased", "scenario")
MOST_IN_DRAFT = 0.6
"""Share of a draft's stems that its gold may hold. Of the demo's dev half none of 16 paraphrases and scenarios passes
it, and 19 of 24 factual, numerical and listing questions do. Names and numbers are not counted, since there are no
other words for them."""


@dataclass(frozen=True)
class Overlap:
    """The share of a question's content words that its gold holds, the longest run in common, and how many words.

    Words count alike here: a name that a paraphrase cannot do without would weigh more than all the rest.
    """

    share: float
    run: int
    words: int
    clause: float = 0.0
    """The highest share of a clause of three or more content words: a story around a literal question hides it."""

    @property
    def is_literal(self) -> bool:
        """Whether the question repeats its gold."""
        return self.words >= LEAST and (self.share >= LITERAL or self.clause >= CLAUSE or self.run >= RUN)


@once
def overlaps(context: CheckContext) -> list[Overlap | None]:
    """How much of each question's wording stands in its gold; None without gold or content words."""
    return [_overlap(context, q) for q in range(len(context.questions))]


def _overlap(context: CheckContext, q: int) -> Overlap | None:
    """The overlap of a question with the gold chunk that has most of it; None without gold or content words."""
    wanted, rows = context.asked_sets[q], context.gold_rows[q][:_MOST_GOLD].tolist()
    if not wanted or not rows:
        return None
    asked = words_of(context.questions[q].text)
    share = max(len(wanted & context.held[row]) for row in rows) / len(wanted)
    run = max(longest_run(asked, words_of(context.chunks.texts[row])) for row in rows)
    return Overlap(share, run, len(wanted), _clause(context, q, rows))


def _clause(context: CheckContext, q: int, rows: list[int]) -> float:
    clauses = [clause for clause in _CLAUSES.split(context.questions[q].text) if clause.strip()]
    stems = [frozenset(content_of(clause, context.languages[q])) for clause in clauses if len(clauses) > 1]
    shares = (len(wanted & context.held[row]) / len(wanted) for wanted in stems if len(wanted) >= 3 for row in rows)
    return max(shares, default=0.0)


@check(43)
def literal_paraphrases(context: CheckContext) -> Iterable[Finding]:
    """Paraphrases and scenarios that repeat the words of their gold."""
    semantic = [
        (question, overlap)
        for question, overlap in zip(context.questions, overlaps(context), strict=True)
        if question.kind is not None and question.kind.lower() in SEMANTIC and overlap is not None
    ]
    return about_questions(
        "literal_paraphrases", "warning",
        [(q, f"{percent(one.share, 0)} of its words, {one.run} in a row") for q, one in semantic if one.is_literal],
        len(semantic), ("is marked as semantic and is literal", "are marked as semantic and are literal"),
        f"The gold holds {percent(LITERAL, 0)} of their content words or more, {percent(CLAUSE, 0)} of a clause's, or "
        f"{RUN} of their words in a row. BM25 finds them by their words, and a score on this kind does not tell how "
        "well meaning is found.", "Reword them, or mark them literal.",
    )  # fmt: skip


@check(54)
def vocabulary_gap(context: CheckContext) -> Iterable[Finding]:
    """Questions that share no content word with their gold."""

    def asked(question: Question, row: int) -> frozenset[str]:
        return context.terms_of(question.text, context.language_of(row))

    pairs = [(q, rows.tolist()) for q, rows in zip(context.questions, context.gold_rows, strict=True) if len(rows)]
    worded = [(question, rows) for question, rows in pairs if asked(question, rows[0])]
    gap = [
        (question, "")
        for question, rows in worded
        if all(asked(question, row).isdisjoint(context.row_terms(row)) for row in rows)
    ]
    return about_questions(
        "vocabulary_gap", "info", gap, len(worded),
        ("shares no content word with the gold", "share no content word with the gold"),
        "BM25 cannot find them by their words; dense retrieval may.",
        "Nothing, if they are meant so. If not, check their gold.",
    )  # fmt: skip


@draft_filter(36)
def too_literal(draft: Draft, surroundings: Surroundings, accepted: Sequence[Draft]) -> str | None:
    """A paraphrase or scenario in the words of its chunk."""
    if draft.kind not in OTHER_WORDS:
        return None
    first = tuple(word.lower().strip(",.:;") for word in draft.text.split()[:1])  # its capital says nothing
    named = surroundings.stems(" ".join(named_terms(draft.text, common=first)))
    stems = {stem for stem in surroundings.stems(draft.text) - named if not any(c.isdigit() for c in stem)}
    held = frozenset[str]().union(*(surroundings.row_stems(fragment.row) for fragment in draft.fragments))
    share = len(stems & held) / len(stems) if stems else 0.0
    if share <= MOST_IN_DRAFT:
        return None
    return f"{share:.0%} of its telling words stand in its chunk; a {draft.kind} may have {MOST_IN_DRAFT:.0%} at most."
