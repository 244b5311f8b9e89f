"""Resolution: which chunks hold which gold unit, and the matcher that scores runs over them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np

from karat.match._matcher import Context, Keys, Matcher

if TYPE_CHECKING:
    from karat.core.docs import Chunks
    from karat.core.judged import Bools, Ints
    from karat.core.run import Run
    from karat.core.types import Gold, TestSet
    from karat.match._credit import Units

Pages = Literal["physical", "printed"]
Reason = Literal[
    "unknown file", "unknown address", "unknown id", "beyond the end", "page without text", "quote not found",
    "quote elsewhere", "span outside", "ambiguous", "names no unit",
]  # fmt: skip


@dataclass(frozen=True)
class Unresolved:
    """A gold entry that no chunk holds, and why."""

    question: str
    gold: Gold
    kind: str  # name of the matcher it was looked for by
    reason: Reason
    why: str


@dataclass(frozen=True)
class Place:
    """Characters `start` to `end` of a document's text; the pages they stand on, by number and as printed."""

    doc: str
    start: int
    end: int
    pages: tuple[int, ...] = ()
    labels: tuple[str, ...] = ()


@dataclass(frozen=True)
class Resolution:
    """Gold units beside the rows of the chunks that hold them.

    `units` are those of the test set, ordered by question; `holders[u]` are the ascending rows that hold unit u and
    `kinds[u]` names the matcher it was looked for by. `places` says where the quote of a gold entry (question
    number, entry number) stands in the document it names, on whatever page. `whole[u]` is False where a quote is
    found and no chunk holds all of it.
    """

    testset: TestSet
    chunks: Chunks
    units: Units
    holders: list[Ints]
    kinds: list[str]
    whole: list[bool]
    places: Mapping[tuple[int, int], Sequence[Place]]
    unresolved: tuple[Unresolved, ...]
    notes: tuple[str, ...]
    gold_keys: Callable[[Gold], Keys] = field(repr=False)
    row_keys: Mapping[str, Sequence[Keys]] = field(repr=False)  # of each keyed kind: all keys of every row
    nearest: Callable[[Gold], str | None] = field(repr=False)
    """The stretch of text most like the quote of an entry, in the document it names, else anywhere."""

    @cached_property
    def relevant(self) -> Bools:
        """Which units are relevant."""
        return self.units.grade >= 1

    @cached_property
    def reached(self) -> Bools:
        """Which units some chunk holds."""
        return np.array([len(rows) > 0 for rows in self.holders], bool)

    @property
    def share(self) -> float | None:
        """Share of the relevant units that some chunk holds; None where there is no relevant gold."""
        total = int(self.relevant.sum())
        return float((self.reached & self.relevant).sum()) / total if total else None

    def of_question(self, question: int) -> range:
        """The numbers of the units of a question."""
        first, last = np.searchsorted(self.units.question, [question, question + 1])
        return range(int(first), int(last))

    def gold_rows(self, question: int) -> Ints:
        """Rows that hold a relevant unit of a question, ascending."""
        rows = [self.holders[u] for u in self.of_question(question) if self.relevant[u]]
        return rows[0] if len(rows) == 1 else np.unique(np.concatenate([*rows, np.zeros(0, np.int64)]))

    @cached_property
    def rows_on_page(self) -> Mapping[tuple[str, str], Ints]:
        """Rows by file and page, as pages are compared: of gold resolved by page. See `page_of_unit`."""
        found: dict[tuple[str, str], list[int]] = {}
        for row, keys in enumerate(self.row_keys.get("page", ())):
            for key in (keys,) if isinstance(keys, str) else keys or ():
                found.setdefault(_file_and_page(key), []).append(row)
        return {place: np.array(rows, np.int64) for place, rows in found.items()}

    def page_of_unit(self, unit: int) -> tuple[str, str] | None:
        """File and page of a unit that was looked for by page."""
        key = self._names[int(self.units.code[unit])]
        return _file_and_page(key) if self.kinds[unit] == "page" and not key.startswith("\x00") else None

    @cached_property
    def keys_of_units(self) -> list[str]:
        """The key of each unit; one that begins with a NUL character is nothing that chunks could hold."""
        return [self._names[code] for code in self.units.code.tolist()]

    @cached_property
    def matcher(self) -> Matcher:
        """The matcher under which hits, named by chunk id, hold the units that these chunks hold.

        For gold as pages, addresses, documents or ids it judges a run as the matcher of that kind would judge the
        same hits, with all that is known of them.
        """
        kinds = set(self.kinds)
        named = ", ".join(sorted(kinds)) or "gold"
        return Matcher(
            "resolved",
            unit="unit",
            summary=f"the hit is a chunk that holds the gold unit ({named})",
            strictness=0,
            prepare=self._prepare,
        )

    def _prepare(self, context: Context) -> tuple[Callable[[Gold], Keys], Callable[[Run], Sequence[Keys]]]:
        return self.gold_keys, self.hit_keys

    def hit_keys(self, run: Run) -> Sequence[Keys]:
        """Keys of each hit: those of its question's kind, or the units of its question that it holds."""
        number = {qid: q for q, qid in enumerate(self.testset.ids)}
        row_of = self.chunks.row_of
        found: list[Keys] = []
        ids = run.doc_list
        for i, qid in enumerate(run.question_ids):
            keys = self._keys_for(number.get(qid, -1))
            for id_ in ids[int(run.offsets[i]) : int(run.offsets[i + 1])]:
                row = row_of.get(id_)
                row = row_of.get(id_.strip()) if row is None else row
                found.append(None if row is None else keys(row))
        return found

    def _keys_for(self, question: int) -> Callable[[int], Keys]:
        """Keys of a row, seen from a question.

        Where all its gold is of one keyed kind, everything of that kind that the row holds: distinct units are then
        told apart whether they are gold or not. Elsewhere a row that holds none of its gold is a unit of its own.
        """
        units = self.of_question(question) if question >= 0 else range(0)
        kinds = {self.kinds[u] for u in units} or set(self.kinds) or set(self.row_keys)
        if len(kinds) == 1 and (kind := next(iter(kinds))) in self.row_keys:
            return self.row_keys[kind].__getitem__
        names = self._names
        held: dict[int, list[str]] = {}
        for u in units:
            for row in self.holders[u].tolist():
                held.setdefault(row, []).append(names[int(self.units.code[u])])
        return lambda row: tuple(held[row]) if row in held else None

    @cached_property
    def _names(self) -> list[str]:
        return list(self.units.codes)


def _file_and_page(key: str) -> tuple[str, str]:
    file, _, page = key.partition("\x1d")[2].rpartition("\x1f")
    return file, page
