"""Too general: the question has so few and so common words that many sentences hold them all."""

from __future__ import annotations

from collections.abc import Sequence

from karat.testset.check._check import Draft, Surroundings, draft_filter
from karat.testset.lexicon import without_asking

MOST = 3  # chunks beside the gold that may have a sentence with every telling word of a question


@draft_filter(45)
def too_general(draft: Draft, surroundings: Surroundings, accepted: Sequence[Draft]) -> str | None:
    """Its words are so few and common that many sentences hold them all."""
    asked = surroundings.stems(without_asking(draft.text))
    if not asked or not draft.answerable:
        return None
    gold = {fragment.row for fragment in draft.fragments}
    others = [row for row in surroundings.near(draft.text) if row not in gold and asked <= surroundings.row_stems(row)]
    holders = [row for row in others if any(asked <= sentence.stems for sentence in surroundings.sentences(row))]
    if len(holders) > MOST:
        return (
            f"{len(holders)} other chunks have a sentence with every telling word of it; with more than {MOST} nobody "
            "can say what is meant."
        )
    return None
