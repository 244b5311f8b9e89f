"""What all of stats shares: kinds of arrays, when two values are equal, and means over what is known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

TIE = 1e-12  # two values no farther apart than this are equal


def mean_known(rows: Floats) -> Floats:
    """The mean of each column over the rows that have a value; NaN where none has."""
    known = np.isfinite(rows)
    many = known.sum(axis=0)
    return np.where(many > 0, np.where(known, rows, 0.0).sum(axis=0) / np.maximum(many, 1), np.nan)


class DistinctRows:
    """Rows of numbers of which equal ones are held once, in the order in which they first came."""

    def __init__(self, values: NDArray[Any]) -> None:
        self.rows: NDArray[Any] = values[:0]
        self.first: Ints = np.zeros(0, np.int64)  # the first of all rows that each of `rows` is
        self.place: Ints = np.zeros(0, np.int64)  # which of `rows` each of all rows is
        self._numbers: dict[bytes, int] = {}
        self.add(values)

    def add(self, values: NDArray[Any]) -> None:
        """Rows that come after those before."""
        numbers, held = self._numbers, len(self.rows)
        rows = np.ascontiguousarray(values)
        place = np.array([numbers.setdefault(row.tobytes(), len(numbers)) for row in rows], np.int64)
        row, first = np.unique(place, return_index=True)
        first = first[row >= held]
        self.first = np.concatenate([self.first, len(self.place) + first])
        self.rows, self.place = np.concatenate([self.rows, rows[first]]), np.concatenate([self.place, place])


def grouped(clusters: Sequence[int] | Ints | None) -> Ints | None:
    """Each question's conversation, numbered from 0 in order of appearance; None where each is one of its own.

    >>> grouped([7, 3, 7]), grouped([7, 3])
    (array([0, 1, 0]), None)
    """
    if clusters is None:
        return None
    numbers = codes(np.asarray(clusters).tolist())
    return numbers if len(numbers) > numbers.max(initial=-1) + 1 else None


def cluster_sums(rows: Floats, clusters: Ints) -> Floats:
    """The sums of the last axis over the questions of each conversation, numbered from 0 without gaps.

    >>> cluster_sums(np.array([[1.0, 2.0, 4.0]]), np.array([0, 1, 0]))
    array([[5., 2.]])
    """
    order = np.argsort(clusters, kind="stable")
    starts = np.flatnonzero(np.diff(clusters[order], prepend=-1))
    sums: Floats = np.add.reduceat(rows[..., order], starts, axis=-1)
    return sums


def known_sums(rows: Floats, clusters: Ints) -> Floats:
    """Of each row the sum over each conversation of what is finite, NaN where nothing is."""
    known = np.isfinite(rows)
    some = cluster_sums(known.astype(np.float64), clusters) > 0
    return np.where(some, cluster_sums(np.where(known, rows, 0.0), clusters), np.nan)


def finite(value: float) -> float | None:
    """The number, or None where it is not finite: there is no such number."""
    return float(value) if np.isfinite(value) else None


def codes(levels: Sequence[object]) -> Ints:
    """A number for each level, in order of appearance.

    >>> codes(["b", "a", "b"]).tolist()
    [0, 1, 0]
    """
    numbers: dict[object, int] = {}
    return np.array([numbers.setdefault(level, len(numbers)) for level in levels], np.int64)
