"""Ranked: what an engine finds, for many queries at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Ranked:
    """Rows of a table of chunks with their scores, best first: those of query i stand at `offsets[i]:offsets[i + 1]`.

    A higher score is better, whatever the engine. Scores are finite and compared as float32; of equal ones the higher
    row, which is the higher id, comes first (the tie rule of trec_eval). No row stands twice for a query.
    """

    offsets: Ints
    rows: Ints
    scores: Floats

    @classmethod
    def ordered(cls, queries: int, query: Ints, rows: Ints, scores: Floats, depth: int | None = None) -> Ranked:
        """From hits in any order: `query[j]` is the number of the query that hit j belongs to."""
        order = np.lexsort((-rows, query))
        query, rows, scores = query[order], rows[order], scores[order]
        order = best_first(query, scores)
        query, rows, scores = query[order], rows[order], scores[order]
        offsets = np.searchsorted(query, np.arange(queries + 1))
        ranked = cls(offsets.astype(np.int64), rows.astype(np.int64), scores.astype(np.float64))
        return ranked if depth is None else ranked.top(depth)

    @classmethod
    def empty(cls, queries: int) -> Ranked:
        """Nothing found for any query."""
        return cls(np.zeros(queries + 1, np.int64), np.zeros(0, np.int64), np.zeros(0))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __iter__(self) -> Iterator[tuple[Ints, Floats]]:
        return (self.of(i) for i in range(len(self)))

    def of(self, i: int) -> tuple[Ints, Floats]:
        """Rows and scores of one query."""
        start, end = int(self.offsets[i]), int(self.offsets[i + 1])
        return self.rows[start:end], self.scores[start:end]

    @property
    def query(self) -> Ints:
        """The query each hit belongs to."""
        return np.repeat(np.arange(len(self)), np.diff(self.offsets))

    @property
    def rank(self) -> Ints:
        """The rank of each hit within its query, from 1."""
        return np.arange(len(self.rows)) - np.repeat(self.offsets[:-1], np.diff(self.offsets)) + 1

    def top(self, depth: int) -> Ranked:
        """The best `depth` hits of each query."""
        kept = self.rank <= depth
        sizes = np.minimum(np.diff(self.offsets), depth)
        return Ranked(np.concatenate(([0], np.cumsum(sizes))), self.rows[kept], self.scores[kept])

    def take(self, queries: Ints) -> Ranked:
        """The lists of some queries, in this order; one may be taken again and again."""
        sizes = np.diff(self.offsets)[queries]
        offsets = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
        steps = np.arange(offsets[-1]) + np.repeat(self.offsets[queries] - offsets[:-1], sizes)
        return Ranked(offsets, self.rows[steps], self.scores[steps])


def best_first(query: Ints, scores: Floats) -> Ints:
    """The order of hits by query, then by score as float32, best first; of equal ones the first stays first.

    Query and score become one number each, which sorts several times faster than one after the other: the bits of a
    float order as its values do, those of a negative one backwards.
    """
    bits = (-scores).astype(np.float32).view(np.int32).astype(np.int64)
    place = np.where(bits < 0, -(bits + 2**31), bits)
    return np.argsort(query * 2**32 + place, kind="stable")
