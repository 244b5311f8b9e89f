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
        block = slice(place, place + count)
        ordered = np.sort(scores[offsets[row[place]] : offsets[row[place] + 1]])
        upto = np.searchsorted(ordered, score[block], side="right")
        better[block] = len(ordered) - upto
        tied = (ordered[1:] == ordered[:-1]).any()
        equal[block] = upto - np.searchsorted(ordered, score[block], side="left") if tied else 1
    for j in range(int(held[~many].max(initial=0))):
        here = first[~many & (held > j)] + j
        for part in _parts(offsets, row[here]):
            these = here[part]
            flat, starts, sizes, at = _laid_out(scores, offsets, row[these])
            bars = np.full(len(sizes), np.inf, scores.dtype)
            bars[at] = score[these]
            against = np.repeat(bars, sizes)
            better[these] = np.add.reduceat(flat > against, starts, dtype=np.int32)[at]
            equal[these] = np.add.reduceat(flat == against, starts, dtype=np.int32)[at]
    return better, equal


def _parts(offsets: Ints, lists: Ints) -> list[slice]:
    """The lists in groups of about _BLOCK scores, which stay in the processor's cache."""
    seen = np.cumsum(offsets[lists + 1] - offsets[lists])
    cuts = np.searchsorted(seen, np.arange(_BLOCK, int(seen[-1]), _BLOCK)) + 1
    edges = sorted({0, len(lists), *np.minimum(cuts, len(lists)).tolist()})
    return [slice(a, b) for a, b in pairwise(edges)]


def _laid_out(
    scores: NDArray[np.floating[Any]], offsets: Ints, lists: Ints
) -> tuple[NDArray[np.floating[Any]], Ints, Ints, Ints]:
    """Scores of the lists end to end, where each begins, its size, and which of them are the lists asked for.

    Lists that stand near each other are taken with what lies between them, which saves a copy.
    """
    first, last = int(lists[0]), int(lists[-1])
    begin, end = offsets[lists], offsets[lists + 1]
    if end[-1] - begin[0] > 2 * (end - begin).sum():
        sizes = end - begin
        return scores[_rows(begin, end)], np.cumsum(sizes) - sizes, sizes, np.arange(len(lists))
    sizes = np.diff(offsets[first : last + 2])
    filled = sizes > 0
    place = np.cumsum(filled) - 1
    starts = offsets[first : last + 1][filled] - begin[0]
    return scores[begin[0] : end[-1]], starts, sizes[filled], place[lists - first]


def _rows(begin: Ints, end: Ints) -> Ints:
    """All positions of several ranges, one range after the other."""
    sizes = end - begin
    shift: Ints = np.repeat(begin - (np.cumsum(sizes) - sizes), sizes)
    return np.arange(len(shift)) + shift
