"""Longest common subsequences of token numbers, by rapidfuzz."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from karat.core.text.characters import text_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from karat.core.text.codes import Coded

_CHARACTERS = 0x110000


def longest_common(left: Coded, right: Coded, size: int) -> NDArray[np.int64]:
    """The length of the longest common subsequence of text i of both sides, for each i."""
    from rapidfuzz.distance import LCSseq
    from rapidfuzz.process import cpdist

    if not len(left):
        return np.zeros(0, np.int64)
    ours, theirs = _sequences(left, size), _sequences(right, size)
    lengths: NDArray[np.int64] = cpdist(ours, theirs, scorer=LCSseq.similarity, dtype=np.int64)
    return lengths


def _sequences(coded: Coded, size: int) -> Sequence[str] | Sequence[list[int]]:
    """Each text as a string, one character a token, which rapidfuzz reads fastest; past all characters, as numbers."""
    bounds = pairwise(coded.offsets.tolist())
    if size < _CHARACTERS:
        text = text_of(coded.codes.astype(np.uint32))
        return [text[start:end] for start, end in bounds]
    numbers = coded.codes.tolist()
    return [numbers[start:end] for start, end in bounds]
