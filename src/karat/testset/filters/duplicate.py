"""duplicate: the same has been asked, in these words or nearly."""

from __future__ import annotations

from collections.abc import Sequence

from karat.core.drafts import Draft
from karat.testset.filters._filter import Filter
from karat.testset.filters._surroundings import Surroundings
from karat.core.text import normalise
from karat.testset.filters._wording import asking_word, shortened

_LIKE = 0.85  # share of the stems of both that both hold
_NEAR = 0.92  # cosine of two questions about the same chunk


def _find(draft: Draft, surroundings: Surroundings, accepted: Sequence[Draft]) -> str | None:
    words = normalise(draft.text, "words")
    asks, stems = asking_word(draft.text), surroundings.stems(draft.text)
    rows = {fragment.row for fragment in draft.fragments}
    for question in surroundings.before:
        if _same(words, normalise(question.text, "words")) or (
            asks == asking_word(question.text) and _like(stems, surroundings.stems(question.text))
        ):
            return f'There is a question that asks it already: "{shortened(question.text)}".'
    for other in accepted:
        theirs = surroundings.stems(other.text)
        if stems.isdisjoint(theirs):
            if not stems and not theirs and _same(words, normalise(other.text, "words")):
                return f'It was asked before: "{shortened(other.text)}".'
            continue
        if _same(words, normalise(other.text, "words")):
            return f'It was asked before: "{shortened(other.text)}".'
        if asks != asking_word(other.text):
            continue
        if _like(stems, theirs):
            return f'It was asked before in nearly the same words: "{shortened(other.text)}".'
        if rows.isdisjoint(fragment.row for fragment in other.fragments):
            continue
        if draft.answerable and normalise(draft.answer or "", "words") != normalise(other.answer or "", "words"):
            continue
        cosine = surroundings.alike(draft.text, other.text)
        if cosine is not None and cosine >= _NEAR:
            return f'It was asked before about the same chunk: "{shortened(other.text)}" (cosine {cosine:.2f}).'
    return None


def _same(words: str, others: str) -> bool:
    return words == others


def _like(stems: frozenset[str], others: frozenset[str]) -> bool:
    return len(stems & others) >= _LIKE * len(stems | others) > 0


filter = Filter("duplicate", "the same has been asked, in these words or nearly", _find, 40)
