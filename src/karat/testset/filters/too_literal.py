"""too_literal: a question that is to use other words uses those of its chunk."""

from __future__ import annotations

from collections.abc import Sequence

from karat.core.text.names import named_terms
from karat.results.drafts import Draft
from karat.testset.filters._filter import Filter
from karat.testset.filters._surroundings import Surroundings

OTHER_WORDS = ("paraphrase", "paraphrased", "scenario")
MOST = 0.6
"""Share of the question's stems that its gold may hold. Of the demo's dev half none of 16 paraphrases and
scenarios passes it, and 19 of 24 factual, numerical and listing questions do. Names and numbers are not counted, since
there are no other words for them."""


def _find(draft: Draft, surroundings: Surroundings, accepted: Sequence[Draft]) -> str | None:
    if draft.kind not in OTHER_WORDS:
        return None
    named = surroundings.stems(" ".join(named_terms(draft.text, common=_opening(draft.text))))
    stems = {stem for stem in surroundings.stems(draft.text) - named if not any(c.isdigit() for c in stem)}
    if not stems:
        return None
    held = frozenset[str]().union(*(surroundings.row_stems(fragment.row) for fragment in draft.fragments))
    share = len(stems & held) / len(stems)
    if share > MOST:
        return f"{share:.0%} of its telling words stand in its chunk; a {draft.kind} may have {MOST:.0%} at most."
    return None


def _opening(text: str) -> tuple[str, ...]:
    """The first word, whose capital says nothing."""
    return tuple(word.lower().strip(",.:;") for word in text.split()[:1])


filter = Filter("too_literal", "a paraphrase or scenario in the words of its chunk", _find, 36)
