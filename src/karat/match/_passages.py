"""Where quotes stand in texts, word for word but for typography, each looked for by its rarest word."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from karat.core.judged import Bools, Ints
from karat.core.text.characters import SPACE, WORD, kinds_of, points_of
from karat.core.text.codes import Vocabulary
from karat.core.text.normalise import tokenise
from karat.core.text.typography import line_ends_filled, without_footnote, without_typography

_MOST = 2000  # places of a word that are looked at
_VOTERS = 24  # words of a quote that say where something like it may stand
LEAST_CUT = 3  # words of a quote that a text must hold where its end cuts the quote: fewer stand anywhere by chance
_TOLERANT = 4  # words from which a quote may differ from a text by the number of a footnote
_NONE = np.zeros(0, np.int64)


@dataclass(frozen=True)
class Passage:
    """A stretch of a text: characters `start` to `end` of text number `text`."""

    text: int
    start: int
    end: int


@dataclass(frozen=True)
class _Words:
    """The words of a quote as numbers of the vocabulary, -1 where no text has them.

    `root` is the word without a footnote's number, `bare` whether it has none.
    """

    text: list[str]
    code: Ints
    root: Ints
    bare: Bools

    def __len__(self) -> int:
        return len(self.code)


class Passages:
    """The words of many texts, so that any quote is found among them at once.

    Two words are the same if they are equal or, in quotes of four words or more, differ by the number of a footnote
    behind one of them.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self.texts = texts
        vocabulary = Vocabulary("words")
        self._coded = vocabulary.encode([without_typography(text) for text in texts])
        words = self._words_of = vocabulary.words()
        self._number = {word: number for number, word in enumerate(words)}
        self._root_of: dict[str, int] = {}
        roots = [without_footnote(word) for word in words]
        self._root = np.array([self._root_of.setdefault(root, len(self._root_of)) for root in roots], np.int64)
        self._bare = np.array([len(word) == len(root) for word, root in zip(words, roots, strict=True)], bool)
        self._bounds: dict[int, tuple[Ints, Ints]] = {}
        self._by_word: dict[int, tuple[Ints, Ints]] = {}

    @cached_property
    def _roots(self) -> Ints:
        """The root of every word of the texts, one after the other."""
        return self._root[self._coded.codes]

    @cached_property
    def _postings(self) -> tuple[Ints, Ints]:
        """Positions of all words ordered by root, and where those of each root begin."""
        counts = np.bincount(self._roots, minlength=len(self._root_of))
        return np.argsort(self._roots, kind="stable"), np.concatenate(([0], np.cumsum(counts)))

    def _words(self, quote: str) -> _Words:
        words = tokenise(without_typography(quote), "words")
        roots = [without_footnote(word) for word in words]
        return _Words(
            words,
            np.array([self._number.get(word, -1) for word in words], np.int64),
            np.array([self._root_of.get(root, -1) for root in roots], np.int64),
            np.array([len(word) == len(root) for word, root in zip(words, roots, strict=True)], bool),
        )

    def _are(self, at: Ints, words: _Words, i: int) -> Bools:
        """Whether the words at these positions are word i of a quote."""
        code = self._coded.codes[at]
        same: Bools = code == words.code[i]
        if len(words) >= _TOLERANT:
            same |= (self._root[code] == words.root[i]) & (self._bare[code] | words.bare[i])
        return same

    def _whole(self, words: _Words) -> Ints:
        """Positions at which the words stand one after the other in one text."""
        if not len(words) or int(words.root.min()) < 0:
            return _NONE
        order, begins = self._postings
        rarest = int(np.argmin(begins[words.root + 1] - begins[words.root]))
        root = int(words.root[rarest])
        at = order[begins[root] : begins[root + 1]] - rarest
        at = at[(at >= 0) & (at + len(words) <= len(self._coded.codes))]
        for i in range(len(words)):
            at = at[self._are(at + i, words, i)]
        offsets = self._coded.offsets
        text = np.searchsorted(offsets, at, side="right") - 1
        return at[at + len(words) <= offsets[text + 1]]

    def find(self, quote: str) -> list[Passage]:
        """Everywhere a quote stands whole, by text and place; nothing for an empty quote."""
        words = self._words(quote)
        at, offsets = self._whole(words), self._coded.offsets
        text = np.searchsorted(offsets, at, side="right") - 1
        return [self._passage(t, int(a - offsets[t]), len(words)) for t, a in zip(text.tolist(), at, strict=True)]

    def holding(self, quote: str) -> Ints:
        """Texts that hold a quote: the whole of it or, where a text begins or ends within it, at least half its words.

        Of a quote that is cut a text must hold three words.
        """
        words = self._words(quote)
        texts = [np.searchsorted(self._coded.offsets, self._whole(words), side="right") - 1, *self._cut(words)]
        return np.unique(np.concatenate(texts))

    def _cut(self, words: _Words) -> Iterator[Ints]:
        """Texts that begin or end within the quote and hold enough of it; a word that the cut goes through is none."""
        n = len(words)
        least = max((n + 1) // 2, LEAST_CUT)
        sizes = self._coded.sizes
        for cut in (0, 1):  # words of the text that may be the rest of one
            for first in range(cut, n - least + 1):
                text = self._with_word(cut, int(words.root[first]))
                text = text[(sizes[text] < n) | (first > 0)]
                inside = sizes[text] - cut < n - first  # it ends within the quote too, perhaps within a word
                length = np.where(inside, sizes[text] - cut - 1, n - first)
                enough = length + inside >= least
                text, length, inside = text[enough], length[enough], inside[enough]
                same = self._alike(self._coded.offsets[text] + cut, length, words, first)
                yield from self._checked(
                    text[same], words, first - 1 if cut else -1, (first + length)[same], inside[same]
                )
            for last in range(least, n):
                text = self._with_word(-1 - cut, int(words.root[last - 1]))
                text = text[sizes[text] >= last + cut]
                same = self._alike(self._coded.offsets[text + 1] - cut - last, np.full(len(text), last), words, 0)
                ends = np.full(int(same.sum()), last)
                yield from self._checked(text[same], words, -1, ends, np.full(len(ends), bool(cut)))

    def _checked(self, text: Ints, words: _Words, before: int, after: Ints, ends: Bools) -> Iterator[Ints]:
        """Those whose first word is the rest of word `before` of the quote and, where they end in it, so the last."""
        for t, following, cut in zip(text.tolist(), after.tolist(), ends.tolist(), strict=True):
            first, last = (self._words_of[code] for code in self._coded[t][[0, -1]].tolist())
            if (before < 0 or words.text[before].endswith(first)) and (
                not cut or words.text[following].startswith(last)
            ):
                yield np.array([t], np.int64)

    def _alike(self, at: Ints, length: Ints, words: _Words, first: int) -> Bools:
        """Whether the `length` words from each position on are those of the quote from its word `first` on."""
        same = np.ones(len(at), bool)
        for i in range(int(length.max(initial=0))):
            left = np.flatnonzero(same & (i < length))
            same[left] = self._are(at[left] + i, words, first + i)
        return same

    def _ordered(self, place: int) -> tuple[Ints, Ints]:
        """Texts ordered by the root of the word at a place, counted from either end, with these roots."""
        text = np.flatnonzero(self._coded.sizes > (place if place >= 0 else -1 - place))
        at = (self._coded.offsets[text] if place >= 0 else self._coded.offsets[text + 1]) + place
        order = np.argsort(self._roots[at], kind="stable")
        return text[order], self._roots[at][order]

    def _with_word(self, place: int, root: int) -> Ints:
        """Texts whose word at a place has a root."""
        if place not in self._by_word:
            self._by_word[place] = self._ordered(place)
        texts, roots = self._by_word[place]
        return texts[slice(*np.searchsorted(roots, [root, root + 1]))]

    def nearest(self, quote: str, texts: Collection[int] | None = None) -> Passage | None:
        """The stretch, as long as the quote, where most of its rarer words stand as in the quote; in these texts."""
        root = self._words(quote).root
        order, begins = self._postings
        places = np.flatnonzero(root >= 0)
        counts = begins[root[places] + 1] - begins[root[places]]
        places = places[np.argsort(counts, kind="stable")][:_VOTERS]
        offsets = self._coded.offsets
        votes: dict[tuple[int, int], int] = {}
        for place in places.tolist():
            at = order[begins[root[place]] : begins[root[place] + 1]]
            text = np.searchsorted(offsets, at, side="right") - 1
            voting = np.isin(text, list(texts)) if texts is not None else np.arange(len(text)) < _MOST
            for t, first in zip(text[voting].tolist(), (at - offsets[text] - place)[voting].tolist(), strict=True):
                for near in (first - 1, first, first + 1):
                    votes[t, near] = votes.get((t, near), 0) + 1 + (near == first)
        if not votes:
            return None
        t, first = max(votes, key=lambda key: (votes[key], -key[0], -key[1]))
        size = int(offsets[t + 1] - offsets[t])
        start = min(max(first, 0), max(size - 1, 0))
        return self._passage(t, start, min(len(root), size - start))

    def _passage(self, text: int, first: int, count: int) -> Passage:
        if text not in self._bounds:
            self._bounds[text] = word_bounds(self.texts[text])
        starts, ends = self._bounds[text]
        return Passage(text, int(starts[first]), int(ends[first + count - 1]))


def word_bounds(text: str) -> tuple[Ints, Ints]:
    """Where each word begins and ends in the text as it is written; a word that a line end parts is one.

    >>> [a.tolist() for a in word_bounds("It's (so) - warm!")]
    [[0, 6, 12], [4, 8, 16]]
    """
    kinds = kinds_of(points_of(line_ends_filled(text)))
    at = np.flatnonzero(kinds == WORD)
    run = np.cumsum(kinds == SPACE)[at]
    fresh = np.ones(len(at), bool)
    fresh[1:] = run[1:] != run[:-1]
    last = np.ones(len(at), bool)
    last[:-1] = fresh[1:]
    return at[fresh], at[last] + 1
