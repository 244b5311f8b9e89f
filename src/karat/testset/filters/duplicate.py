"""duplicate: the same has been asked, in these words or nearly."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from karat.core.text import normalise
from karat.core.text.detect import ALIKE, repeats
from karat.results.drafts import Draft
from karat.testset.filters._filter import Filter
from karat.testset.filters._surroundings import Surroundings
from karat.testset.filters._wording import asking_word, shortened

_NEAR = 0.92  # cosine of two questions about the same chunk


def _find(draft: Draft, surroundings: Surroundings, accepted: Sequence[Draft]) -> str | None:
    for place in surroundings.existing.worth(draft.text, ALIKE):
        question = surroundings.before[place]
        if _alike(draft.text, question.text, surroundings):
            return f'There is a question that asks it already: "{shortened(question.text)}".'
    rows = {fragment.row for fragment in draft.fragments}
    for place in surroundings.kept(accepted).worth(draft.text, ALIKE, rows):
        other = accepted[place]
        if _alike(draft.text, other.text, surroundings):
            return f'It was asked before: "{shortened(other.text)}".'
        if rows.isdisjoint(fragment.row for fragment in other.fragments) or _differ(draft, other):
            continue
        cosine = surroundings.alike(draft.text, other.text)
        if cosine is not None and cosine >= _NEAR:
            return f'It was asked before about the same chunk: "{shortened(other.text)}" (cosine {cosine:.2f}).'
    return None


def _alike(text: str, other: str, surroundings: Surroundings) -> bool:
    """Whether both ask the same in the same words, or nearly."""
    return text == other or repeats(text, other, surroundings.stems(text), surroundings.stems(other))


def _differ(draft: Draft, other: Draft) -> bool:
    """Whether what they ask for differs, however alike they sound."""
    told, theirs = (normalise(one.answer or "", "words") for one in (draft, other))
    return told != theirs or _asks(draft.text) != _asks(other.text)


_asks = lru_cache(maxsize=65_536)(asking_word)


filter = Filter("duplicate", "the same has been asked, in these words or nearly", _find, 40)
