"""Rankings, and the rule for which of two hits stands first: that of trec_eval 9.

The higher score stands first, compared as float32; of equal scores the higher id in byte order. Code points order text
as UTF-8 bytes do, so Python's comparison of strings is the byte order; tables of chunks are sorted by id, so that of
two of their rows the higher one has the higher id.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from karat.core.run import Run

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]

Ties = Literal["float32", "double"]
"""The precision at which scores are compared."""


@dataclass(frozen=True)
class Ranked:
    """Rows of a table of chunks with their scores, best first: those of query i stand at `offsets[i]:offsets[i + 1]`.

    A higher score is better, whatever the engine. Scores are finite, and no row stands twice for a query.
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

    @classmethod
    def joined(cls, lists: Sequence[Ranked]) -> Ranked:
        """Rankings of some queries each as one of all of them."""
        if not lists:
            return cls.empty(0)
        sizes = np.concatenate([np.diff(ranked.offsets) for ranked in lists])
        offsets = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
        return cls(offsets, np.concatenate([r.rows for r in lists]), np.concatenate([r.scores for r in lists]))

    def ranks_of(self, queries: Ints, rows: Sequence[Ints]) -> Ints:
        """For each of some queries the rank of the best of some rows; 0 where none of them was found."""
        owner = np.repeat(np.arange(len(rows)), [len(some) for some in rows])
        places = self.find(queries[owner], np.concatenate([*rows, np.zeros(0, np.int64)]))
        best = np.full(len(rows), len(self.rows), np.int64)
        np.minimum.at(best, owner[places >= 0], places[places >= 0])
        return np.append(self.rank, 0)[best]

    def find(self, queries: Ints, rows: Ints) -> Ints:
        """Where these rows stand among the hits of these queries; -1 where one is no hit."""
        if not len(rows) or not len(self.rows):
            return np.full(len(rows), -1, np.int64)
        width = 2 + max(int(self.rows.max()), int(rows.max()))
        keys, wanted = self.query * width + self.rows, queries * width + np.where(rows < 0, width - 1, rows)
        order = np.argsort(keys, kind="stable")
        at = np.minimum(np.searchsorted(keys, wanted, sorter=order), len(keys) - 1)
        return np.where(keys[order[at]] == wanted, order[at], -1)

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
        sizes = np.diff(self.offsets)
        if sizes.max(initial=0) <= depth:
            return self
        is_top, sizes = self.rank <= depth, np.minimum(sizes, depth)
        return Ranked(np.concatenate(([0], np.cumsum(sizes))), self.rows[is_top], self.scores[is_top])

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


def ranking(run: Run, ties: Ties = "float32") -> Ints:
    """Positions of all hits of a run, list by list, best first."""
    if run.order == "given" or run.scores is None:
        return np.arange(len(run))
    scores = at_precision(run.scores, ties)
    listed = np.repeat(np.arange(len(run.question_ids)), np.diff(run.offsets))
    order = np.lexsort((-scores, listed))
    ordered, lists = scores[order], listed[order]
    tied = (ordered[1:] == ordered[:-1]) & (lists[1:] == lists[:-1])
    if tied.any():
        docs = run.doc_list
        edges = np.flatnonzero(np.diff(np.concatenate(([False], tied, [False])).astype(np.int8)))
        for begin, last in edges.reshape(-1, 2).tolist():
            group = order[begin : last + 1].tolist()
            order[begin : last + 1] = sorted(group, key=docs.__getitem__, reverse=True)
    return order


def at_precision(scores: Floats, ties: Ties) -> NDArray[np.floating[Any]]:
    """Scores at the precision at which they are compared; beyond float32's range they tie at infinity, as in C."""
    if ties == "double":
        return scores
    with np.errstate(over="ignore"):
        return scores.astype(np.float32)


def trec_key(hit: tuple[str, float]) -> tuple[float, str]:
    """Sort key of an (id, score) pair; reversed, it gives the order of trec_eval."""
    return at_precision(np.array(hit[1]), "float32").item(), hit[0]
