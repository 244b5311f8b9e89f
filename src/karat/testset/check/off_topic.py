"""Off topic: the question has nothing to do with the chunk it is said to be about."""

from __future__ import annotations

from collections.abc import Sequence

from karat.testset.check._check import Draft, Surroundings, draft_filter

_CLOSE = ("literal", "cloze")  # asked in the words of the chunk, or they are not of that kind
_LEAST = 0.34  # share of such a question's stems that its chunk has to hold


@draft_filter(35)
def off_topic(draft: Draft, surroundings: Surroundings, accepted: Sequence[Draft]) -> str | None:
    """The question has nothing to do with its chunk."""
    asked = surroundings.stems(draft.text)
    if not asked:
        return "It has no telling word."
    shares = [len(asked & surroundings.row_stems(one.row)) / len(asked) for one in draft.fragments]
    shared = max(shares, default=0.0)
    if draft.kind in _CLOSE and shared < _LEAST:
        return f"Its chunk holds {shared:.0%} of its words, and a {draft.kind} question is asked in those of its chunk."
    if shared:
        return None
    cosines = [surroundings.nearness(draft.text, one.row) for one in draft.fragments]
    if cosines and max(cosines) <= surroundings.usual(draft.text):
        return (
            f"It shares no word with its chunk and is no nearer to it than to most others (cosine {max(cosines):.2f})."
        )
    return None
