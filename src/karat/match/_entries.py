"""Matching entry by entry: each gold entry by its own matcher, in an index or in any run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from karat.match._credit import Units, units_of
from karat.match._matcher import MATCHERS, Context, Keys, Matcher, Options, each

if TYPE_CHECKING:
    from karat.core.judged import Ints
    from karat.core.run import Run
    from karat.core.types import Gold, TestSet

_NONE = np.zeros(0, np.int64)


class Finder:
    """One matcher over the gold entries that go by it, under keys that no other matcher has."""

    def __init__(self, matcher: Matcher, context: Context) -> None:
        self.matcher = matcher
        self._rows: dict[int, tuple[Run, Mapping[str, Ints]]] = {}  # the run is held, so that its id stays its own
        self._keys: dict[int, tuple[Run, list[Keys]]] = {}
        self._of_gold: Callable[[Gold], Keys] = matcher.unit_of
        self._find = matcher.find(context) if matcher.find is not None else None
        if matcher.prepare is not None:
            self._of_gold, self._of_hits = matcher.prepare(context)
        self._wanted = {key for gold in context.golds for key in each(self.keys(gold))}

    @property
    def is_keyed(self) -> bool:
        """Whether hits have keys of this kind, gold or not."""
        return self._find is None

    def keys(self, gold: Gold) -> Keys:
        """The units of an entry."""
        return self._prefixed(self._of_gold(gold))

    def hit_keys(self, run: Run) -> list[Keys]:
        """All keys of every hit, where hits have keys of this kind."""
        if id(run) not in self._keys:
            self._keys[id(run)] = (run, [self._prefixed(keys) for keys in self._of_hits(run)])
        return self._keys[id(run)][1]

    def rows(self, gold: Gold, run: Run) -> dict[str, Ints]:
        """The numbers of the hits that hold each unit of an entry, ascending."""
        if self._find is not None:
            keys = each(self.keys(gold))
            return dict.fromkeys(keys, np.asarray(self._find(gold, run), np.int64)) if keys else {}
        rows = self._rows_by_key(run)
        return {key: rows.get(key, _NONE) for key in each(self.keys(gold))}

    def _rows_by_key(self, run: Run) -> Mapping[str, Ints]:
        if id(run) not in self._rows:
            rows: dict[str, list[int]] = {}
            for row, keys in enumerate(self.hit_keys(run)):
                for key in each(keys):
                    if key in self._wanted:
                        rows.setdefault(key, []).append(row)
            self._rows[id(run)] = (run, {key: np.array(held, np.int64) for key, held in rows.items()})
        return self._rows[id(run)][1]

    def _prefixed(self, keys: Keys) -> Keys:
        return tuple(f"{self.matcher.name}\x1d{key}" for key in each(keys)) or None


class Entries:
    """The gold of a test set, each entry by its own matcher.

    `runs` are what the matchers look at to bring names to one form; any run can be judged afterwards.
    """

    def __init__(
        self, testset: TestSet, kind_of: Mapping[Gold, str], runs: Sequence[Run], options: Options | None = None
    ) -> None:
        self.testset, self.kind_of, self.options = testset, kind_of, options or Options()
        by_kind: dict[str, list[Gold]] = {}
        for gold, kind in kind_of.items():
            by_kind.setdefault(kind, []).append(gold)
        self.finders = {
            kind: Finder(MATCHERS.get(kind), Context(golds, runs, self.options)) for kind, golds in by_kind.items()
        }
        self.units: Units = units_of(testset, self.gold_keys)
        self.kinds = [kind_of.get(gold, "exact") for gold in self.units.gold]  # of each unit

    def gold_keys(self, gold: Gold) -> Keys:
        """The units of an entry."""
        kind = self.kind_of.get(gold)
        return None if kind is None else self.finders[kind].keys(gold)

    @cached_property
    def keys_of_units(self) -> list[str]:
        """The key of each unit; one that begins with a NUL character is nothing that hits could hold."""
        names = list(self.units.codes)
        return [names[code] for code in self.units.code.tolist()]

    def of_question(self, question: int) -> range:
        """The numbers of the units of a question."""
        first, last = np.searchsorted(self.units.question, [question, question + 1])
        return range(int(first), int(last))

    def hit_keys(self, run: Run) -> list[Keys]:
        """Keys of each hit: those of its question's kind, or the units of its question that it holds.

        Where all gold of a question is of one keyed kind, everything of that kind that the hit holds: distinct units
        are then told apart whether they are gold or not. Elsewhere a hit that holds none of the gold is a unit of its
        own.
        """
        number = {qid: q for q, qid in enumerate(self.testset.ids)}
        keys: list[Keys] = [None] * len(run)
        for i, qid in enumerate(run.question_ids):
            first, last = int(run.offsets[i]), int(run.offsets[i + 1])
            if last > first:
                self._fill(keys, run, number.get(qid, -1), first, last)
        return keys

    def keyed_kind(self, question: int) -> str | None:
        """The one keyed kind by which all gold of a question goes; without gold, all gold of the test set."""
        units = self.of_question(question) if question >= 0 else range(0)
        kinds = {self.kinds[u] for u in units} or set(self.finders)
        kind = next(iter(kinds)) if len(kinds) == 1 else None
        return kind if kind in self.finders and self.finders[kind].is_keyed else None

    def _fill(self, keys: list[Keys], run: Run, question: int, first: int, last: int) -> None:
        kind = self.keyed_kind(question)
        if kind is not None:
            keys[first:last] = self.finders[kind].hit_keys(run)[first:last]
            return
        for u in self.of_question(question) if question >= 0 else ():
            key = self.keys_of_units[u]
            if key.startswith("\x00"):
                continue
            rows = self.finders[self.kinds[u]].rows(self.units.gold[u], run)[key]
            for row in rows[slice(*np.searchsorted(rows, [first, last]))].tolist():
                keys[row] = (*each(keys[row]), key)

    @cached_property
    def matcher(self) -> Matcher:
        """The matcher that goes entry by entry."""
        kinds = list(dict.fromkeys(self.kinds)) or ["exact"]
        return Matcher(
            ", ".join(kinds),
            unit=", ".join(dict.fromkeys(MATCHERS.get(kind).unit for kind in kinds)),
            summary="each gold entry by its own kind",
            strictness=0,
            prepare=lambda context: (self.gold_keys, self.hit_keys),
        )
