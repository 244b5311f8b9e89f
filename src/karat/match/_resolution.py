"""Resolution: which chunks hold which gold unit, and the matcher that scores runs over them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np

from karat.match._matcher import Keys, Matcher, each

if TYPE_CHECKING:
    from karat.core.docs import Chunks
    from karat.core.judged import Bools, Ints
    from karat.core.run import Run
    from karat.core.types import Gold, TestSet
    from karat.match._credit import Units
    from karat.match._entries import Entries
    from karat.match._places import QuotePlaces
    from karat.match._table import Table

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

    `holders[u]` are the ascending rows that hold unit u of `entries`.
    """

    table: Table = field(repr=False)
    entries: Entries = field(repr=False)
    holders: list[Ints]
    unresolved: tuple[Unresolved, ...]
    notes: tuple[str, ...]
    ambiguity: str | None  # why some gold may mean several units, and what to add
    quote_places: QuotePlaces = field(repr=False)

    @property
    def testset(self) -> TestSet:
        return self.entries.testset

    @property
    def chunks(self) -> Chunks:
        return self.table.chunks

    @property
    def units(self) -> Units:
        """The units of the test set, ordered by question."""
        return self.entries.units

    @property
    def kinds(self) -> list[str]:
        """Of each unit, the matcher that it goes by."""
        return self.entries.kinds

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
        return self.entries.of_question(question)

    def gold_rows(self, question: int) -> Ints:
        """Rows that hold a relevant unit of a question, ascending."""
        rows = [self.holders[u] for u in self.of_question(question) if self.relevant[u]]
        return rows[0] if len(rows) == 1 else np.unique(np.concatenate([*rows, np.zeros(0, np.int64)]))

    @cached_property
    def row_keys(self) -> Mapping[str, Sequence[Keys]]:
        """All keys of every row, of each kind by which rows have keys."""
        finders = self.entries.finders
        return {kind: finder.hit_keys(self.table.run) for kind, finder in finders.items() if finder.is_keyed}

    @cached_property
    def rows_on_page(self) -> Mapping[tuple[str, str], Ints]:
        """Rows by file and page, as pages are compared: of gold resolved by page. See `page_of_unit`."""
        rows: dict[tuple[str, str], list[int]] = {}
        for row, keys in enumerate(self.row_keys.get("page", ())):
            for key in each(keys):
                rows.setdefault(file_and_page(key), []).append(row)
        return {place: np.array(held, np.int64) for place, held in rows.items()}

    def page_of_unit(self, unit: int) -> tuple[str, str] | None:
        """File and page of a unit that was looked for by page."""
        key = self.keys_of_units[unit]
        return file_and_page(key) if self.kinds[unit] == "page" and not key.startswith("\x00") else None

    @property
    def keys_of_units(self) -> list[str]:
        """The key of each unit; one that begins with a NUL character is nothing that chunks could hold."""
        return self.entries.keys_of_units

    @cached_property
    def matcher(self) -> Matcher:
        """The matcher of runs: a chunk of the index is known by all that the index says, others by their own."""
        plain = self.entries.matcher
        return Matcher(
            plain.name, plain.unit, plain.summary, 0, prepare=lambda context: (self.entries.gold_keys, self.hit_keys)
        )

    def rows_of(self, run: Run) -> list[int]:
        """The row of each hit, -1 where it is no chunk of the index."""
        row_of = self.chunks.row_of
        return [row_of.get(id_, row_of.get(id_.strip(), -1)) for id_ in run.doc_list]

    def hit_keys(self, run: Run) -> Sequence[Keys]:
        """Keys of each hit, as `Entries` gives them for what is known of it."""
        rows = self.rows_of(run)
        own = self.entries.hit_keys(run) if rows and min(rows) < 0 else None
        number = {qid: q for q, qid in enumerate(self.testset.ids)}
        keys: list[Keys] = []
        for i, qid in enumerate(run.question_ids):
            of_rows = self._keys_for(number.get(qid, -1))
            hits = range(int(run.offsets[i]), int(run.offsets[i + 1]))
            keys += [of_rows[rows[hit]] if rows[hit] >= 0 else own[hit] if own is not None else None for hit in hits]
        return keys

    def _keys_for(self, question: int) -> Mapping[int, Keys] | Sequence[Keys]:
        """Keys of every row, seen from a question."""
        kind = self.entries.keyed_kind(question)
        if kind is not None:
            return self.row_keys[kind]
        held: dict[int, tuple[str, ...]] = {}
        for u in self.of_question(question) if question >= 0 else ():
            for row in self.holders[u].tolist():
                held[row] = (*held.get(row, ()), self.keys_of_units[u])
        return _Held(held)


class _Held(dict[int, Keys]):
    """Units that rows hold; None for a row that holds none."""

    def __missing__(self, row: int) -> None:
        return None


def file_and_page(key: str) -> tuple[str, str]:
    """File and page of the key of a page."""
    file, _, page = key.partition("\x1d")[2].rpartition("\x1f")
    return file, page
