"""The index: for each term the rows that hold it and what it adds to their scores, worked out beforehand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from karat.core.errors import UsageError
from karat.retrieve._bm25.counts import TermCounts
from karat.retrieve._bm25.lexicon import Lexicon
from karat.retrieve._bm25.variants import Formula
from karat.retrieve._engine import places_in

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]
    Bounds = NDArray[np.float32]

LEVELS = (10, 100, 1000)
"""Ranks at which the bounds of a term hold its weight."""
TOP, LOW, KTH = 0, 1, 2
"""Columns of the bounds: the highest weight, the lowest or 0, and from here on those of `LEVELS`."""
_BLOCK = 1 << 20
"""How many postings are weighed at a time."""
_MANY = 4096
"""How many rows hold a term whose bounds are found by themselves; those of fewer are found for many terms at once."""
_TERMS = 4096
"""How many of these terms at once."""
_SIGN = np.uint32(1 << 31)
# A term in one of so many rows is frequent and gets a column of its own, if there are enough rows to gain by it.
FREQUENT = 4
FEW_ROWS = 4096


@dataclass(frozen=True, kw_only=True)
class Postings:
    """Rows and weights of term t at `starts[t]:starts[t + 1]`, rows ascending.

    `frequent` lists terms that many rows hold; `columns` has the weight of each of those for every row, 0 where the
    row does not hold it. `bounds` has what the weights of a term cannot exceed, see `LEVELS`.
    """

    rows: NDArray[np.int32]
    weights: NDArray[np.float32]
    starts: Ints
    bounds: Bounds
    frequent: Ints
    columns: NDArray[np.float32]

    @property
    def docs(self) -> int:
        """How many rows there are."""
        return int(self.columns.shape[1])

    def weight(self, term: int, row: int) -> float:
        """What a term adds to the score of a row; 0 where the row does not hold it."""
        start, end = int(self.starts[term]), int(self.starts[term + 1])
        place = start + int(np.searchsorted(self.rows[start:end], row))
        return float(self.weights[place]) if place < end and self.rows[place] == row else 0.0

    def check(self, terms: Ints) -> None:
        """Raise IndexError where terms name rows that do not exist: rows ascend, so the first and the last tell."""
        first, last = self.rows[self.starts[terms]], self.rows[self.starts[terms + 1] - 1]
        if len(terms) and not 0 <= first.min() <= last.max() < self.docs:
            raise IndexError


@dataclass(frozen=True, kw_only=True)
class PostingShard:
    """The postings of some rows of a collection.

    `numbers` is which term of the collection each of its terms is, `order` which row of it each of its rows, both
    ascending; None where they are the same, as in a collection of one shard.
    """

    postings: Postings
    numbers: NDArray[np.int32] | None = None
    order: Ints | None = None

    def terms(self, terms: Ints) -> Ints:
        """What its postings call terms of the collection, -1 where it has none. IndexError where they are damaged."""
        local = terms if self.numbers is None else places_in(self.numbers, terms)
        self.postings.check(local[local >= 0])
        return local

    def weights(self, terms: Ints, row: int) -> Floats:
        """What each of some terms of the collection adds to a row of the shard; 0 where the row does not hold it."""
        local = self.terms(terms).tolist()
        return np.array([self.postings.weight(term, row) if term >= 0 else 0.0 for term in local], np.float64)

    def has_any(self, rows: Ints) -> bool:
        """Whether some rows of the collection are among its own."""
        return self.order is None or bool((places_in(self.order, rows) >= 0).any())

    def row(self, row: int) -> int | None:
        """What its postings call a row of the collection; None where it is in another shard."""
        if self.order is None:
            return row
        place = int(places_in(self.order, np.array([row]))[0])
        return place if place >= 0 else None


@dataclass(frozen=True, kw_only=True)
class Collection:
    """What all rows have in common, whatever shards they stand in; `holders` and `tops` go by term.

    `holders` is how many rows hold a term, `tops` the highest of its weights.
    """

    lexicon: Lexicon
    docs: int
    holders: Ints
    tops: NDArray[np.float32]


def weigh_all(
    shards: Sequence[TermCounts],
    terms: tuple[Lexicon, Sequence[NDArray[np.int32]]],
    formula: Formula,
    receive: Callable[[PostingShard], None],
    progress: Callable[[str, int, int], None],
) -> Collection:
    """Weigh the counts of every shard of a collection, one after the other; `receive` gets each.

    `terms` are those of all shards, and which of these each of the terms of each shard is.
    """
    progress("weighing terms", 0, len(shards))
    lexicon, numbers = terms
    holders, docs, length = np.zeros(len(lexicon), np.int64), 0, 0
    for counted, mine in zip(shards, numbers, strict=True):
        holders[mine] += np.diff(counted.starts)
        docs += len(counted.lengths)
        length += int(counted.lengths.sum(dtype=np.int64))
    if not docs:
        raise UsageError("there are no texts to index. Give at least one.")
    idf, tops = formula.idf(holders, docs), np.full(len(lexicon), -np.inf, np.float32)
    for done, (counted, mine) in enumerate(zip(shards, numbers, strict=True), 1):
        postings = _weigh(counted, idf[mine], length / docs, formula)
        tops[mine] = np.maximum(tops[mine], postings.bounds[:, TOP])
        receive(PostingShard(postings=postings, numbers=mine if len(shards) > 1 else None))
        progress("weighing terms", done, len(shards))
    return Collection(lexicon=lexicon, docs=docs, holders=holders, tops=tops)


def _weigh(counted: TermCounts, idf: Floats, mean_length: float, formula: Formula) -> Postings:
    """What each term adds to each row, by the worth of the terms and the average length in the whole collection."""
    rows, starts, docs = counted.rows, counted.starts, len(counted.lengths)
    holders = np.diff(starts)
    norms = formula.norms(counted.lengths / max(mean_length, np.finfo(float).tiny))
    weights = np.empty(len(rows), np.float32)
    edges = np.unique(np.append(np.searchsorted(starts, np.arange(0, len(rows), _BLOCK)), len(holders)))
    for low, high in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        part = slice(starts[low], starts[high])
        gain = formula.gain(counted.counts[part].astype(np.float64), norms[rows[part]]) - formula.absent
        weights[part] = np.repeat(idf[low:high], holders[low:high]) * gain
    frequent = np.flatnonzero(holders * FREQUENT >= docs) if docs >= FEW_ROWS else np.zeros(0, np.int64)
    columns = np.zeros((len(frequent), docs), np.float32)
    for column, term in zip(columns, frequent.tolist(), strict=True):
        part = slice(starts[term], starts[term + 1])
        column[rows[part]] = weights[part]
    return Postings(
        rows=rows,
        weights=weights,
        starts=starts,
        bounds=_bounds(weights, starts),
        frequent=frequent,
        columns=columns,
    )


def _bounds(weights: NDArray[np.float32], starts: Ints) -> Bounds:
    holders = np.diff(starts)
    bounds = np.full((len(holders), KTH + len(LEVELS)), -np.inf, np.float32)
    if len(weights):
        bounds[:, TOP] = np.maximum.reduceat(weights, starts[:-1])
        bounds[:, LOW] = np.minimum(0, np.minimum.reduceat(weights, starts[:-1]))
    for term in np.flatnonzero(holders >= _MANY).tolist():
        part = weights[starts[term] : starts[term + 1]]
        places = [len(part) - level for level in LEVELS]
        bounds[term, KTH:] = np.partition(part, places)[places]
    few = np.flatnonzero((holders >= LEVELS[0]) & (holders < _MANY))
    for low in range(0, len(few), _TERMS):
        terms = few[low : low + _TERMS]
        sizes = holders[terms]
        ends = np.cumsum(sizes)
        owners = np.repeat(np.arange(len(terms), dtype=np.uint64) << np.uint64(32), sizes)
        part = weights[np.arange(ends[-1]) - np.repeat(ends - sizes - starts[terms], sizes)]
        keys = np.sort(owners | ordered_bits(part))
        for column, level in enumerate(LEVELS, KTH):
            reaching = sizes >= level
            bounds[terms[reaching], column] = floats_of(keys[ends[reaching] - level].astype(np.uint32))
    return bounds


def ordered_bits(values: NDArray[np.float32]) -> NDArray[np.uint32]:
    """Numbers in the order of the values."""
    bits = (values + np.float32(0)).view(np.uint32)
    negative = bits >> np.uint32(31)
    if negative.any():
        return np.where(negative, ~bits, bits | _SIGN)
    bits |= _SIGN
    return bits


def floats_of(bits: NDArray[np.uint32]) -> NDArray[np.float32]:
    """The values that `ordered_bits` made numbers of."""
    return np.where(bits >> np.uint32(31), bits ^ _SIGN, ~bits).view(np.float32)
