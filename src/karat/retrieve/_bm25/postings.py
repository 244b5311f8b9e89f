"""The index: for each term the rows that hold it and what it adds to their scores, worked out beforehand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from karat.retrieve._bm25.lexicon import Lexicon, bytes_of
from karat.retrieve._bm25.variants import Formula
from karat.retrieve._terms import Terms

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Bounds = NDArray[np.float32]

LEVELS = (10, 100, 1000)
"""Ranks at which the bounds of a term hold its weight."""
TOP, LOW, KTH = 0, 1, 2
"""Columns of the bounds: the highest weight, the lowest or 0, and from here on those of `LEVELS`."""
_TOGETHER = 20_000
# A term in one of so many rows is frequent and gets a column of its own, if there are enough rows to gain by it.
FREQUENT = 4
FEW_ROWS = 4096


@dataclass(frozen=True)
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

    @property
    def terms(self) -> int:
        """How many terms there are."""
        return len(self.starts) - 1

    def weight(self, term: int, row: int) -> float | None:
        """What a term adds to the score of a row; None where the row does not hold it."""
        start, end = int(self.starts[term]), int(self.starts[term + 1])
        place = start + int(np.searchsorted(self.rows[start:end], row))
        return float(self.weights[place]) if place < end and self.rows[place] == row else None


def index(
    texts: Sequence[str], terms: Terms, formula: Formula, progress: Callable[[str, int, int], None]
) -> tuple[Lexicon, Postings]:
    """The terms of the texts and where they stand."""
    vocabulary = terms.vocabulary()
    codes, sizes = [], []
    for start in range(0, len(texts), _TOGETHER):
        progress("finding terms", start, len(texts))
        coded = terms.encode(texts[start : start + _TOGETHER], vocabulary)
        codes.append(coded.codes.astype(np.int32))
        sizes.append(coded.sizes)
    progress("finding terms", len(texts), len(texts))
    words = [bytes_of(term) for term in terms.of_words(vocabulary.words())]
    distinct = sorted(set(words) - {b""})
    number_of = {term: number for number, term in enumerate(distinct)}
    numbers = np.fromiter((number_of.get(word, -1) for word in words), np.int64, len(words))
    tokens = numbers[np.concatenate(codes)]
    owners = np.repeat(np.arange(len(texts)), np.concatenate(sizes))
    progress("weighing terms", 0, len(distinct))
    postings = _weighed(tokens[tokens >= 0], owners[tokens >= 0], len(texts), len(distinct), formula)
    progress("weighing terms", len(distinct), len(distinct))
    return Lexicon.of(distinct), postings


def _weighed(terms: Ints, owners: Ints, docs: int, size: int, formula: Formula) -> Postings:
    """From the term and the row of every token."""
    lengths = np.bincount(owners, minlength=docs)
    keys = terms << 32
    keys |= owners
    keys.sort()
    first = np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1]))) if len(keys) else np.zeros(0, np.int64)
    counts = np.diff(first, append=len(keys))
    keys = keys[first]
    rows = (keys & 0xFFFFFFFF).astype(np.int32)
    of_term = keys >> 32
    holders = np.bincount(of_term, minlength=size)
    starts = np.concatenate(([0], np.cumsum(holders))).astype(np.int64)
    relative = lengths / max(lengths.mean(), np.finfo(float).tiny)
    gain = formula.gain(counts.astype(np.float64), relative[rows]) - formula.absent
    weights = (formula.idf(holders, docs)[of_term] * gain).astype(np.float32)
    frequent = np.flatnonzero(holders * FREQUENT >= docs) if docs >= FEW_ROWS else np.zeros(0, np.int64)
    columns = np.zeros((len(frequent), docs), np.float32)
    for column, term in zip(columns, frequent.tolist(), strict=True):
        part = slice(starts[term], starts[term + 1])
        column[rows[part]] = weights[part]
    return Postings(rows, weights, starts, _bounds(weights, starts), frequent, columns)


def _bounds(weights: NDArray[np.float32], starts: Ints) -> Bounds:
    holders = np.diff(starts)
    bounds = np.full((len(holders), KTH + len(LEVELS)), -np.inf, np.float32)
    if len(weights):
        bounds[:, TOP] = np.maximum.reduceat(weights, starts[:-1])
        bounds[:, LOW] = np.minimum(0, np.minimum.reduceat(weights, starts[:-1]))
    for term in np.flatnonzero(holders >= LEVELS[0]).tolist():
        part = weights[starts[term] : starts[term + 1]]
        places = [len(part) - level for level in LEVELS if level <= len(part)]
        bounds[term, KTH : KTH + len(places)] = np.partition(part, places)[places]
    return bounds
