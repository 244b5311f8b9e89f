"""tokens: windows of so many words, each beginning some words before the end of the last.

Words are what white space parts, if a letter, mark or digit is in them: the same count as `Recall@800t` uses. A window
ends at the last end of a sentence in its last 15%, else at the last end of a line there, else at its last word.
The next begins `overlap` words before that end.

A window is limited in characters too, so that text without white space (Chinese, Japanese, Thai; base64) is cut as
well: 12 a word, white space aside, and never fewer than 240 in all. A character of a script written without spaces
counts for 4. What two windows share is limited alike, 12 a word of `overlap`. Only a word beyond the limit of a window
is cut inside, into pieces of 12 characters, or 3 of such a script, that pass for words.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from karat.core.docs import Doc
from karat.core.text.characters import SPACE, WORD, kinds_of, points_of
from karat.core.text.sentences import sentence_spans
from karat.corpus._chunk import Chunker, Piece

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]

_WEIGHT_OF_WORD = 12
_WEIGHT_UNSPACED = 4
_LEAST_WORDS = 20
_LOOK_BACK = 15  # percent of a window
_LINE_ENDS = np.array([0x0A, 0x0C, 0x0D, 0x85, 0x2028, 0x2029], np.uint32)
# Thai, Lao; Myanmar; Khmer; kana, Han and the like; Han beyond the first plane.
_UNSPACED = (
    (0x0E00, 0x0F00),
    (0x1000, 0x10A0),
    (0x1780, 0x1800),
    (0x2E80, 0xA4D0),
    (0xF900, 0xFB00),
    (0x20000, 0x32400),
)
_MOST_MARKS = 16


def windows(text: str, size: int, overlap: int, start: int = 0, end: int | None = None) -> list[tuple[int, int]]:
    """Where the windows stand that cover a text, or its characters from `start` to `end`."""
    part = text if start == 0 and end is None else text[start:end]
    limit = _WEIGHT_OF_WORD * max(size, _LEAST_WORDS)
    weight = len(part) * (1 if part.isascii() else _WEIGHT_UNSPACED)
    if weight <= limit and (len(part) < 2 * size or len(part.split()) <= size):
        left = len(part.lstrip())
        return [(start + len(part) - left, start + len(part.rstrip()))] if left else []
    return [(start + a, start + b) for a, b in _TokenUnits(part, limit).windows(size, overlap, limit)]


class _TokenUnits:
    """What is never cut: runs of characters without white space, or pieces of one that is too long."""

    def __init__(self, text: str, limit: int) -> None:
        points = points_of(text)
        kinds = kinds_of(points)
        inked = kinds != SPACE
        edges = np.flatnonzero(np.diff(inked, prepend=False, append=False))
        starts, ends = edges[0::2], edges[1::2]
        weights = _weights(points, inked)
        full_stops = np.array([end for _, end in sentence_spans(text)], np.int64)
        heavy = np.flatnonzero(weights[ends] - weights[starts] > limit)
        if len(heavy):
            inner = [_inside(text, int(starts[i]), int(ends[i]), weights, full_stops) for i in heavy]
            starts = np.sort(np.concatenate((starts, *inner)))
            ends = np.sort(np.concatenate((ends, *inner)))
        self.starts: list[int] = starts.tolist()
        self.ends: list[int] = ends.tolist()
        worded = np.concatenate(([0], np.cumsum(kinds == WORD)))
        is_word = worded[ends] > worded[starts]
        # Words, and weight, before each unit; the last entry is the whole.
        self.words: list[int] = np.concatenate(([0], np.cumsum(is_word))).tolist()
        self.weights: list[int] = np.append(weights[starts], weights[-1]).tolist()
        # Units before which a sentence, a line has ended.
        stopped = np.searchsorted(ends, full_stops)
        self.sentences: list[int] = (stopped[ends[stopped] == full_stops] + 1).tolist()
        blank = np.flatnonzero(~inked)
        breaks = blank[np.isin(points[blank], _LINE_ENDS)]
        self.lines: list[int] = np.unique(np.searchsorted(starts, breaks)).tolist()

    def windows(self, size: int, overlap: int, limit: int) -> list[tuple[int, int]]:
        words, weights = self.words, self.weights
        count = len(self.starts)
        spans: list[tuple[int, int]] = []
        first = last = 0
        while last < count:
            most = min(bisect_right(words, words[first] + size), bisect_right(weights, weights[first] + limit)) - 1
            last = most if most >= count else self._end(first, last + 1, most, overlap)
            spans.append((self.starts[first], self.ends[last - 1]))
            if last < count:
                repeated = bisect_right(words, words[last] - overlap) - 1
                fitting = bisect_left(weights, max(weights[last] - limit * overlap // size, weights[last + 1] - limit))
                first = min(max(repeated, fitting, first + 1), last)
        return spans

    def _end(self, first: int, least: int, most: int, overlap: int) -> int:
        """The unit to end before: from `least` to `most`, where a sentence or a line ends if the last part has one."""
        held = self.words[most] - self.words[first]
        enough = self.words[first] + max(held - held * _LOOK_BACK // 100, overlap + 1)
        least = max(least, bisect_left(self.words, enough))
        for ends in (self.sentences, self.lines):
            nearest = bisect_right(ends, most) - 1
            if nearest >= 0 and ends[nearest] >= least:
                return ends[nearest]
        return most


def _weights(points: NDArray[np.uint32], inked: NDArray[np.bool_]) -> Ints:
    """The weight before each character, and of all."""
    weight = inked.astype(np.int64)
    if len(points) and points.max() >= _UNSPACED[0][0]:
        for low, high in _UNSPACED:
            weight[(points >= low) & (points < high) & inked] = _WEIGHT_UNSPACED
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(weight)))


def _inside(text: str, start: int, end: int, weights: Ints, full_stops: Ints) -> Ints:
    """Where a run that is too long is cut: at ends of sentences and every few characters, not before a mark."""
    steps = np.arange(weights[start] + _WEIGHT_OF_WORD, weights[end], _WEIGHT_OF_WORD)
    places = np.searchsorted(weights[start : end + 1], steps) + start
    stops = full_stops[np.searchsorted(full_stops, start, "right") : np.searchsorted(full_stops, end)]
    moved = [_after_marks(text, place, end) for place in np.union1d(places, stops).tolist()]
    return np.unique(np.array([place for place in moved if place < end], np.int64))


def _after_marks(text: str, place: int, end: int) -> int:
    most = min(end, place + _MOST_MARKS)
    while place < most and unicodedata.category(text[place])[0] == "M":
        place += 1
    return place


def _pieces(doc: Doc, size: int, overlap: int) -> Sequence[Piece]:
    return [Piece(start, end) for start, end in windows(doc.text, size, overlap)]


CHUNKER = Chunker(
    "tokens",
    "windows of so many words that overlap, ended at a sentence or a line where one ends near",
    _pieces,
    unit="tokens",
    size=200,
)
