"""The join of gold and hits: each gold entry by its own matcher, in an index as in any run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, count
from typing import TYPE_CHECKING, Any

import numpy as np

from karat.core.judged import Ints
from karat.core.run import Run
from karat.core.types import Gold, TestSet
from karat.match._matcher import MATCHERS, Keys, Matcher, MatchInputs, MatchOptions, Rule, as_tuple

if TYPE_CHECKING:
    from karat.match._resolve import ChunkTable

Key = tuple[str, Any]  # the name of a matcher, and a key of its kind


@dataclass(frozen=True)
class Units:
    """The gold of a test set as units: ordered by question, each once, with the highest grade it was given."""

    question: Ints
    grade: Ints
    gold: list[Gold]  # the first entry that names the unit
    key: list[Key | None]  # None where an entry has no unit of its kind: nothing can hold it

    def of_question(self, question: int) -> range:
        """The numbers of the units of a question."""
        first, last = np.searchsorted(self.question, [question, question + 1])
        return range(int(first), int(last))


class _KeysOfKind(dict[Keys, tuple[Key, ...]]):
    """Keys under the name of their matcher: those of two kinds are never equal. Made once for hits that are alike."""

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def __missing__(self, keys: Keys) -> tuple[Key, ...]:
        self[keys] = named = tuple([(self.kind, key) for key in as_tuple(keys)])
        return named


class Join:
    """Brings the gold of a test set and hits together.

    `by` is the matcher of all entries, as `--match` names it, or that of each. `runs` are what matchers look at to
    bring names to one form; any run can be joined afterwards. With an `index`, a hit that is a chunk of it is known by
    all that the index says of it, any other by what it says itself.
    """

    def __init__(
        self,
        testset: TestSet,
        runs: Sequence[Run],
        by: str | Mapping[Gold, str] = "exact",
        options: MatchOptions | None = None,
        index: ChunkTable | None = None,
    ) -> None:
        self.testset, self.runs, self.by, self.index = testset, runs, by, index
        self.options = options or MatchOptions()
        if isinstance(by, str):
            name, _, pattern = by.partition(":")
            self.options = replace(self.options, pattern=pattern or self.options.pattern)
        names = [name] if isinstance(by, str) else dict.fromkeys(by.values())
        self.matchers: dict[str, Matcher] = {name: MATCHERS.get(name) for name in names}
        self._only = next(iter(self.matchers), None)
        self._named = {name: _KeysOfKind(name) for name in names}

    @property
    def golds(self) -> list[Gold]:
        """All entries of the test set, question by question."""
        return [gold for question in self.testset.questions for gold in question.gold]

    def kind(self, gold: Gold) -> str | None:
        """The name of the matcher that an entry goes by; None for one that is not in the test set."""
        return self._only if isinstance(self.by, str) else self.by.get(gold)

    def of_kind(self, kind: str) -> list[Gold]:
        """The entries that go by a matcher, each once."""
        return [gold for gold in self.testset.golds if self.kind(gold) == kind] if kind in self.matchers else []

    @property
    def is_plain(self) -> bool:
        """Whether all gold are ids that are compared as they are."""
        return all(matcher.plain for matcher in self.matchers.values())

    @cached_property
    def used(self) -> list[str]:
        """The names of the matchers, in order of the units."""
        if isinstance(self.by, str):
            return [self.by]
        return list(dict.fromkeys(self.kinds)) or ["exact"]

    @property
    def name(self) -> str:
        return ", ".join(self.used)

    @property
    def unit(self) -> str:
        """What is counted."""
        matchers = [MATCHERS.get(name.partition(":")[0]) for name in self.used]
        return ", ".join(dict.fromkeys(matcher.unit for matcher in matchers))

    @cached_property
    def ambiguity(self) -> str | None:
        """Why some entries may mean several units, and what to add."""
        if self.is_plain:
            return None
        for kind, matcher in self.matchers.items():
            golds = [gold for gold in self.golds if self.kind(gold) == kind]
            if (why := matcher.ambiguity(MatchInputs(golds, self.runs, self.options))) is not None:
                return why
        return None

    @cached_property
    def _rules(self) -> dict[str, Rule]:
        return {
            kind: matcher.rule(MatchInputs(self.of_kind(kind), self.runs, self.options))
            for kind, matcher in self.matchers.items()
        }

    def gold_keys(self, gold: Gold) -> tuple[Key, ...]:
        """The units of an entry."""
        kind = self.kind(gold)
        return () if kind is None else self._named[kind][self._rules[kind][0](gold)]

    def units_of(self, testset: TestSet) -> Units:
        """The gold of a test set as units: equal keys of a question are one; an entry without a key is one."""
        golds = [gold for question in testset.questions for gold in question.gold]
        objects = {id(gold): gold for gold in golds}  # several questions may share one
        keys_of = {number: self.gold_keys(gold) or (None,) for number, gold in objects.items()}
        held = [keys_of[id(gold)] for gold in golds]
        keys = list(chain.from_iterable(held))
        entry = np.repeat(np.arange(len(golds)), np.fromiter(map(len, held), np.int64, len(held)))
        sizes = np.array([len(question.gold) for question in testset.questions], np.int64)
        question = np.repeat(np.arange(len(sizes)), sizes)[entry]
        grade = np.fromiter((gold.grade for gold in golds), np.int64, len(golds))[entry]
        numbers: defaultdict[Key | None, int] = defaultdict(count().__next__)
        number = np.fromiter(map(numbers.__getitem__, keys), np.int64, len(keys))
        is_own = number == numbers.get(None, -1)
        number[is_own] = len(numbers) + np.flatnonzero(is_own)
        named = question * (number.max(initial=0) + 1) + number
        _, first, unit = np.unique(named, return_index=True, return_inverse=True)
        highest = grade[first]
        np.maximum.at(highest, unit, grade)
        order = np.argsort(first)
        places = first[order]
        gold = [golds[at] for at in entry[places].tolist()]
        return Units(question[places], highest[order], gold, [keys[at] for at in places.tolist()])

    @cached_property
    def units(self) -> Units:
        """The units of its own test set."""
        return self.units_of(self.testset)

    @cached_property
    def kinds(self) -> list[str]:
        """Of each unit, the matcher that it goes by."""
        return [self.kind(gold) or "exact" for gold in self.units.gold]

    @cached_property
    def row_keys(self) -> dict[str, list[tuple[Key, ...]]]:
        """All keys of every chunk of the index, by kind."""
        assert self.index is not None
        return {kind: self._own_keys(kind, self.index.run) for kind in self.matchers}

    def _own_keys(self, kind: str, run: Run) -> list[tuple[Key, ...]]:
        return list(map(self._named[kind].__getitem__, self._rules[kind][1](run)))

    def _keys(self, kind: str, run: Run) -> list[tuple[Key, ...]]:
        """All keys of every hit, of a kind."""
        if self.index is None:
            return self._own_keys(kind, run)
        rows, of_rows = self.index.rows_of(run), self.row_keys[kind]
        own = self._own_keys(kind, run) if rows.min(initial=0) < 0 else [()] * len(run)
        return [of_rows[row] if row >= 0 else keys for row, keys in zip(rows.tolist(), own, strict=True)]

    def hit_keys(self, run: Run) -> list[tuple[Key, ...]]:
        """Keys of each hit: those of its question's kind, or the units of its question that it holds.

        Where all gold of a question is of one keyed kind, everything of that kind that the hit holds: distinct units
        are then told apart whether they are gold or not. Elsewhere a hit that holds none of the gold is a unit of its
        own.
        """
        by_kind = {kind: self._keys(kind, run) for kind in self.matchers}
        if len(by_kind) == 1 and self._keyed_kind(-1) is not None:
            return next(iter(by_kind.values()))
        number = {qid: q for q, qid in enumerate(self.testset.ids)}
        keys: list[tuple[Key, ...]] = [()] * len(run)
        for i, qid in enumerate(run.question_ids):
            question, first, last = number.get(qid, -1), int(run.offsets[i]), int(run.offsets[i + 1])
            kind = self._keyed_kind(question)
            if kind is not None:
                keys[first:last] = by_kind[kind][first:last]
            elif question >= 0:
                units = [key for u in self.units.of_question(question) if (key := self.units.key[u]) is not None]
                for hit in range(first, last):
                    holds = {key for keys_ in by_kind.values() for key in keys_[hit]}
                    keys[hit] = tuple(key for key in units if key in holds)
        return keys

    def _keyed_kind(self, question: int) -> str | None:
        """The one keyed kind by which all gold of a question goes; without gold, all gold of the test set."""
        units = self.units.of_question(question) if question >= 0 else ()
        kinds = {self.kinds[u] for u in units} or set(self.matchers)
        kind = next(iter(kinds)) if len(kinds) == 1 else None
        return kind if kind in self.matchers and self.matchers[kind].is_keyed else None
