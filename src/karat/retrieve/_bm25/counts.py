"""How often each term stands in each row, counted block by block, so that memory holds counts and never all tokens."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from karat.retrieve._bm25.lexicon import Lexicon, bytes_of
from karat.retrieve._terms import Terms

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]

COUNTS = (np.uint8, np.uint16, np.int32)
"""What counts are stored as: the smallest that holds the highest."""
_TOGETHER = 20_000
"""How many texts are counted at a time."""


@dataclass(frozen=True, kw_only=True)
class TermCounts:
    """The rows of term t and how often it stands in each at `starts[t]:starts[t + 1]`, rows ascending.

    `lengths` is how many terms each row has.
    """

    lexicon: Lexicon
    rows: NDArray[np.int32]
    counts: NDArray[Any]
    starts: Ints
    lengths: NDArray[np.int32]


@dataclass(frozen=True)
class _CountedBlock:
    """Entries in the order of their terms, which are numbered by first appearance, and then of their rows."""

    terms: NDArray[np.int32]
    rows: NDArray[np.int32]
    counts: NDArray[Any]


def count_terms(texts: Sequence[str], terms: Terms, progress: Callable[[str, int, int], None]) -> TermCounts:
    """The terms of the texts and where they stand."""
    vocabulary = terms.vocabulary()
    number_of: dict[bytes, int] = {}
    term_of_word = np.zeros(0, np.int32)
    blocks: list[_CountedBlock] = []
    lengths = np.zeros(len(texts), np.int32)
    for start in range(0, len(texts), _TOGETHER):
        progress("finding terms", start, len(texts))
        coded = terms.encode(texts[start : start + _TOGETHER], vocabulary)
        words = map(bytes_of, terms.of_words(vocabulary.words(len(term_of_word))))
        fresh = [number_of.setdefault(word, len(number_of)) if word else -1 for word in words]
        term_of_word = np.append(term_of_word, np.array(fresh, np.int32))
        of_token = term_of_word[coded.codes]
        held = of_token >= 0
        owners = coded.owners[held]
        lengths[start : start + len(coded)] = np.bincount(owners, minlength=len(coded))
        blocks.append(_block(of_token[held], owners, start))
    progress("finding terms", len(texts), len(texts))
    return _sorted(blocks, sorted(number_of), number_of, lengths)


def _block(terms: NDArray[np.int32], owners: Ints, first_row: int) -> _CountedBlock:
    """From the term and the text of every token of a block."""
    keys = terms.astype(np.int64) << 32
    keys |= owners
    keys.sort()
    first = np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1]))) if len(keys) else np.zeros(0, np.int64)
    counts = np.diff(first, append=len(keys))
    keys = keys[first]
    rows = (keys & 0xFFFFFFFF) + first_row
    return _CountedBlock((keys >> 32).astype(np.int32), rows.astype(np.int32), counts.astype(_smallest(counts)))


def _smallest(counts: Ints) -> type[np.integer[Any]]:
    highest = int(counts.max(initial=0))
    return next(kind for kind in COUNTS if highest <= np.iinfo(kind).max)


def _sorted(
    blocks: list[_CountedBlock], distinct: list[bytes], number_of: dict[bytes, int], lengths: NDArray[np.int32]
) -> TermCounts:
    """The entries of all blocks by term in byte order; each block is let go once its entries have their places."""
    numbers = np.empty(len(distinct), np.int64)
    numbers[np.fromiter(map(number_of.__getitem__, distinct), np.int64, len(distinct))] = np.arange(len(distinct))
    holders = np.zeros(len(distinct), np.int64)
    for block in blocks:
        holders[numbers] += np.bincount(block.terms, minlength=len(distinct))
    starts = np.concatenate(([0], np.cumsum(holders))).astype(np.int64)
    rows = np.empty(starts[-1], np.int32)
    counts = np.empty(starts[-1], np.result_type(np.uint8, *(block.counts.dtype for block in blocks)))
    free = starts[:-1].copy()
    blocks.reverse()
    while blocks:
        block = blocks.pop()
        first = np.flatnonzero(np.diff(block.terms, prepend=-1))
        sizes = np.diff(first, append=len(block.terms))
        here = numbers[block.terms[first]]
        places = np.repeat(free[here] - first, sizes) + np.arange(len(block.terms))
        rows[places], counts[places] = block.rows, block.counts
        free[here] += sizes
    return TermCounts(lexicon=Lexicon.of(distinct), rows=rows, counts=counts, starts=starts, lengths=lengths)
