"""Candidates: what all legs of a system found for every question; systems of the same legs and depth rank the same.

A ranking is a score for each candidate. Where only a few candidates matter, the rank of each is found by
counting what stands above it, by the rule of `Ranked`; nothing is sorted.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from karat.core.ranked import Ranked, best_first
from karat.fuse import FUSIONS, Legs
from karat.stats.arrays import Bools
from karat.systems.settings import HYBRID, SystemSettings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from karat.core.ranked import Floats, Ints

_FEW = 24  # candidates of a question up to which counting beats sorting


@dataclass(frozen=True)
class Candidates:
    """Legs laid over each other: candidates stand by question, then by row descending."""

    legs: Legs

    @cached_property
    def offsets(self) -> Ints:
        """Where the candidates of each question begin; the last is how many there are."""
        return np.searchsorted(self.legs.query, np.arange(self.legs.queries + 1)).astype(np.int64)

    @property
    def query(self) -> Ints:
        """The question of each candidate."""
        return self.legs.query

    @property
    def rows(self) -> Ints:
        """The chunk of each candidate."""
        return self.legs.rows

    def find(self, question: Ints, rows: Ints) -> Ints:
        """The candidates that these chunks are for these questions; -1 where one is none."""
        width = 1 + max(int(self.rows.max(initial=0)), int(rows.max(initial=0)))
        keys, wanted = self.query * width + (width - 1 - self.rows), question * width + (width - 1 - rows)
        if not len(keys):
            return np.full(len(wanted), -1, np.int64)
        at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        return np.where(keys[at] == wanted, at, -1)

    def scores(self, system: SystemSettings) -> Floats:
        """The fused score of each candidate, as the fusion gives it."""
        if system.engine != HYBRID:
            scores: Floats = self.legs.scores[0]
            return scores
        settings = dict(system.fusion_settings)
        if settings.get("weights") is not None:
            settings["weights"] = np.asarray(settings["weights"], np.float64)
        return self.legs.summed(FUSIONS.get(system.fusion).contribute(self.legs, **settings).contribution)

    def ranked(self, system: SystemSettings) -> Ranked:
        """The whole list of every question."""
        scores = self.scores(system)
        order = best_first(self.query, scores)
        return Ranked(self.offsets, self.rows[order], scores[order])

    def ranks(self, systems: Sequence[SystemSettings], candidates: Ints, orders: list[Ints] | None = None) -> Ints:
        """The rank of some candidates (ascending) under each system; all in order are added to `orders` if given."""
        found = np.zeros((len(systems), len(candidates)), np.int64)
        counting = _RankCounter(self, candidates)
        for line, system in zip(found, systems, strict=True):
            scores = self.scores(system)
            if orders is None and counting.most <= _FEW:
                line[:] = counting.ranks(scores)
                continue
            order = best_first(self.query, scores)
            place = np.empty(len(order), np.int64)
            place[order] = np.arange(len(order))
            line[:] = place[candidates] - self.offsets[self.query[candidates]] + 1
            if orders is not None:
                orders.append(order)
        return found


class _RankCounter:
    """Ranks of the same candidates under one score after the other: laid out once."""

    def __init__(self, pooled: Candidates, candidates: Ints) -> None:
        self._candidates = candidates
        held = np.bincount(pooled.query[candidates], minlength=pooled.legs.queries)
        self.most = int(held.max(initial=0))
        if not self.most or self.most > _FEW:
            return
        questions = np.argsort(-held, kind="stable")  # those with most candidates of interest first
        questions = questions[: int(np.count_nonzero(held))]
        starts, sizes = pooled.offsets[questions], np.diff(pooled.offsets)[questions]
        place = np.arange(int(sizes.max()))
        # beyond the list of a question stands the one number that is neither above nor equal to any
        self._table = np.where(place < sizes[:, None], starts[:, None] + place, len(pooled.query))
        first = np.cumsum(held) - held
        self._rounds: list[tuple[Ints, Ints, Bools]] = []
        for j in range(self.most):
            those = questions[held[questions] > j]
            numbers = first[those] + j
            at = candidates[numbers] - pooled.offsets[those]
            self._rounds.append((numbers, candidates[numbers], place < at[:, None]))

    def ranks(self, scores: Floats) -> Ints:
        found = np.zeros(len(self._candidates), np.int64)
        if not self.most:
            return found
        compared = np.append(scores, np.nan).astype(np.float32)
        table = compared[self._table]
        for numbers, those, before in self._rounds:
            part, score = table[: len(numbers)], compared[those][:, None]
            above = part == score
            above &= before
            above |= part > score
            found[numbers] = np.count_nonzero(above, axis=1) + 1
        return found
