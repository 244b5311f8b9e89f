"""Overlap: how much of a question's wording stands in its gold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from karat.testset.audit._lexicon import longest_run, words_of

if TYPE_CHECKING:
    from karat.testset.audit._view import View

LITERAL = 0.65  # share of a question's content words that stand in the gold from which it is literal: two of three
RUN = 5  # neighbouring words in common from which it is literal, whatever the share
LEAST = 2  # content words below which a share says nothing
_MOST = 8  # gold chunks that are looked at


@dataclass(frozen=True)
class Overlap:
    """The share of a question's content words that its gold holds, the longest run in common, and how many words.

    Words count alike here: a name that a paraphrase cannot do without would weigh more than all the rest.
    """

    share: float
    run: int
    words: int


def overlap_of(view: View, q: int) -> Overlap | None:
    """The overlap of a question with the gold chunk that has most of it; None without gold or content words."""
    wanted, rows = view.asked_sets[q], view.gold[q][:_MOST].tolist()
    if not wanted or not rows:
        return None
    asked = words_of(view.questions[q].text)
    share = max(len(wanted & view.held[row]) for row in rows) / len(wanted)
    run = max(longest_run(asked, words_of(view.chunks.texts[row])) for row in rows)
    return Overlap(share, run, len(wanted))


def is_literal(overlap: Overlap) -> bool:
    """Whether a question repeats its gold."""
    return overlap.words >= LEAST and (overlap.share >= LITERAL or overlap.run >= RUN)
