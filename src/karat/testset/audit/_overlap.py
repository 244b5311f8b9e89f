"""Overlap: how much of a question's wording stands in its gold."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from karat.testset.audit._lexicon import content_of, longest_run, words_of

if TYPE_CHECKING:
    from karat.testset.audit._view import View

LITERAL = 0.65  # share of a question's content words that stand in the gold from which it is literal: two of three
CLAUSE = 0.75  # and share of the words of one clause, if it has three or more
RUN = 5  # neighbouring words in common from which it is literal, whatever the share
LEAST = 2  # content words below which a share says nothing
_CLAUSES = re.compile(r"(?<![.,:;!?…—–()])[.,:;!?…—–()]++\s")
_MOST = 8  # gold chunks that are looked at


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


def overlap_of(view: View, q: int) -> Overlap | None:
    """The overlap of a question with the gold chunk that has most of it; None without gold or content words."""
    wanted, rows = view.asked_sets[q], view.gold[q][:_MOST].tolist()
    if not wanted or not rows:
        return None
    asked = words_of(view.questions[q].text)
    share = max(len(wanted & view.held[row]) for row in rows) / len(wanted)
    run = max(longest_run(asked, words_of(view.chunks.texts[row])) for row in rows)
    return Overlap(share, run, len(wanted), _clause(view, q, rows))


def _clause(view: View, q: int, rows: list[int]) -> float:
    clauses = [clause for clause in _CLAUSES.split(view.questions[q].text) if clause.strip()]
    if len(clauses) < 2:
        return 0.0
    stems = [frozenset(content_of(clause, view.languages[q])) for clause in clauses]
    shares = [len(wanted & view.held[row]) / len(wanted) for wanted in stems if len(wanted) >= 3 for row in rows]
    return max(shares, default=0.0)


def is_literal(overlap: Overlap) -> bool:
    """Whether a question repeats its gold."""
    return overlap.words >= LEAST and (overlap.share >= LITERAL or overlap.clause >= CLAUSE or overlap.run >= RUN)
