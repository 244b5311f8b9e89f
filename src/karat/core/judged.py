"""Judged: the meeting of runs and gold, holding only the hits whose units are judged."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from karat.core.errors import UsageError

if TYPE_CHECKING:
    from karat.core.steps import JudgedSteps

Ints = np.ndarray[tuple[Any, ...], np.dtype[np.int64]]
Floats = np.ndarray[tuple[Any, ...], np.dtype[np.float64]]
Bools = np.ndarray[tuple[Any, ...], np.dtype[np.bool_]]
Cut = int | Ints | None
Repeats = Literal["once", "collapse", "count"]
_WIDE = 1 << 32  # more than any rank


@dataclass(frozen=True)
class Slots:
    """Crediting slots of a view: one entry per (pair, rank), ordered by pair, then rank."""

    pair: Ints
    rank: Ints
    gain: Ints  # highest grade the slot credits
    units: Ints  # relevant units it credits for the first time


@dataclass(frozen=True, kw_only=True)
class Judged:
    """Where the judged units of each question stand in each system's list.

    A pair is system * len(questions) + question. One entry of `pair`, `rank`, `unit`, `new` is a judged unit in
    a slot; entries are ordered by pair, then rank. `new` is False where an earlier slot held the same unit.
    `gold_question` and `gold_grade` list the judged units of each question, ordered by question; `unit` points
    into them. `slots` counts the hits of each pair, `distinct` their distinct units; `stale` lists, as pair and rank,
    the slots that hold nothing but what an earlier slot of the pair held.
    """

    systems: tuple[str, ...]
    questions: tuple[str, ...]
    pair: Ints
    rank: Ints
    unit: Ints
    new: Bools
    gold_question: Ints
    gold_grade: Ints
    slots: Ints
    distinct: Ints
    stale: tuple[Ints, Ints]
    repeats: Repeats = "once"
    rel: int = 1
    tokens: tuple[Ints, Ints] | None = None  # offsets per pair, tokens of each slot in rank order
    tokens_missing: str | None = None  # why `tokens` is None
    collection: int | None = None  # documents searched, when known
    steps: JudgedSteps | None = None  # of the same pairs, where results have steps
    views: dict[tuple[int, bool], Judged] = field(default_factory=dict, repr=False, compare=False)

    @property
    def pairs(self) -> int:
        return len(self.systems) * len(self.questions)

    def at(self, *, rel: int | None = None, condensed: bool = False) -> Judged:
        """The same hits under another relevance threshold, or with unjudged hits removed."""
        wanted = (self.rel if rel is None else rel, condensed)
        if wanted == (self.rel, False):
            return self
        if wanted not in self.views:
            view = self._condensed() if condensed else self
            self.views[wanted] = replace(view, rel=wanted[0], views={})
        return self.views[wanted]

    def _condensed(self) -> Judged:
        fresh = self.slot_starts
        ordinal = np.cumsum(fresh)
        first_of_pair = _starts(self.pair)
        before = np.maximum.accumulate(np.where(first_of_pair, ordinal - 1, 0))
        rank: Ints = ordinal - before
        slot, stale = self.pair[fresh] * _WIDE + self.rank[fresh], self.stale[0] * _WIDE + self.stale[1]
        judged = np.isin(slot, stale)
        return replace(
            self,
            rank=rank,
            slots=np.bincount(self.pair[fresh], minlength=self.pairs),
            distinct=np.bincount(self.pair[self.new], minlength=self.pairs),
            stale=(self.pair[fresh][judged], rank[fresh][judged]),
            tokens=None,
            tokens_missing="unjudged hits are removed, so a token budget has no meaning",
            steps=None if self.steps is None else replace(self.steps, counts_tokens=False),
        )

    def perfect(self, depth: int = 0, findable: Bools | None = None) -> Judged:
        """The best list any system could give: every relevant unit in a slot of its own, best first, and nothing else.

        Where repeats are counted, the slots left down to `depth` are filled with repeats of the best unit. Units that
        are not `findable`, where some are not, stand nowhere.
        """
        best = np.lexsort((-self.gold_grade, self.gold_question))
        best = best[self.gold_grade[best] >= self.rel]
        if findable is not None:
            best = best[findable[best]]
        question = self.gold_question[best]
        held = np.bincount(question, minlength=len(self.questions))
        unit, rank, new = best, _places(question), np.ones(len(best), bool)
        if self.repeats == "count":
            first = _starts(question)
            more = np.maximum(depth - held[question[first]], 0)
            after = np.arange(int(more.sum())) - np.repeat(np.cumsum(more) - more, more)
            rank = np.concatenate((rank, np.repeat(held[question[first]], more) + after + 1))
            unit = np.concatenate((unit, np.repeat(unit[first], more)))
            new = np.concatenate((new, np.zeros(len(after), bool)))
            question = np.concatenate((question, np.repeat(question[first], more)))
            order = np.lexsort((rank, question))
            question, unit, rank, new = question[order], unit[order], rank[order], new[order]
        slots = np.bincount(question, minlength=len(self.questions))
        return Judged(
            systems=("perfect",),
            questions=self.questions,
            pair=question,
            rank=rank,
            unit=unit,
            new=new,
            gold_question=self.gold_question,
            gold_grade=self.gold_grade,
            slots=slots,
            distinct=held,
            stale=(question[~new], rank[~new]),
            repeats=self.repeats,
            rel=self.rel,
            collection=self.collection,
        )

    def alike(self, findable: Bools | None = None) -> tuple[Judged, Bools | None, Ints]:
        """A question for each gold that occurs, and which of them each question is like, by grades and `findable`.

        Gold that is alike has the same perfect list. The hits are left out.
        """
        grades, code = np.unique(self.gold_grade, return_inverse=True)
        code = code if findable is None else 2 * code + findable
        width = 2 * max(1, len(grades))
        counts = np.bincount(self.gold_question * width + code, minlength=len(self.questions) * width)
        _, first, like = np.unique(counts.reshape(-1, width), axis=0, return_index=True, return_inverse=True)
        number = np.full(len(self.questions), -1)
        number[first] = np.arange(len(first))
        represented = number[self.gold_question] >= 0
        order = np.argsort(number[self.gold_question[represented]], kind="stable")
        few = replace(
            self,
            questions=tuple(self.questions[i] for i in first.tolist()),
            gold_question=number[self.gold_question[represented]][order],
            gold_grade=self.gold_grade[represented][order],
            views={},
        )
        return few, None if findable is None else findable[represented][order], like.ravel()

    def within_tokens(self, budget: int) -> Ints:
        """How many leading slots of each pair fit whole into a budget of tokens."""
        if self.tokens is None:
            raise UsageError(
                f"a cut of {budget} tokens needs the size of each hit, but {self.tokens_missing or 'it is not known'}. "
                'Give hits a "text" or "tokens", or cut by rank instead.'
            )
        offsets, sizes = self.tokens
        total = np.concatenate(([0], np.cumsum(sizes)))
        # the furthest slot whose running total stays within what stood before the pair plus the budget
        reach = np.searchsorted(total, total[offsets[:-1]] + budget, side="right") - 1
        return np.minimum(reach, offsets[1:]) - offsets[:-1]

    @cached_property
    def slot_starts(self) -> Bools:
        """True at the first entry of each judged slot."""
        return _starts(self.pair, self.rank)

    @cached_property
    def grade(self) -> Ints:
        """Grade of each entry's unit."""
        return self.gold_grade[self.unit]

    @cached_property
    def relevant(self) -> Ints:
        """R: relevant units of each pair's question."""
        return self._tile(self.gold_question[self.gold_grade >= self.rel])

    @cached_property
    def judged_not_relevant(self) -> Ints:
        """Units judged and not relevant, of each pair's question; a negative grade counts as not judged."""
        return self._tile(self.gold_question[(self.gold_grade >= 0) & (self.gold_grade < self.rel)])

    def _tile(self, question: Ints) -> Ints:
        return np.tile(np.bincount(question, minlength=len(self.questions)), len(self.systems))

    def per_pair(self, pair: Ints, weights: Floats | Ints | None = None) -> Floats:
        """Sum of the weights (or count of entries) of each pair."""
        return np.bincount(pair, weights, minlength=self.pairs).astype(np.float64, copy=False)

    @cached_property
    def credited(self) -> Bools:
        """Entries that credit a relevant unit under this view's way with repeats."""
        relevant = self.grade >= self.rel
        return relevant if self.repeats == "count" else relevant & self.new

    @cached_property
    def hits(self) -> Slots:
        """The relevant slots."""
        keep = self.credited
        pair, rank, grade, new = self.pair[keep], self.rank[keep], self.grade[keep], self.new[keep]
        starts = np.flatnonzero(_starts(pair, rank))
        if len(starts) == len(pair):
            return Slots(pair, rank, grade, new.astype(np.int64))
        gain = np.maximum.reduceat(grade, starts)
        units = np.add.reduceat(new.astype(np.int64), starts)
        return Slots(pair[starts], rank[starts], gain, units)

    def fresh_within(self, k: Cut = None) -> Floats:
        """Slots of the top k that hold something new, relevant or not."""
        slots = self.slots if k is None else np.minimum(self.slots, k)
        pair, rank = self.stale
        return slots - self.per_pair(pair[self.within(pair, rank, k)])

    @cached_property
    def one_unit_a_slot(self) -> bool:
        """True when no slot credits two units: every formula is then the textbook's."""
        return len(self.hits.pair) == int(self.credited.sum())

    def within(self, pair: Ints, rank: Ints, k: int | Ints | None) -> Bools:
        """Which entries stand in the top k; k may differ from pair to pair."""
        if k is None:
            return np.ones(len(rank), bool)
        return rank <= (k if isinstance(k, int) else k[pair])

    def hits_within(self, k: int | Ints | None = None) -> Floats:
        """Relevant slots in the top k."""
        hits = self.hits
        if isinstance(k, np.ndarray):
            return self.per_pair(hits.pair[self.within(hits.pair, hits.rank, k)])
        if k not in self._hits_at:
            counts = self.per_pair(hits.pair[self.within(hits.pair, hits.rank, k)])
            counts.setflags(write=False)
            self._hits_at[k] = counts
        return self._hits_at[k]

    @cached_property
    def _hits_at(self) -> dict[int | None, Floats]:
        """Counts that several measures of one cut share."""
        return {}

    def found_within(self, k: int | Ints | None = None) -> Floats:
        """Relevant units credited in the top k, each once."""
        hits = self.hits
        if self.repeats != "count" and self.one_unit_a_slot:
            return self.hits_within(k)
        top = self.within(hits.pair, hits.rank, k)
        return self.per_pair(hits.pair[top], hits.units[top])

    @cached_property
    def hit_number(self) -> Ints:
        """For each relevant slot, how many relevant slots of its pair stand at or above it."""
        return _places(self.hits.pair)

    @cached_property
    def found_number(self) -> Ints:
        """For each relevant slot, how many relevant units of its pair are credited at or above it."""
        total = np.cumsum(self.hits.units)
        before = np.where(self.hit_number == 1, total - self.hits.units, 0)
        return total - np.maximum.accumulate(before)

    def above(self, chosen: Bools) -> Ints:
        """For each relevant slot, how many of these entries of its pair stand above it."""
        hits = self.hits
        order = self.pair * _WIDE + self.rank
        seen = np.cumsum(np.concatenate(([0], chosen)))
        reached = np.searchsorted(order, hits.pair * _WIDE + hits.rank)
        counts: Ints = seen[reached] - seen[np.searchsorted(order, hits.pair * _WIDE)]
        return counts

    @cached_property
    def hit_discount(self) -> Floats:
        """What a gain at each relevant slot's rank is worth."""
        return discount(self.hits.rank)

    @cached_property
    def ideal_discount(self) -> Floats:
        """The same for each place of `ideal_by_question`."""
        return discount(self.ideal_by_question[2])

    @cached_property
    def ideal_by_question(self) -> tuple[Ints, Ints, Ints]:
        """Question, gain and place of the relevant gold in ideal order, where each unit fills a slot of its own."""
        keep = self.gold_grade >= self.rel
        return _best_first(self.gold_question[keep], self.gold_grade[keep])

    @cached_property
    def once(self) -> Judged:
        """The same with repeats credited once."""
        return self if self.repeats != "count" else replace(self, repeats="once", views={})

    def ideal_by_pair(self, k: Cut = None) -> tuple[Ints, Ints, Ints]:
        """Pair, gain and place in ideal order: one entry per slot of the top k that newly credits, one per other unit.

        Repeats never enter the ideal, whatever way they are counted.
        """
        once = self.once
        keep = np.flatnonzero(self.gold_grade >= self.rel)
        systems = np.arange(len(self.systems))[:, None]
        pair = (systems * len(self.questions) + self.gold_question[keep]).ravel()
        gain = np.tile(self.gold_grade[keep], len(self.systems))
        if not once.one_unit_a_slot:
            hits, entries = once.hits, once.credited & self.within(self.pair, self.rank, k)
            top = self.within(hits.pair, hits.rank, k)
            credited = np.zeros((len(self.systems), len(self.gold_grade)), bool)
            credited[self.pair[entries] // len(self.questions), self.unit[entries]] = True
            never = ~credited[:, keep].ravel()
            pair = np.concatenate((pair[never], hits.pair[top]))
            gain = np.concatenate((gain[never], hits.gain[top]))
        return _best_first(pair, gain)

    @cached_property
    def retrieved_by_pair(self) -> tuple[Ints, Ints, Ints]:
        """Pair, gain and place of the retrieved relevant slots in their own best order."""
        return _best_first(self.hits.pair, self.hits.gain)


def discount(rank: Ints) -> Floats:
    """1 / log2(rank + 1): how much attention a rank gets."""
    discounts: Floats = 1 / np.log2(rank + 1)
    return discounts


def _best_first(group: Ints, gain: Ints) -> tuple[Ints, Ints, Ints]:
    """Group, gain and place (from 1) with the gains of each group sorted from high to low."""
    order = np.lexsort((-gain, group))
    return group[order], gain[order], _places(group[order])


def _places(group: Ints) -> Ints:
    """Place from 1 of each entry within its group; equal groups stand together."""
    position = np.arange(len(group))
    return position - np.maximum.accumulate(np.where(_starts(group), position, 0)) + 1


def _starts(*keys: Ints) -> Bools:
    """True where a run of equal keys begins."""
    fresh = np.ones(len(keys[0]), bool)
    if len(fresh):
        fresh[1:] = False
        for key in keys:
            fresh[1:] |= key[1:] != key[:-1]
    return fresh
