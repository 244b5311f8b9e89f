"""Legs: several rankings of the same queries, laid over each other so that one hit is one column."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from karat.core.errors import UsageError
from karat.core.ranked import Ranked, best_first

if TYPE_CHECKING:
    from karat.core.ranked import Floats, Ints

LARGEST = float(np.finfo(np.float32).max)


class Legs:
    """The rankings to be fused, and their hits in one table: a row a leg, a column for each hit that any leg found.

    Columns stand by query, then by row descending. Made once, it serves every fusion of the same legs: a sweep
    over alpha or k pays for the table a single time.
    """

    def __init__(self, legs: Sequence[Ranked]) -> None:
        self._legs = tuple(legs)
        if not self._legs:
            raise UsageError("there is nothing to fuse: no leg was given. Give at least one ranking.")
        sizes = [len(leg) for leg in self._legs]
        if len(set(sizes)) > 1:
            raise UsageError(
                f"the legs answer different numbers of queries ({', '.join(map(str, sizes))}). "
                "Search each leg with the same queries."
            )
        self.queries = sizes[0]
        width = 1 + max((int(leg.rows.max()) for leg in self._legs if len(leg.rows)), default=0)
        keys = np.concatenate([leg.query * width + (width - 1 - leg.rows) for leg in self._legs])
        distinct, places = np.unique(keys, return_inverse=True)
        self.query, back = np.divmod(distinct, width)  # of each column
        self.rows: Ints = width - 1 - back
        self._places = np.split(places, np.cumsum([len(leg.rows) for leg in self._legs])[:-1])  # of each leg's hits
        self._normalised: dict[str, Floats] = {}
        self._chosen: dict[tuple[int, ...], Legs] = {}

    def __getitem__(self, i: int) -> Ranked:
        return self._legs[i]

    def __len__(self) -> int:
        return len(self._legs)

    def only(self, chosen: Sequence[int]) -> Legs:
        """The legs of these numbers; hits that none of them found are gone."""
        key = tuple(chosen)
        if key == tuple(range(len(self))):
            return self
        if key not in self._chosen:
            self._chosen[key] = Legs([self._legs[i] for i in key])
        return self._chosen[key]

    @cached_property
    def rank(self) -> Ints:
        """Each leg's rank of each hit, from 1; 0 where the leg did not find it."""
        table = np.zeros((len(self), len(self.query)), np.int64)
        for line, leg, places in zip(table, self._legs, self._places, strict=True):
            line[places] = leg.rank
        return table

    @cached_property
    def found(self) -> Ints:
        """How many legs found each hit."""
        return np.asarray(np.sum(self.rank > 0, axis=0), np.int64)

    @cached_property
    def scores(self) -> Floats:
        """Each leg's score of each hit, as the engine gave it; nan where the leg did not find it."""
        return self.spread([leg.scores for leg in self._legs], np.nan)

    def spread(self, values: Sequence[Floats], absent: float | Sequence[Floats]) -> Floats:
        """Values of each leg's hits as a table; `absent`, one or by leg and query, for what a leg did not find."""
        table = np.empty((len(self), len(self.query)))
        for i, places in enumerate(self._places):
            table[i] = absent if isinstance(absent, float) else absent[i][self.query]
            table[i, places] = values[i]
        return table

    def normalised(self, how: str) -> Floats:
        """Each leg's scores made comparable, per list: `max`, `minmax`, `zscore` or `none`.

        Scores that a ranking counts as equal (they are compared as float32) stay equal. A list of equal scores
        becomes .5 under minmax and 0 under zscore. A hit that a leg did not find gets 0 under minmax and the least
        normalised score of that leg's list otherwise; 0 where the list is empty. Under max it gets 0 as well where
        another leg's list is longer: this leg has given all it had, and its list was not cut.
        """
        if how not in self._normalised:
            values, least = zip(*(_normalised(leg, how) for leg in self._legs), strict=True)
            if how == "max":
                sizes = [np.diff(leg.offsets) for leg in self._legs]
                longest = np.max(sizes, axis=0)
                least = tuple(np.where(size < longest, 0.0, one) for size, one in zip(sizes, least, strict=True))
            self._normalised[how] = self.spread(values, 0.0 if how == "minmax" else least)
        return self._normalised[how]

    def summed(self, contributions: Floats) -> Floats:
        """What the legs contribute to each hit together.

        The addends are taken in order of size: the order of the legs changes nothing, not even the last bit.
        """
        limit = LARGEST / len(self)
        with np.errstate(over="ignore"):
            addends = np.clip(contributions, -limit, limit)
            scores: Floats = addends[0] + addends[1] if len(addends) == 2 else np.sort(addends, axis=0).sum(axis=0)
        return scores

    def fused(self, contributions: Floats) -> tuple[Ranked, Ints]:
        """The hits by the sum of what each leg contributes, and the column each comes from."""
        scores = self.summed(contributions)
        order = best_first(self.query, scores)
        offsets = np.searchsorted(self.query, np.arange(self.queries + 1)).astype(np.int64)
        return Ranked(offsets, self.rows[order], scores[order]), order


def _normalised(leg: Ranked, how: str) -> tuple[Floats, Floats]:
    """The normalised scores of a leg's hits, and the least of each query (0 for an empty list)."""
    scores = np.clip(leg.scores, -LARGEST, LARGEST).astype(np.float32).astype(np.float64)
    sizes = np.diff(leg.offsets)
    filled = np.flatnonzero(sizes)
    least = np.zeros(len(leg))
    if not len(filled):
        return scores, least
    starts, sizes = leg.offsets[filled], sizes[filled]
    low, high = np.minimum.reduceat(scores, starts), np.maximum.reduceat(scores, starts)
    if how == "none":
        least[filled] = low
        return scores, least
    middle = np.minimum(low, 0.0) if how == "max" else low
    varied, width = high > middle, high - middle
    if how == "zscore":
        middle = np.clip(np.add.reduceat(scores, starts) / sizes, low, high)
        width = np.sqrt(np.add.reduceat((scores - np.repeat(middle, sizes)) ** 2, starts) / sizes)
    width = np.where(varied, width, 1.0)
    values = (scores - np.repeat(middle, sizes)) / np.repeat(width, sizes)
    values[np.repeat(~varied, sizes)] = 0.0 if how == "zscore" else 0.5
    least[filled] = np.where(varied, (low - middle) / width, 0.0)
    return values, least
