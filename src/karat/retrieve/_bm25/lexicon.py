"""The terms of an index on disk: found by binary search in a mapped file, nothing read in whole."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_PREFIX = 8
_LINE = ord("\n")


@dataclass(frozen=True)
class Lexicon:
    """Terms in byte order, numbered from 0: term i is `letters[ends[i - 1]:ends[i]]` in UTF-8.

    `heads` holds the first eight bytes of each as one number, so that many terms are looked up at once.
    """

    letters: NDArray[np.uint8]
    ends: NDArray[np.int64]
    heads: NDArray[np.uint64]

    @classmethod
    def of(cls, terms: Iterable[bytes]) -> Lexicon:
        """From distinct terms in byte order."""
        terms = list(terms)
        letters = np.frombuffer(b"".join(terms), np.uint8)
        ends = np.cumsum(np.fromiter(map(len, terms), np.int64, len(terms)), dtype=np.int64)
        return cls(letters, ends, _heads(terms))

    @classmethod
    def merged(cls, lexicons: Iterable[Lexicon]) -> tuple[Lexicon, list[NDArray[np.int32]]]:
        """The terms of all of them, and which of these each of their terms is. Each is looked at once, in turn."""
        if isinstance(lexicons, Sequence) and len(lexicons) == 1:
            return lexicons[0], [np.arange(len(lexicons[0]), dtype=np.int32)]
        met: defaultdict[bytes, int] = defaultdict(lambda: len(met))  # numbered as they are met
        numbers = [np.fromiter(map(met.__getitem__, one._each()), np.int32, len(one)) for one in lexicons]
        distinct = sorted(met)
        place_of = np.empty(len(met), np.int32)
        place_of[np.fromiter(map(met.__getitem__, distinct), np.int32, len(met))] = np.arange(len(met))
        for mine in numbers:
            mine[:] = place_of[mine]
        return cls.of(distinct), numbers

    def only(self, held: NDArray[np.bool_]) -> Lexicon:
        """Some of its terms."""
        sizes = np.diff(self.ends, prepend=0)
        return Lexicon(self.letters[np.repeat(held, sizes)], np.cumsum(sizes[held]), self.heads[held])

    def _each(self) -> list[bytes]:
        """Every term: all at once, since none holds the end of a line, at which words are parted."""
        before = np.repeat(np.arange(len(self)), np.diff(self.ends, prepend=0))  # terms before that of a letter
        parted = np.full(len(self.letters) + len(self), _LINE, np.uint8)
        parted[np.arange(len(self.letters)) + before] = self.letters
        return parted.tobytes().split(bytes([_LINE]))[:-1]

    def __len__(self) -> int:
        return len(self.ends)

    def __getitem__(self, number: int) -> bytes:
        start = int(self.ends[number - 1]) if number else 0
        return self.letters[start : int(self.ends[number])].tobytes()

    def terms(self) -> list[str]:
        """Every term, by number."""
        return [text_of(term) for term in self._each()]

    def find(self, terms: Sequence[str]) -> NDArray[np.int64]:
        """The number of each term, -1 where the index does not have it."""
        wanted = [bytes_of(term) for term in terms]
        heads = _heads(wanted)
        low, high = (np.searchsorted(self.heads, heads, side).tolist() for side in ("left", "right"))
        return np.fromiter(map(self._between, wanted, low, high), np.int64, len(wanted))

    def _between(self, term: bytes, low: int, high: int) -> int:
        """The number of a term that stands, if at all, between two places."""
        while low < high:
            middle = (low + high) // 2
            candidate = self[middle]
            if candidate == term:
                return middle
            if candidate < term:
                low = middle + 1
            else:
                high = middle
        return -1


def bytes_of(term: str) -> bytes:
    """A term as it is stored and ordered."""
    return term.encode("utf-8", "surrogatepass")


def text_of(term: bytes) -> str:
    """A stored term as text."""
    return term.decode("utf-8", "surrogatepass")


def _heads(terms: Sequence[bytes]) -> NDArray[np.uint64]:
    packed = b"".join(term[:_PREFIX].ljust(_PREFIX, b"\0") for term in terms)
    return np.frombuffer(packed, np.dtype(">u8")).astype(np.uint64)
