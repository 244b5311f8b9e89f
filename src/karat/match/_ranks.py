"""Ranks of a few hits, found by counting what stands above them instead of sorting their lists."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from karat.core.judged import Ints

_FEW = 8  # hits of a list up to which counting what is better beats sorting it
_BLOCK = 1 << 17


def ranks_of(
    scores: NDArray[np.floating[Any]],
    offsets: Ints,
    row: Ints,
    score: NDArray[np.floating[Any]],
    doc: Callable[[int], str],
    tied_docs: Callable[[int, float], Sequence[str]],
) -> Ints:
    """Rank of each given hit within its list, without sorting the lists: one more than the better hits.

    Hit i stands in list `row[i]` (rows ascending) with `score[i]` and id `doc(i)`. `tied_docs` gives the ids of a
    list that have a score; it is asked only where a hit is tied.
    """
    better, equal = _count(scores, offsets, row, score)
    ranks = better + 1
    groups: dict[tuple[int, float], list[str]] = {}
    for i in np.flatnonzero(equal > 1).tolist():
        key = (int(row[i]), float(score[i]))
        if key not in groups:
            groups[key] = sorted(tied_docs(*key))
        ranks[i] += len(groups[key]) - bisect_right(groups[key], doc(i))
    return ranks


def _count(
    scores: NDArray[np.floating[Any]],
    offsets: Ints,
    row: Ints,
    score: NDArray[np.floating[Any]],
) -> tuple[Ints, Ints]:
    """For each hit, how many scores of its list are greater, and how many equal."""
    better = np.zeros(len(row), np.int64)
    equal = np.zeros(len(row), np.int64)
    if not len(row):
        return better, equal
    first = np.flatnonzero(np.concatenate(([True], row[1:] != row[:-1])))
    held = np.diff(np.append(first, len(row)))
    many = held > _FEW
    for place, count in zip(first[many].tolist(), held[many].tolist(), strict=True):
        these = slice(place, place + count)
        ordered = np.sort(scores[offsets[row[place]] : offsets[row[place] + 1]])
        upto = np.searchsorted(ordered, score[these], side="right")
        better[these] = len(ordered) - upto
        tied = (ordered[1:] == ordered[:-1]).any()
        equal[these] = upto - np.searchsorted(ordered, score[these], side="left") if tied else 1
    for j in range(int(held[~many].max(initial=0))):
        here = first[~many & (held > j)] + j
        for part in _parts(offsets, row[here]):
            lists, bars = row[here[part]], score[here[part]]
            begin, end = offsets[lists], offsets[lists + 1]
            sizes = end - begin
            flat = scores[begin[0] : end[-1]] if (begin[1:] == end[:-1]).all() else scores[_rows(begin, end)]
            starts, against = np.cumsum(sizes) - sizes, np.repeat(bars, sizes)
            better[here[part]] = np.add.reduceat(flat > against, starts, dtype=np.int32)
            equal[here[part]] = np.add.reduceat(flat == against, starts, dtype=np.int32)
    return better, equal


def _parts(offsets: Ints, lists: Ints) -> list[slice]:
    """The lists in groups of about _BLOCK scores, which stay in the processor's cache."""
    seen = np.cumsum(offsets[lists + 1] - offsets[lists])
    cuts = np.searchsorted(seen, np.arange(_BLOCK, int(seen[-1]), _BLOCK)) + 1
    edges = sorted({0, len(lists), *np.minimum(cuts, len(lists)).tolist()})
    return [slice(a, b) for a, b in pairwise(edges)]


def _rows(begin: Ints, end: Ints) -> Ints:
    """All positions of several ranges, one range after the other."""
    sizes = end - begin
    shift: Ints = np.repeat(begin - (np.cumsum(sizes) - sizes), sizes)
    return np.arange(len(shift)) + shift
