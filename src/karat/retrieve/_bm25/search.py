"""The best rows of many queries, touching only what can still change them.

The terms of a query are taken by the most they can add, highest first. Some row is known to score at least the
`depth`-th weight of each term; once all the terms left cannot lift a row that far together, rows that hold only
those need no look (MaxScore), and for the others their weights are read from the columns of frequent terms. The sum
of a row always runs in the same order, that of the highest weights in the whole collection, so its bytes depend on the
query and the collection, not on the shards.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from karat.core.ranked import Ranked
from karat.retrieve._bm25.postings import KTH, LEVELS, LOW, TOP, Postings, PostingShard, floats_of, ordered_bits

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float32]

_ROUNDING = 2.0**-22
# With more postings than rows / _SPARSE, going over all rows costs less than going over the postings again.
_SPARSE = 12
_ENOUGH = 4
_GROUPS = 8
_ROW = np.uint64(0xFFFFFFFF)


@dataclass(frozen=True)
class QueryTerms:
    """The known terms of queries: term numbers and how often each stands, those of query i at `offsets[i]:...`."""

    offsets: Ints
    terms: Ints
    times: Floats


def _asked_of(shard: PostingShard, asked: QueryTerms) -> QueryTerms:
    """The terms of queries as a shard's postings call them, without those it does not have."""
    terms = shard.terms(asked.terms)
    if shard.numbers is None:
        return asked
    held = terms >= 0
    offsets = np.concatenate(([0], np.cumsum(held)))[asked.offsets]
    return QueryTerms(offsets, terms[held], asked.times[held])


def _in_collection(shard: PostingShard, keys: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Keys of a shard's rows as keys of the collection's: rows ascend in both, so the order stays."""
    if shard.order is None:
        return keys
    return (keys & ~_ROW) | shard.order[_rows(keys)].view(np.uint64)


def query_terms(queries: int, owners: Ints, terms: Ints, tops: Floats) -> QueryTerms:
    """Each query's distinct terms in the order in which their weights are summed, by the highest of these."""
    size = max(1, len(tops))
    keys, times = np.unique(owners * size + terms, return_counts=True)
    owners, terms = keys // size, keys % size
    most = tops[terms] * times.astype(np.float32)
    order = np.lexsort((terms, -most, owners))
    offsets = np.searchsorted(owners, np.arange(queries + 1))
    return QueryTerms(offsets, terms[order], times[order].astype(np.float32))


def search(shards: Sequence[PostingShard], asked: QueryTerms, depth: int, shares: NDArray[np.float64]) -> Ranked:
    """The best `depth` rows of each query that hold at least one of its terms.

    `shares[i]` is what the terms of query i give every row, whether it holds them or not. What the last of the best
    rows of the shards before reaches, no row of the next one may fall short of.
    """
    queries = range(len(asked.offsets) - 1)
    best = [np.zeros(0, np.uint64)] * len(queries)
    reached = np.full(len(queries), -np.inf)
    for shard in shards:
        plan = _SearchPlan(shard.postings, _asked_of(shard, asked), depth, shares, reached)
        for i in queries:
            keys = _in_collection(shard, plan.best(i))
            best[i] = _best(np.concatenate((best[i], keys)), depth) if len(best[i]) and len(keys) else best[i]
            if not len(best[i]):
                best[i] = keys
        if len(shards) > 1:
            full = np.array([i for i in queries if len(best[i]) == depth], np.int64)
            last = np.array([best[i][-1] for i in full.tolist()], np.uint64)
            reached[full] = _unkeyed(last).astype(np.float64) - shares[full]
    return _ranked(best)


def ranks_of(
    shards: Sequence[PostingShard], asked: QueryTerms, rows: Sequence[Ints], shares: NDArray[np.float64]
) -> Ints:
    """For each query the rank of the best of its rows in all that it finds, by counting those above; 0: not found."""
    plans, ranks = _EveryRow(shards, asked, shares), np.zeros(len(rows), np.int64)
    for query, sought in enumerate(rows):
        keys = plans.keys(query)
        wanted = keys[np.isin(_rows(keys), sought)]
        if len(wanted):
            ranks[query] = np.count_nonzero(keys > wanted.max()) + 1
    return ranks


def best_of(
    shards: Sequence[PostingShard], asked: QueryTerms, rows: Sequence[Ints], shares: NDArray[np.float64]
) -> Ranked:
    """The best of its rows for each query, if it finds any of them; shards that have none are not looked at."""
    plans, best = _EveryRow(shards, asked, shares), []
    for query, sought in enumerate(rows):
        keys = plans.keys(query, sought)
        best.append(_best(keys[np.isin(_rows(keys), sought)], 1))
    return _ranked(best)


def above(shards: Sequence[PostingShard], asked: QueryTerms, best: Ranked, shares: NDArray[np.float64]) -> Ints:
    """How many rows stand above the one hit of each query; 0 where it has none."""
    plans, counts = _EveryRow(shards, asked, shares), np.zeros(len(best), np.int64)
    hits = _keyed(best.scores.astype(np.float32), best.rows)
    for query, hit in zip(best.query.tolist(), hits, strict=True):
        counts[query] = np.count_nonzero(plans.keys(query) > hit)
    return counts


class _EveryRow:
    """All rows that queries find in some shards."""

    def __init__(self, shards: Sequence[PostingShard], asked: QueryTerms, shares: NDArray[np.float64]) -> None:
        every = np.full(len(shares), -np.inf)
        self._plans = [
            (shard, _SearchPlan(shard.postings, _asked_of(shard, asked), shard.postings.docs, shares, every))
            for shard in shards
        ]

    def keys(self, query: int, sought: Ints | None = None) -> NDArray[np.uint64]:
        """The rows of a query as keys, in no order; of shards that have a row that is sought alone."""
        plans = self._plans
        if sought is not None:
            plans = [(shard, plan) for shard, plan in plans if shard.has_any(sought)]
        keys = [_in_collection(shard, plan.keys(query)) for shard, plan in plans]
        return np.concatenate([*keys, np.zeros(0, np.uint64)])


class _SearchPlan:
    """What is worked out for all queries at once, and the room in which each is summed."""

    def __init__(
        self,
        postings: Postings,
        asked: QueryTerms,
        depth: int,
        shares: NDArray[np.float64],
        reached: NDArray[np.float64],
    ) -> None:
        self.postings, self.depth, self.shares = postings, depth, shares.tolist()
        self.sums = np.zeros(postings.docs, np.float32)
        self.marks = np.empty(postings.docs, np.int32)
        terms, times, offsets = asked.terms, asked.times, asked.offsets
        bounds = postings.bounds[terms] * times[:, None]
        queries = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
        lows = np.bincount(queries, bounds[:, LOW], len(offsets) - 1)
        level = int(np.searchsorted(LEVELS, depth))
        floors = reached.copy()
        if level < len(LEVELS):
            np.maximum.at(floors, queries, bounds[:, KTH + level] + lows[queries] - bounds[:, LOW])
        self.floors, self.lows = floors.tolist(), lows.tolist()
        size = np.bincount(queries, np.maximum(np.abs(bounds[:, TOP]), -bounds[:, LOW]), len(offsets) - 1)
        self.slacks = ((size * np.diff(offsets) + shares) * _ROUNDING).tolist()
        self.mosts = np.maximum(bounds[:, TOP], 0).tolist()
        place = np.searchsorted(postings.frequent, terms)
        if len(postings.frequent):
            place = np.where(postings.frequent[np.minimum(place, len(postings.frequent) - 1)] == terms, place, -1)
        else:
            place = np.full(len(terms), -1)
        self.column_of = place.tolist()
        self.starts, self.ends = postings.starts[terms].tolist(), postings.starts[terms + 1].tolist()
        self.times, self.offsets = times.tolist(), offsets.tolist()

    def best(self, query: int) -> NDArray[np.uint64]:
        """The best rows of a query as keys, best first."""
        return _best(self.keys(query), self.depth)

    def keys(self, query: int) -> NDArray[np.uint64]:
        """The rows of a query that may be among the best, as keys, in no order."""
        first, last = self.offsets[query], self.offsets[query + 1]
        if first == last:
            return np.zeros(0, np.uint64)
        slack = self.slacks[query]
        floor, split, left = self.floors[query] - slack, last, 0.0
        while split > first + 1 and self.column_of[split - 1] >= 0 and left + self.mosts[split - 1] < floor:
            split -= 1
            left += self.mosts[split]
        rows, sums = self._summed(first, split, floor - left, self.lows[query] - left - slack)
        for i in range(split, last):
            more = self.postings.columns[self.column_of[i]].take(rows, mode="clip")
            sums += more if self.times[i] == 1 else more * np.float32(self.times[i])
        if self.shares[query]:
            sums += np.float32(self.shares[query])
        if len(rows) > _ENOUGH * self.depth:
            rows, sums = _above(rows, sums, _reached(sums, self.depth))
        return _keyed(sums, rows)

    def _summed(self, first: int, split: int, floor: float, rest: float) -> tuple[Ints, Floats]:
        """The rows that hold some of these terms and reach the floor by them, and their sums.

        A row whose sum is below the `depth`-th highest by more than `rest` (which is negative) is left out, too.
        """
        parts = []
        for i in range(first, split):
            part = self.postings.rows[self.starts[i] : self.ends[i]]
            weights = self.postings.weights[self.starts[i] : self.ends[i]]
            np.add.at(self.sums, part, weights if self.times[i] == 1 else weights * np.float32(self.times[i]))
            parts.append(part)
        if floor > 0 and sum(map(len, parts)) * _SPARSE > len(self.sums):
            reaching = (self.sums >= max(floor, _reached(self.sums, self.depth) + rest)).nonzero()[0]
            sums = self.sums.take(reaching)
            self.sums.fill(0)
            return reaching, sums
        seen = (np.concatenate(parts) if len(parts) > 1 else parts[0]).astype(np.int64)
        rows, sums = _above(seen, self.sums.take(seen, mode="clip"), floor)
        self.sums[seen] = 0
        if len(parts) > 1:
            places = np.arange(len(rows), dtype=np.int32)
            self.marks[rows] = places
            once = (self.marks.take(rows, mode="clip") == places).nonzero()[0]
            rows, sums = rows.take(once), sums.take(once)
        if len(rows) > _ENOUGH * self.depth:
            rows, sums = _above(rows, sums, _reached(sums, self.depth) + rest)
        return rows, sums


def _ranked(keys: Sequence[NDArray[np.uint64]]) -> Ranked:
    """The rows of each query, whose keys stand best first."""
    sizes = np.fromiter(map(len, keys), np.int64, len(keys))
    flat = np.concatenate([*keys, np.zeros(0, np.uint64)])
    offsets = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
    return Ranked(offsets, _rows(flat), _unkeyed(flat).astype(np.float64))


def _best(keys: NDArray[np.uint64], depth: int) -> NDArray[np.uint64]:
    keys.sort()
    return keys[: -depth - 1 : -1]


def _above(rows: Ints, sums: Floats, floor: float) -> tuple[Ints, Floats]:
    places = (sums >= floor).nonzero()[0]
    return rows.take(places), sums.take(places)


def _reached(sums: Floats, depth: int) -> float:
    """What at least `depth` sums reach: the `depth`-th highest, or of very many a little less.

    The highest of each of many groups are different sums, so the `depth`-th of those is reached by as many.
    """
    groups = _GROUPS * depth
    if len(sums) > 2 * groups:
        sums = sums[: len(sums) // groups * groups].reshape(-1, groups).max(axis=0)
    return float(np.partition(sums, len(sums) - depth)[len(sums) - depth]) if len(sums) > depth else -math.inf


def _keyed(sums: Floats, rows: Ints) -> NDArray[np.uint64]:
    """Sum and row in one number, in the order of sums and then of rows."""
    keys = ordered_bits(sums).astype(np.uint64)
    keys <<= np.uint64(32)
    keys |= rows.view(np.uint64)
    return keys


def _rows(keys: NDArray[np.uint64]) -> Ints:
    return (keys & _ROW).astype(np.int64)


def _unkeyed(keys: NDArray[np.uint64]) -> Floats:
    return floats_of((keys >> np.uint64(32)).astype(np.uint32))
