"""Where quotes stand in texts: word for word after normalisation, each looked for by its rarest word."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from karat.core.text.characters import SPACE, WORD, kinds_of, points_of
from karat.core.text.codes import Vocabulary

if TYPE_CHECKING:
    from karat.core.judged import Ints

_MOST = 2000  # places of a word that are looked at
_VOTERS = 24  # words of a quote that say where something like it may stand


@dataclass(frozen=True)
class Passage:
    """A stretch of a text: characters `start` to `end` of text number `text`."""

    text: int
    start: int
    end: int


class Passages:
    """The words of many texts, so that any quote is found among them at once."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.texts = texts
        self._vocabulary = Vocabulary("words")
        self._coded = self._vocabulary.encode(texts)
        self._known = len(self._vocabulary)
        self._bounds: dict[int, tuple[Ints, Ints]] = {}

    @cached_property
    def _postings(self) -> tuple[Ints, Ints]:
        """Positions of all words ordered by word, and where those of each word begin."""
        codes = self._coded.codes
        counts = np.bincount(codes, minlength=self._known)
        return np.argsort(codes, kind="stable"), np.concatenate(([0], np.cumsum(counts)))

    def find(self, quote: str) -> list[Passage]:
        """Everywhere the words of a quote stand one after the other, by text and place; nothing for an empty quote."""
        words = self._vocabulary.encode([quote]).codes
        if not len(words) or int(words.max()) >= self._known:
            return []
        order, begins = self._postings
        held = begins[words + 1] - begins[words]
        rarest = int(np.argmin(held))
        at = order[begins[words[rarest]] : begins[words[rarest] + 1]] - rarest
        codes, offsets = self._coded.codes, self._coded.offsets
        at = at[(at >= 0) & (at + len(words) <= len(codes))]
        for i, word in enumerate(words.tolist()):
            if not len(at):
                return []
            at = at[codes[at + i] == word]
        text = np.searchsorted(offsets, at, side="right") - 1
        inside = at + len(words) <= offsets[text + 1]
        at, text = at[inside], text[inside]
        return [self._passage(t, int(a - offsets[t]), len(words)) for t, a in zip(text.tolist(), at, strict=True)]

    def nearest(self, quote: str, texts: Collection[int] | None = None) -> Passage | None:
        """The stretch, as long as the quote, where most of its rarer words stand as in the quote; in these texts."""
        words = self._vocabulary.encode([quote]).codes
        order, begins = self._postings
        places = np.flatnonzero(words < self._known)
        held = begins[words[places] + 1] - begins[words[places]]
        places = places[np.argsort(held, kind="stable")][:_VOTERS]
        offsets = self._coded.offsets
        votes: dict[tuple[int, int], int] = {}
        for place in places.tolist():
            at = order[begins[words[place]] : begins[words[place] + 1]]
            text = np.searchsorted(offsets, at, side="right") - 1
            kept = np.isin(text, list(texts)) if texts is not None else np.arange(len(text)) < _MOST
            for t, first in zip(text[kept].tolist(), (at - offsets[text] - place)[kept].tolist(), strict=True):
                for near in (first - 1, first, first + 1):
                    votes[t, near] = votes.get((t, near), 0) + 1 + (near == first)
        if not votes:
            return None
        t, first = max(votes, key=lambda key: (votes[key], -key[0], -key[1]))
        size = int(offsets[t + 1] - offsets[t])
        start = min(max(first, 0), max(size - 1, 0))
        return self._passage(t, start, min(len(words), size - start))

    def _passage(self, text: int, first: int, count: int) -> Passage:
        if text not in self._bounds:
            self._bounds[text] = word_bounds(self.texts[text])
        starts, ends = self._bounds[text]
        return Passage(text, int(starts[first]), int(ends[first + count - 1]))


def word_bounds(text: str) -> tuple[Ints, Ints]:
    """Where each word of the `words` normaliser begins and ends in the text as it is written.

    >>> [a.tolist() for a in word_bounds("It's (so) - warm!")]
    [[0, 6, 12], [4, 8, 16]]
    """
    kinds = kinds_of(points_of(text))
    at = np.flatnonzero(kinds == WORD)
    run = np.cumsum(kinds == SPACE)[at]
    fresh = np.ones(len(at), bool)
    fresh[1:] = run[1:] != run[:-1]
    last = np.ones(len(at), bool)
    last[:-1] = fresh[1:]
    return at[fresh], at[last] + 1
