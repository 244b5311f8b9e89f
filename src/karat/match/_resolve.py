"""Resolving gold: from pages, documents, addresses, quotes, spans or ids to the chunks that hold them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from karat.core.errors import UsageError
from karat.io.pages import page_of, shift
from karat.match._index import ChunkTable, IndexView, Pages, QuotePlaces
from karat.match._join import Join, Key, Units
from karat.match._kinds import kinds_of
from karat.match._matcher import MATCHERS, Context, Options, Reason, column, each

if TYPE_CHECKING:
    from karat.core.docs import Chunks, Doc
    from karat.core.judged import Bools, Ints
    from karat.core.run import Run
    from karat.core.types import Gold, TestSet

_LACKING: dict[str, Reason] = {
    "page": "page without text", "span": "span outside", "text": "quote not found", "url": "unknown address",
}  # fmt: skip


@dataclass(frozen=True)
class Unresolved:
    """A gold entry that no chunk holds, and why."""

    question: str
    gold: Gold
    kind: str  # name of the matcher it was looked for by
    reason: Reason
    why: str


@dataclass(frozen=True)
class Resolution:
    """Gold units beside the rows of the chunks that hold them, and the join that scores runs over these."""

    join: Join = field(repr=False)
    table: ChunkTable = field(repr=False)
    holders: list[Ints]  # of each unit, the ascending rows that hold it
    notes: tuple[str, ...] = ()

    @property
    def testset(self) -> TestSet:
        return self.join.testset

    @property
    def chunks(self) -> Chunks:
        return self.table.chunks

    @property
    def units(self) -> Units:
        """The units of the test set, ordered by question."""
        return self.join.units

    @property
    def kinds(self) -> list[str]:
        """Of each unit, the matcher that it goes by."""
        return self.join.kinds

    @property
    def ambiguity(self) -> str | None:
        """Why some gold may mean several units, and what to add."""
        return self.join.ambiguity

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
        return self.units.of_question(question)

    def gold_rows(self, question: int) -> Ints:
        """Rows that hold a relevant unit of a question, ascending."""
        rows = [self.holders[u] for u in self.of_question(question) if self.relevant[u]]
        return rows[0] if len(rows) == 1 else np.unique(np.concatenate([*rows, np.zeros(0, np.int64)]))

    def rows_of(self, run: Run) -> list[int]:
        """The row of each hit, -1 where it is no chunk of the index."""
        return self.table.rows_of(run)

    def hit_keys(self, run: Run) -> list[tuple[Key, ...]]:
        """Keys of each hit, to be compared with those of the units."""
        return self.join.hit_keys(run)

    @cached_property
    def row_keys(self) -> Mapping[str, Sequence[tuple[Key, ...]]]:
        """All keys of every row, of each kind by which rows have keys."""
        return {kind: keys for kind, keys in self.join.row_keys.items() if self.join.matchers[kind].is_keyed}

    @cached_property
    def rows_on_page(self) -> Mapping[tuple[str, str], Ints]:
        """Rows by file and page, as pages are compared: of gold resolved by page. See `page_of_unit`."""
        rows: dict[tuple[str, str], list[int]] = {}
        for row, keys in enumerate(self.row_keys.get("page", ())):
            for key in keys:
                rows.setdefault(_file_and_page(key), []).append(row)
        return {place: np.array(held, np.int64) for place, held in rows.items()}

    def page_of_unit(self, unit: int) -> tuple[str, str] | None:
        """File and page of a unit that was looked for by page."""
        key = self.units.key[unit]
        return _file_and_page(key) if key is not None and self.kinds[unit] == "page" else None

    @cached_property
    def quote_places(self) -> QuotePlaces:
        """Where quotes stand in the documents."""
        return QuotePlaces(self.table, self.join.of_kind("quote"))

    @cached_property
    def unresolved(self) -> tuple[Unresolved, ...]:
        """The entries that no chunk holds."""
        views = {
            kind: IndexView(self.table, self.quote_places, self.join.of_kind(kind), self.join.options)
            for kind in self.join.matchers
        }
        lost = []
        for u in np.flatnonzero(~self.reached).tolist():
            gold, kind = self.units.gold[u], self.kinds[u]
            reason, why = self._why(gold, kind, self.units.key[u], views[kind])
            lost.append(Unresolved(self.testset.ids[int(self.units.question[u])], gold, kind, reason, why))
        return tuple(lost)

    def _why(self, gold: Gold, kind: str, key: Key | None, view: IndexView) -> tuple[Reason, str]:
        """Why no chunk holds an entry."""
        matcher, files = self.join.matchers[kind], len(self.table.files)
        if matcher.within_file is not None and files > 1 and not (gold.doc or "").strip():
            return "ambiguous", f"names {matcher.within_file(gold)} without a file, and the index holds {files:,} files"
        if key is None:
            return "names no unit", f"names no {matcher.unit}"
        lacking = matcher.lacks(self.table.run)
        if lacking is not None:
            return _LACKING.get(lacking, "unknown id"), f"the chunks of the index have no {lacking}"
        return matcher.why(gold, key[1], view)


def resolve(
    testset: TestSet,
    chunks: Chunks,
    docs: Sequence[Doc] | None = None,
    *,
    by: str = "auto",
    page_offset: int = 0,
    pages: Pages = "physical",
    any_file: bool = False,
) -> Resolution:
    """Which chunks hold which gold unit, under any chunking.

    With `auto` each gold entry goes by the finest thing it names; `by` names one matcher for all. Page numbers are
    those of the file (`physical`) or those on the paper (`printed`); `page_offset` is added to them; with `any_file` a
    page number means that page of any file.
    """
    if pages not in ("physical", "printed"):
        raise UsageError(f"pages={pages!r} is not one of physical, printed.")
    table = ChunkTable(chunks, docs, pages)
    if pages == "printed" and len(chunks) and column(table.run, "page") is None:
        raise UsageError("--pages printed: no chunk of this index knows the number printed on its page.")
    options = Options(page_offset=page_offset, labels=table.labels, any_file=any_file)
    if by != "auto":
        join, why = Join(testset, [table.run], by, options, table), "asked for"
    else:
        golds = list(dict.fromkeys(gold for question in testset.questions for gold in question.gold))
        kind_of, why = kinds_of(golds, [table.run], options, lambda some, kind: _share(some, kind, table, options))
        join = Join(testset, [table.run], kind_of, options, table)
    notes = [f"{why}."] if "taken for the documents" in why else []
    resolution = Resolution(join, table, _holders(join), tuple(notes))
    return replace(resolution, notes=(*notes, *_printed_twice(resolution)))


def _holders(join: Join) -> list[Ints]:
    """Of each unit, the ascending rows of the index that hold it."""
    rows: dict[Key | None, list[int]] = {key: [] for key in join.units.key}
    for keys in join.row_keys.values():
        for row, held in enumerate(keys):
            for key in held:
                if key in rows:
                    rows[key].append(row)
    arrays = {key: np.array(held, np.int64) for key, held in rows.items()}
    return [arrays[key] for key in join.units.key]


def _share(golds: Sequence[Gold], kind: str, table: ChunkTable, options: Options) -> float:
    """Share of some entries that any row of the table holds, under a matcher."""
    gold_keys, hit_keys = MATCHERS.get(kind).rule(Context(golds, [table.run], options))
    held = set(chain.from_iterable(map(each, hit_keys(table.run))))
    return sum(1 for gold in golds if not held.isdisjoint(each(gold_keys(gold)))) / len(golds)


def _printed_twice(resolution: Resolution) -> list[str]:
    """What to say where gold names a printed number that several pages of its file bear."""
    table, join = resolution.table, resolution.join
    if table.pages == "physical":
        return []
    bearing: dict[tuple[str, str], set[int]] = {}
    for doc in table.docs:
        for page in doc.pages:
            if page.label is not None and (label := page_of(page.label)):
                place = (doc.part_of or doc.id, shift(label, join.options.page_offset))
                bearing.setdefault(place, set()).add(page.number)
    several = set()
    for gold in join.of_kind("page"):
        for key in join.gold_keys(gold):
            _, page_text = _file_and_page(key)
            rows = resolution.rows_on_page.get(_file_and_page(key))
            if rows is not None and len(bearing.get((table.names[rows[0]], page_text), ())) > 1:
                several.add(gold)
    if not several:
        return []
    names = "1 gold entry names" if len(several) == 1 else f"{len(several):,} gold entries name"
    return [
        f"{names} a printed page number that several pages of the file bear: a chunk on any of them counts as found."
    ]


def _file_and_page(key: Key) -> tuple[str, str]:
    """File and page of the key of a page; no file where files are not compared."""
    _, page = key
    return page.doc or "", page.page
