"""Texts as numbers, one for each distinct token, so that many texts are compared at once.

Finding the tokens of a text as Python strings costs more than comparing them. Here the tokens of all texts are
found in one buffer and numbered eight bytes at a time, exactly: two tokens share a number only if their bytes agree.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, islice
from typing import TYPE_CHECKING

import numpy as np

from karat.core.text.normalise import ARTICLES, WITHOUT_ARTICLES, Norm, clean_all

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Keys = NDArray[np.uint64]
    Bools = NDArray[np.bool_]

# Runs of this size keep the working arrays in the processor's cache.
_CHUNK_BYTES = 500_000
_CHUNK_TOKENS = 32_000
_STEPS = 8
# A key holds eight bytes of a token. Bytes from 0xF8 up never occur in UTF-8, so as the highest byte of a key they
# say how many bytes it holds when fewer than eight are left, or, with seven bytes, that the token goes on.
_MASK = np.array([(1 << 8 * size) - 1 for size in (*range(8), 8, 7)], np.uint64)
_TAG = np.array([(0xF8 + size) << 56 for size in range(8)] + [0, 0xF8 << 56], np.uint64)
_MULTIPLIERS = (0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93, 0xA0761D6478BD642F, 0xE7037ED1A0B428DB, 0x8EBC6AF09C88C6E3)


@dataclass(frozen=True)
class TokenIds:
    """Token numbers of many texts: those of text i are `codes[offsets[i]:offsets[i + 1]]`."""

    codes: Ints
    offsets: Ints

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, i: int) -> Ints:
        return self.codes[self.offsets[i] : self.offsets[i + 1]]

    @cached_property
    def sizes(self) -> Ints:
        """How many tokens each text has."""
        return np.diff(self.offsets)

    @cached_property
    def owners(self) -> Ints:
        """The text of each token."""
        return np.repeat(np.arange(len(self)), self.sizes)

    def take(self, chosen: Ints) -> TokenIds:
        """The texts of these numbers, in this order; one may be taken again and again."""
        if len(chosen) == len(self) and np.array_equal(chosen, np.arange(len(self))):
            return self
        sizes = self.sizes[chosen]
        offsets = _offsets(sizes)
        steps = np.arange(offsets[-1]) + np.repeat(self.offsets[chosen] - offsets[:-1], sizes)
        return TokenIds(self.codes[steps], offsets)

    def part(self, start: int, stop: int) -> TokenIds:
        """The texts from `start` up to `stop`."""
        offsets = self.offsets[start : stop + 1]
        return TokenIds(self.codes[offsets[0] : offsets[-1]], offsets - offsets[0])

    def where(self, kept: Bools) -> TokenIds:
        """The same texts with only the tokens marked True."""
        total = np.concatenate(([0], np.cumsum(kept)))
        return TokenIds(self.codes[kept], total[self.offsets])

    def bigrams(self, size: int) -> TokenIds:
        """Each two neighbouring tokens as one; `size` is that of the vocabulary."""
        inner = self.owners[1:] == self.owners[:-1]
        pairs = (self.codes[:-1] * size + self.codes[1:])[inner]
        return TokenIds(pairs, _offsets(np.maximum(self.sizes - 1, 0)))


class Vocabulary:
    """The distinct tokens met so far under one normaliser, numbered from 0."""

    def __init__(self, norm: Norm) -> None:
        self.norm = norm
        self._numbers = _Numbers()
        if norm in WITHOUT_ARTICLES:
            for article in ARTICLES:
                self._numbers[article.encode()]
        self._dropped = len(self._numbers)

    def __len__(self) -> int:
        return len(self._numbers)

    def encode(self, texts: Sequence[str]) -> TokenIds:
        """The texts as token numbers. New tokens join the vocabulary; earlier numbers stay."""
        coded = self.encode_clean(clean_all(texts, self.norm))
        return coded.where(coded.codes >= self._dropped) if self._dropped else coded

    def encode_clean(self, texts: list[bytes]) -> TokenIds:
        """The same of texts that are taken as they are: in UTF-8, their tokens parted by spaces."""
        numbered = [self._number(chunk) for chunk in _chunks(texts)]
        codes = np.concatenate([codes for codes, _ in numbered] or [np.zeros(0, np.int64)])
        sizes = np.concatenate([sizes for _, sizes in numbered] or [np.zeros(0, np.int64)])
        return TokenIds(codes, _offsets(sizes))

    def words(self, first: int = 0) -> list[str]:
        """The tokens met so far, by number, from the number `first` on."""
        return [token.decode("utf-8", "surrogatepass") for token in islice(self._numbers, first, None)]

    def known(self, words: Iterable[str]) -> Ints:
        """The numbers of those of these normalised words that have been met."""
        numbers = (self._numbers.get(word.encode()) for word in words)
        return np.array(sorted(n for n in numbers if n is not None), np.int64)

    def _number(self, parts: Sequence[bytes]) -> tuple[Ints, Ints]:
        """Numbers of the tokens of cleaned texts, and how many each text has."""
        joined = b" ".join([b"", *parts, b" " * 16])
        gap = np.frombuffer(joined, np.uint8) == 32
        edges = np.flatnonzero(gap[1:] != gap[:-1])
        edges += 1
        starts, ends = edges[0::2], edges[1::2]
        first = _first_alike(joined, starts, ends - starts)
        distinct = np.flatnonzero(first == np.arange(len(first)))
        numbers = np.empty(len(first), np.int64)
        spans = zip(starts[distinct].tolist(), ends[distinct].tolist(), strict=True)
        numbers[distinct] = [self._numbers[joined[start:end]] for start, end in spans]
        text_starts = _offsets(np.fromiter(map(len, parts), np.int64, len(parts)) + 1)
        return numbers[first], np.diff(np.searchsorted(starts, text_starts))


class _Numbers(dict[bytes, int]):
    """Numbers given out in order of first appearance."""

    def __missing__(self, token: bytes) -> int:
        number = self[token] = len(self)
        return number


def shared(left: TokenIds, right: TokenIds, size: int, *, distinct: bool = False) -> tuple[Ints, Ints, Ints]:
    """For each i, how many tokens text i of both sides share, and how many each has.

    Tokens are counted as often as they stand on both sides (`distinct`: once). `size` is that of the vocabulary.
    """
    both = [np.zeros(len(left), np.int64) for _ in range(3)]
    ends = left.offsets[1:] + right.offsets[1:]
    start = 0
    while start < len(left):
        before = int(ends[start - 1]) if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, before + _CHUNK_TOKENS, side="right")))
        for whole, part in zip(
            both, _shared(left.part(start, stop), right.part(start, stop), size, distinct), strict=True
        ):
            whole[start:stop] = part
        start = stop
    return both[0], both[1], both[2]


def _shared(ours: TokenIds, theirs: TokenIds, size: int, distinct: bool) -> tuple[Ints, Ints, Ints]:
    count = len(ours)
    owner = np.concatenate((ours.owners, theirs.owners))
    code = np.concatenate((ours.codes, theirs.codes))
    if not len(code):
        return np.zeros(count, np.int64), ours.sizes, theirs.sizes
    if size * count < 2**62:
        first = first_alike((owner * size + code).view(np.uint64))
    else:
        first = first_alike(code.view(np.uint64), owner.view(np.uint64))
    split = len(ours.codes)
    mine, yours = (np.bincount(part, minlength=len(code)) for part in (first[:split], first[split:]))
    if distinct:
        mine, yours = np.minimum(mine, 1), np.minimum(yours, 1)
        sizes = [np.bincount(owner, side, minlength=count).astype(np.int64) for side in (mine, yours)]
    else:
        sizes = [ours.sizes, theirs.sizes]
    common = np.minimum(mine, yours)
    held = np.flatnonzero(common)
    return np.bincount(owner[held], common[held], minlength=count).astype(np.int64), sizes[0], sizes[1]


def first_alike(key: Keys, more: Keys | None = None) -> Ints:
    """For each entry the place of one entry with the same key (and `more`), the same for all that agree.

    Entries meet in the slots of a table; those that lose their slot to another key try again with another
    multiplier, and the few that always lose are sorted.
    """
    places = np.arange(len(key))
    result, left = places, places
    for multiplier in _MULTIPLIERS:
        whole = left is places
        mine = key if whole else key[left]
        mixed = mine ^ (mine >> np.uint64(32))
        if more is not None:
            mixed *= np.uint64(_MULTIPLIERS[-1])
            mixed += more if whole else more[left]
            mixed ^= mixed >> np.uint64(29)
        mixed *= np.uint64(multiplier)
        bits = max(8, len(left).bit_length())
        mixed >>= np.uint64(64 - bits)
        slot = mixed.view(np.int64)
        table = np.empty(1 << bits, np.int64)
        table[slot] = left
        winner = table.take(slot, mode="clip")
        agree = key.take(winner, mode="clip") == mine
        if more is not None:
            agree &= more[winner] == (more if whole else more[left])
        if whole:
            result = winner
        else:
            result[left] = winner
        left = left[~agree]
        if not len(left):
            return result
    columns = [key[left]] if more is None else [key[left], more[left]]
    _, place, inverse = np.unique(np.stack(columns), axis=1, return_index=True, return_inverse=True)
    result[left] = left[place[inverse.ravel()]]
    return result


def _first_alike(joined: bytes, starts: Ints, sizes: Ints) -> Ints:
    """For each token of a buffer the place of one equal token."""
    words = np.ndarray((len(joined) - 7,), np.dtype("<u8"), joined, 0, (1,))
    first = first_alike(_keys(words, starts, sizes))
    longer = np.flatnonzero(sizes > 8)
    done = 7
    for _ in range(_STEPS):
        if not len(longer):
            return first
        rest = sizes[longer] - done
        keys = _keys(words, starts[longer] + done, rest)
        first[longer] = longer[first_alike(keys, first[longer].view(np.uint64))]
        longer, done = longer[rest > 8], done + 7
    seen: dict[bytes, int] = {}
    for i in longer.tolist():
        first[i] = seen.setdefault(joined[starts[i] : starts[i] + sizes[i]], i)
    return first


def _keys(words: Keys, starts: Ints, sizes: Ints) -> Keys:
    """The next bytes of each token as one number."""
    keys = words[starts]
    keys &= _MASK.take(sizes, mode="clip")
    keys |= _TAG.take(sizes, mode="clip")
    return keys


def _offsets(sizes: Ints) -> Ints:
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(sizes, dtype=np.int64)))


def _chunks(parts: list[bytes]) -> Iterator[list[bytes]]:
    """The parts in runs of about `_CHUNK_BYTES`."""
    ends = np.fromiter(accumulate(map(len, parts)), np.int64, len(parts))
    start = 0
    while start < len(parts):
        before = int(ends[start - 1]) if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, before + _CHUNK_BYTES, side="right")))
        yield parts[start:stop]
        start = stop
