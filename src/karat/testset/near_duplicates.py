"""Near duplicates: of chunks that say the same, or nearly, all but the first, told without holding all texts.

Of two chunks of which 80% is the same, either has 80% of its shingles (few neighbouring words) from more than one
chunk. Which shingles those are is noted in a table of bits, block by block; only chunks that are made of them are
compared with one another.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np

from karat.core.text.codes import Vocabulary
from karat.results.drafts import LeftOut
from karat.testset.check.copies import LIKE, copies, shingles

if TYPE_CHECKING:
    from karat.core.docs import Chunks
    from karat.core.judged import Bools, Floats, Ints
    from karat.core.text.codes import Keys

_TOGETHER = 20_000  # chunks whose texts are held at a time
_SLOTS_A_ROW = 64
_FEWEST_SLOTS, _MOST_SLOTS = 1 << 20, 1 << 26


def near_duplicates(chunks: Chunks, rows: Sequence[int]) -> dict[int, LeftOut]:
    """The rows that say the same as an earlier one, or nearly, each with which."""
    vocabulary = Vocabulary("words")
    first_of: dict[bytes, int] = {}  # words -> the first row that has just these
    firsts: list[int] = []
    repeated = _RepeatedShingles(len(rows))
    for block in _blocks(rows):
        coded = vocabulary.encode([chunks.texts[row] for row in block])
        digests = [blake2b(coded[place].tobytes(), digest_size=16).digest() for place in range(len(block))]
        of_block = [first_of.setdefault(digest, row) for digest, row in zip(digests, block, strict=True)]
        repeated.note(*shingles(coded), np.equal(of_block, block))
        firsts += of_block
    unlike = list(first_of.values())
    if len(rows) > _TOGETHER:
        unlike = [row for block in _blocks(unlike) for row in _repetitive(chunks, block, vocabulary, repeated)]
    out = _nearly_alike(chunks, unlike)
    for row, first in zip(rows, firsts, strict=True):
        if row != first:
            detail = out[first].detail if first in out else f"the same words as {chunks.ids[first]}"
            out[row] = LeftOut(row, "near_duplicate", detail)
    return out


def _blocks(rows: Sequence[int]) -> Iterator[Sequence[int]]:
    return (rows[start : start + _TOGETHER] for start in range(0, len(rows), _TOGETHER))


def _repetitive(
    chunks: Chunks, rows: Sequence[int], vocabulary: Vocabulary, repeated: _RepeatedShingles
) -> Iterator[int]:
    """Those of some rows that may nearly be copies of another."""
    share = repeated.share(*shingles(vocabulary.encode([chunks.texts[row] for row in rows])), len(rows))
    return (rows[place] for place in np.flatnonzero(share >= LIKE).tolist())


def _nearly_alike(chunks: Chunks, rows: Sequence[int]) -> dict[int, LeftOut]:
    """Of rows that are nearly alike all but the first."""
    alike = copies([chunks.texts[row] for row in rows], np.arange(len(rows)))
    out: dict[int, LeftOut] = {}
    for place, row in enumerate(rows):
        earlier = [other for other in alike.get(place, {}) if other < place and rows[other] not in out]
        if earlier:
            like = f"{alike[place][min(earlier)]:.0%} the same as {chunks.ids[rows[min(earlier)]]}"
            out[row] = LeftOut(row, "near_duplicate", like)
    return out


class _RepeatedShingles:
    """Which shingles stand in more than one row; of two that share a slot it is taken for granted."""

    def __init__(self, rows: int) -> None:
        wanted = 1 << (max(1, rows * _SLOTS_A_ROW) - 1).bit_length()
        self._slots = np.uint64(min(max(wanted, _FEWEST_SLOTS), _MOST_SLOTS) - 1)
        self._once, self._again = np.zeros((2, int(self._slots) + 1), bool)

    def note(self, shingle: Keys, row: Ints, counted: Bools) -> None:
        """Note the shingles of those rows of a block that count."""
        held, _ = self._distinct(shingle[counted[row]], row[counted[row]])
        slots, times = np.unique(held, return_counts=True)
        self._again[slots] |= self._once[slots] | (times > 1)
        self._once[slots] = True

    def share(self, shingle: Keys, row: Ints, rows: int) -> Floats:
        """The share of the shingles of each row of a block that stand in more than one; 0 of one without any."""
        held, owner = self._distinct(shingle, row)
        every = np.bincount(owner, minlength=rows)
        again = np.bincount(owner[self._again[held]], minlength=rows)
        return again / np.maximum(every, 1)

    def _distinct(self, shingle: Keys, row: Ints) -> tuple[Ints, Ints]:
        """The slot of each shingle of each row, once a row, and the row."""
        order = np.lexsort((shingle, row))
        shingle, row = shingle[order], row[order]
        new = np.ones(len(row), bool)
        new[1:] = (shingle[1:] != shingle[:-1]) | (row[1:] != row[:-1])
        mixed = shingle[new] ^ (shingle[new] >> np.uint64(32))
        return (mixed & self._slots).astype(np.int64), row[new]
