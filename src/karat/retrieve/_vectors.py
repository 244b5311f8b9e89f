"""The vectors behind a dense engine, searched exactly."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from karat.core.errors import InputError
from karat.core.ranked import Ranked
from karat.io.arrays import REMEDY
from karat.io.threads import one_thread
from karat.retrieve._engine import concatenated, places_in
from karat.retrieve._precision import StoredVectors

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from karat.retrieve._graph import Graph

    Ints = NDArray[np.int64]
    Vectors = NDArray[np.float32]
    Scores = NDArray[np.float32]

EXTRA = 8
"""How many more than asked for are fetched, to see whether the last one is tied with what comes after."""
_NEAR = 4e-6
"""Scores of FAISS closer than this may be equal: it adds up in another order for other batches."""
_SURE = 1e-4
"""A product of vectors further than this from a cosine is on its side of it, however it was added up."""
_MOST = 1.001
"""No cosine is further from 0, rounding included."""


@dataclass(frozen=True)
class EmbeddedRows:
    """The vector and the digest of each distinct text, and which one each row has (-1: none)."""

    fingerprint: str
    vectors: StoredVectors
    digests: NDArray[np.uint8]
    rows: Ints

    @cached_property
    def _groups(self) -> tuple[Ints, Ints]:
        """The rows of vector i are `rows[starts[i]:starts[i + 1]]`, the highest first."""
        rows = np.argsort(self.rows[::-1], kind="stable")
        starts = np.searchsorted(self.rows[::-1][rows], np.arange(len(self.vectors) + 1))
        return starts.astype(np.int64), (len(self.rows) - 1 - rows).astype(np.int64)

    def ranked(self, places: Ints, scores: Scores, depth: int) -> Ranked:
        """The rows behind the vectors that were found, a line of `places` for each query; -1 is no vector."""
        starts, rows = self._groups
        places = np.where(np.isfinite(scores), places, -1)
        if starts[-1] - starts[0] == len(self.vectors):
            rows = rows[starts[:-1]][places]
            order = np.lexsort((-rows, -scores), axis=-1)[:, :depth]
            real = np.take_along_axis(places, order, axis=1) >= 0
            offsets = np.concatenate(([0], np.cumsum(real.sum(axis=1))))
            rows = np.take_along_axis(rows, order, axis=1)[real]
            return Ranked(offsets, rows, np.take_along_axis(scores, order, axis=1)[real].astype(np.float64))
        queries, (query, column) = len(places), np.nonzero(places >= 0)
        places, scores = places[query, column], scores[query, column]
        sizes = np.minimum(starts[places + 1] - starts[places], depth)
        hit = np.repeat(np.arange(len(places)), sizes)
        step = np.arange(len(hit)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        rows = rows[starts[places][hit] + step]
        return Ranked.ordered(queries, query[hit], rows, scores[hit].astype(np.float64), depth)

    def above(self, query: Vectors, products: Scores, cosine: float) -> tuple[int, Ints]:
        """How many rows stand above a cosine with a query, and the rows that have it, by products with all vectors."""
        unsure = np.flatnonzero(np.abs(products - np.float32(cosine)) <= _SURE)
        exact = cosines(self.vectors, query, unsure[None])[0]
        starts, grouped = self._groups
        surely = products > cosine + _SURE
        above = np.count_nonzero(surely) if self._is_distinct else self._sizes[surely].sum()
        tied = [grouped[starts[place] : starts[place + 1]] for place in unsure[exact == cosine].tolist()]
        return int(above + self._sizes[unsure[exact > cosine]].sum()), np.concatenate([np.zeros(0, np.int64), *tied])

    def row_products(self, query: Vectors) -> Scores:
        """The product of a query and the vector of each row, in no order; 0 where a row has none."""
        held = self.rows[self.rows >= 0]
        products = self.vectors.products(query[None])[0] if len(held) else np.zeros(0, np.float32)
        return np.concatenate([products[held], np.zeros(len(self.rows) - len(held), np.float32)])

    @cached_property
    def _sizes(self) -> Ints:
        """How many rows have each vector."""
        return np.diff(self._groups[0])

    @cached_property
    def _is_distinct(self) -> bool:
        return bool((self._sizes == 1).all())


@dataclass(frozen=True)
class VectorShard:
    """Some rows of a collection; `order` is which row of it each of these is, None where they are the same."""

    content: EmbeddedRows
    graph: Graph | None = None
    order: Ints | None = None

    def search(self, asked: Vectors, depth: int, effort: int | None) -> Ranked:
        """The nearest rows of queries; by the graph where there is one and an effort is given."""
        parts = []
        if len(self.content.vectors):
            for lines, places in self._candidates(asked, depth, effort):
                scores = cosines(self.content.vectors, asked[lines], places)
                parts.append((lines, self.content.ranked(places, scores, depth)))
        ranked = concatenated(parts, len(asked))
        return ranked if self.order is None else replace(ranked, rows=self.order[ranked.rows])

    def _candidates(self, asked: Vectors, depth: int, effort: int | None) -> Iterator[tuple[Ints, Ints]]:
        if self.graph is None or effort is None:
            yield from exact_candidates(self.content.vectors, asked, depth)
        else:
            yield np.arange(len(asked)), self.graph.candidates(asked, depth, effort)

    def places(self, rows: Ints) -> Ints:
        """Where the vectors of those of some rows stand that it has and that have one."""
        places = self.place_of(rows)
        return places[places >= 0]

    def place_of(self, rows: Ints) -> Ints:
        """Where the vector of each of some rows stands; -1 where it has none for it."""
        if self.order is None:
            return self.content.rows[rows]
        local = places_in(self.order, rows)
        places, held = np.full(len(rows), -1), local >= 0
        places[held] = self.content.rows[local[held]]
        return places

    def best(self, asked: Vectors, rows: Ints) -> tuple[float, int] | None:
        """The highest cosine of a query and some rows, and the highest of those that have it; None: none has one."""
        local = self._local(rows)
        places = self.content.rows[local]
        local, places = local[places >= 0], places[places >= 0]
        if not len(local):
            return None
        scores = cosines(self.content.vectors, asked, places[None])[0]
        return float(scores.max()), int(self.in_collection(local[scores == scores.max()]).max())

    def above(self, asked: Vectors, best: Sequence[tuple[float, int]]) -> Ints:
        """For each query how many rows stand above a row that has a cosine."""
        counts = np.zeros(len(asked), np.int64)
        products = self.content.vectors.products(asked)
        with one_thread():  # a few cosines at a time
            for number, (cosine, row) in enumerate(best):
                above, tied = self.content.above(asked[number][None], products[number], cosine)
                counts[number] = above + np.count_nonzero(self.in_collection(tied) > row)
        return counts

    def in_collection(self, rows: Ints) -> Ints:
        """What the collection calls some of its rows."""
        return rows if self.order is None else self.order[rows]

    def _local(self, rows: Ints) -> Ints:
        if self.order is None:
            return rows
        local = places_in(self.order, rows)
        return local[local >= 0]


def exact_candidates(vectors: StoredVectors, queries: Vectors, depth: int) -> Iterator[tuple[Ints, Ints]]:
    """The `depth` nearest vectors of each query, and all that may be tied with the last: queries, lines of vectors."""
    todo, k = np.arange(len(queries)), depth + EXTRA
    while len(todo):
        k = min(k, len(vectors))
        scores, near = nearest(vectors, queries[todo], k)
        tied = scores[:, -1] >= scores[:, min(depth, k) - 1] - _NEAR if k < len(vectors) else np.zeros(len(todo), bool)
        yield todo[~tied], near[~tied]
        todo, k = todo[tied], k * 4


def nearest(vectors: StoredVectors, queries: Vectors, k: int) -> tuple[Scores, Ints]:
    """About the highest products of each query with the vectors, and whose they are, best first."""
    import faiss

    scores, places = np.zeros((len(queries), 0), np.float32), np.zeros((len(queries), 0), np.int64)
    for start, block in vectors.blocks():
        block_scores, near = faiss.knn(queries, block, min(k, len(block)), metric=faiss.METRIC_INNER_PRODUCT)
        scores, places = np.hstack((scores, block_scores)), np.hstack((places, near.astype(np.int64) + start))
        if scores.shape[1] > block_scores.shape[1]:
            order = np.argsort(-scores, axis=1, kind="stable")[:, :k]
            scores, places = np.take_along_axis(scores, order, axis=1), np.take_along_axis(places, order, axis=1)
    return scores, places


def cosines(vectors: StoredVectors, queries: Vectors, places: Ints) -> Scores:
    """The cosine of each query and the vectors in its line, -inf where there is none.

    Every pair is added up by itself, in one order, so that equal vectors have equal scores in any batch. Both are of
    length 1: what is no cosine shows that the vectors were damaged.
    """
    import faiss

    queries = np.ascontiguousarray(queries)
    scores = np.empty(places.shape, np.float32)
    for lines, rows, numbers in vectors.taken(places):
        arrays = (scores[lines], queries[lines], rows, np.ascontiguousarray(numbers))
        faiss.fvec_inner_products_by_idx(*map(faiss.swig_ptr, arrays), rows.shape[1], *numbers.shape)
    if not (np.abs(scores[places >= 0]) <= _MOST).all():
        raise InputError("a vector is not of length 1", place="the vectors of the index", remedy=REMEDY)
    return np.where(places >= 0, np.clip(scores, -1, 1), np.float32(-np.inf))
