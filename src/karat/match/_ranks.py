"""Ranks of a few hits, found by counting what stands above them instead of sorting their lists."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from karat.core.judged import Ints

_FEW = 8  # hits a question up to which counting passes beat sorting


def ranks_of(
    scores: NDArray[np.float32] | NDArray[np.float64],
    offsets: Ints,
    row: Ints,
    score: NDArray[np.float32] | NDArray[np.float64],
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
    scores: NDArray[np.float32] | NDArray[np.float64],
    offsets: Ints,
    row: Ints,
    score: NDArray[np.float32] | NDArray[np.float64],
) -> tuple[Ints, Ints]:
    """For each hit, how many scores of its list are greater, and how many equal."""
    better = np.zeros(len(row), np.int64)
    equal = np.zeros(len(row), np.int64)
    if not len(row):
        return better, equal
    first = np.flatnonzero(np.concatenate(([True], row[1:] != row[:-1])))
    held = np.diff(np.append(first, len(row)))
    if held.max() > _FEW and len(scores) * int(held.max()) > 4_000_000:
        for place, count in zip(first.tolist(), held.tolist(), strict=True):
            these = slice(place, place + count)
            ordered = np.sort(scores[offsets[row[place]] : offsets[row[place] + 1]])
            upto = np.searchsorted(ordered, score[these], side="right")
            better[these] = len(ordered) - upto
            tied = (ordered[1:] == ordered[:-1]).any()
            equal[these] = upto - np.searchsorted(ordered, score[these], side="left") if tied else 1
        return better, equal
    lists = row[first]
    begin, end = offsets[lists], offsets[lists + 1]
    if (begin[1:] == end[:-1]).all():
        flat = scores[begin[0] : end[-1]]
    else:
        flat = scores[_rows(begin, end)]
    sizes = end - begin
    starts = np.cumsum(sizes) - sizes
    for j in range(int(held.max())):
        here = first[held > j] + j
        bar = np.full(len(lists), np.inf, scores.dtype)
        bar[held > j] = score[here]
        bars = np.repeat(bar, sizes)
        better[here] = np.add.reduceat(flat > bars, starts, dtype=np.int64)[held > j]
        equal[here] = np.add.reduceat(flat == bars, starts, dtype=np.int64)[held > j]
    return better, equal


def _rows(begin: Ints, end: Ints) -> Ints:
    """All positions of several ranges, one range after the other."""
    sizes = end - begin
    shift: Ints = np.repeat(begin - (np.cumsum(sizes) - sizes), sizes)
    return np.arange(len(shift)) + shift
