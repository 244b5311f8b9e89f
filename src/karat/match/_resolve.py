"""Resolving gold: from pages, documents, addresses, quotes, spans or ids to the chunks that hold them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from karat.core.errors import UsageError
from karat.io.pages import page_of, pages_of, shift
from karat.match._entries import Entries, Finder
from karat.match._files import FileNames
from karat.match._kinds import kinds_of
from karat.match._matcher import MATCHERS, Context, Options, column, matcher_named
from karat.match._places import QuotePlaces
from karat.match._resolution import Pages, Reason, Resolution, Unresolved, file_and_page
from karat.match._table import Table

if TYPE_CHECKING:
    from karat.core.docs import Chunks, Doc
    from karat.core.judged import Ints
    from karat.core.types import Gold, TestSet

_SHOWN = 60
_LACKING: dict[str, Reason] = {
    "page": "page without text", "span": "span outside", "text": "quote not found", "url": "unknown address",
}  # fmt: skip


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
    table = Table(chunks, docs, pages)
    if pages == "printed" and len(chunks) and column(table.run, "page") is None:
        raise UsageError("--pages printed: no chunk of this index knows the number printed on its page.")
    golds = list(dict.fromkeys(gold for question in testset.questions for gold in question.gold))
    if by == "auto":
        options = Options(page_offset=page_offset, labels=table.labels, any_file=any_file)
        kinds = kinds_of(golds, [table.run], options, lambda of: _share(of, table, options))
        kind_of, why = kinds.of, kinds.why
    else:
        matcher, options = matcher_named(by, page_offset=page_offset, labels=table.labels, any_file=any_file)
        kind_of, why = dict.fromkeys(golds, matcher.name), "asked for"
    entries = Entries(testset, kind_of, [table.run], options)
    notes = [f"{why}."] if "taken for the documents" in why else []
    notes += _printed_twice([gold for gold in golds if kind_of[gold] == "page"], entries, table)
    return _resolved(entries, table, tuple(notes))


def _share(kind_of: Mapping[Gold, str], table: Table, options: Options) -> float:
    """Share of some entries that any row of the table holds."""
    held = 0
    for kind in dict.fromkeys(kind_of.values()):
        golds = [gold for gold, its in kind_of.items() if its == kind]
        finder = Finder(MATCHERS.get(kind), Context(golds, [table.run], options))
        held += sum(1 for gold in golds if any(len(rows) for rows in finder.rows(gold, table.run).values()))
    return held / len(kind_of)


def _printed_twice(golds: Sequence[Gold], entries: Entries, table: Table) -> list[str]:
    """What to say where gold names a printed number that several pages of its file bear."""
    if not golds or table.pages == "physical":
        return []
    bearing: dict[tuple[str, str], set[int]] = {}
    for doc in table.docs:
        for page in doc.pages:
            if page.label is not None and (label := page_of(page.label)):
                place = (doc.part_of or doc.id, shift(label, entries.options.page_offset))
                bearing.setdefault(place, set()).add(page.number)
    several = 0
    for gold in golds:
        held = entries.finders["page"].rows(gold, table.run).items()
        several += any(
            len(bearing.get((table.names[row], file_and_page(key)[1]), ())) > 1
            for key, rows in held
            for row in rows[:1].tolist()
        )
    if not several:
        return []
    name = "1 gold entry names" if several == 1 else f"{several:,} gold entries name"
    return [
        f"{name} a printed page number that several pages of the file bear: a chunk on any of them counts as found."
    ]


def _resolved(entries: Entries, table: Table, notes: tuple[str, ...]) -> Resolution:
    units = entries.units
    number = {pair: u for u, pair in enumerate(zip(units.question.tolist(), units.code.tolist(), strict=True))}
    rows: list[list[Ints]] = [[] for _ in units.gold]
    lost: dict[int, tuple[str, Gold, str | None]] = {}
    for q, question in enumerate(entries.testset.questions):
        for entry, gold in enumerate(question.gold):
            by_key = entries.finders[entries.kind_of[gold]].rows(gold, table.run)
            if not by_key:
                lost.setdefault(number[q, units.codes[f"\x00{q}\x00{entry}"]], (question.id, gold, None))
            for key, holding in by_key.items():
                unit = number[q, units.codes[key]]
                if len(holding):
                    rows[unit].append(holding)
                else:
                    lost.setdefault(unit, (question.id, gold, key))
    holders = [_union(parts) for parts in rows]
    golds = list(entries.kind_of)
    places = QuotePlaces(table, [gold for gold in golds if entries.kind_of[gold] == "quote"])
    reasons = _Reasons(entries, table, places)
    unresolved = []
    for u in sorted(lost):
        if not len(holders[u]):
            qid, gold, unit_key = lost[u]
            unresolved.append(Unresolved(qid, gold, entries.kind_of[gold], *reasons.why(gold, unit_key)))
    return Resolution(table, entries, holders, tuple(unresolved), notes, reasons.ambiguity, places)


def _union(parts: Sequence[Ints]) -> Ints:
    if not parts:
        return np.zeros(0, np.int64)
    return parts[0] if len(parts) == 1 else np.unique(np.concatenate(parts))


class _Reasons:
    """Why no chunk holds a gold entry."""

    def __init__(self, entries: Entries, table: Table, places: QuotePlaces) -> None:
        self.entries, self.table, self.places = entries, table, places

    @cached_property
    def ambiguity(self) -> str | None:
        """Why some gold may mean several units, and what to add."""
        for kind, finder in self.entries.finders.items():
            questions = self.entries.testset.questions
            golds = [gold for q in questions for gold in q.gold if self.entries.kind_of[gold] == kind]
            why = finder.matcher.ambiguity(Context(golds, [self.table.run], self.entries.options))
            if why is not None:
                return why
        return None

    def why(self, gold: Gold, key: str | None) -> tuple[Reason, str]:
        """A word and a sentence; `key` is the unit of the entry, None where it has none of its kind."""
        kind = self.entries.kind_of[gold]
        named = gold.doc is not None and bool(gold.doc.strip())
        if kind in ("page", "span") and not named and len(self.table.files) > 1:
            what = f"page {_shown(gold.page or gold.label)}" if kind == "page" else "a span"
            return "ambiguous", f"names {what} without a file, and the index holds {len(self.table.files):,} files"
        matcher = self.entries.finders[kind].matcher
        if key is None:
            return "names no unit", f"names no {matcher.unit}"
        lacking = matcher.lacks(self.table.run)
        if lacking is not None:
            return _LACKING.get(lacking, "unknown id"), f"the chunks of the index have no {lacking}"
        if kind == "page":
            return self._page(gold, key)
        if kind == "quote":
            return self._quote(gold)
        if kind == "span" and gold.span is not None:
            where = f" of {_shown(gold.doc)}" if gold.doc else ""
            return "span outside", f"no chunk overlaps characters {gold.span[0]} to {gold.span[1]}{where}"
        if kind == "url":
            return "unknown address", f"no chunk comes from {_shown(gold.url or gold.doc or gold.label)}"
        if matcher.unit == "document":
            return "unknown file", f"no chunk comes from the document {_shown(gold.doc or gold.label)}"
        return "unknown id", f"no chunk {'has the id' if kind == 'exact' else 'holds'} {_shown(gold.label)}"

    def _page(self, gold: Gold, key: str) -> tuple[Reason, str]:
        file, page = file_and_page(key)
        if file not in self._pages and not self.entries.options.any_file:
            return "unknown file", f"no chunk comes from the file {_shown(gold.doc)}"
        pages = self._pages.get(file) or {number for numbers in self._pages.values() for number in numbers}
        of_file = f" of {_shown(gold.doc)}" if gold.doc else ""
        if not self._pages.get(file, pages):
            return "page without text", f"the chunks of {_shown(gold.doc)} say no pages"
        if page.isdecimal() or page.startswith("-"):
            first, last = shift("1", self.entries.options.page_offset), max(pages)
            if int(page) < int(first):
                return "beyond the end", f"page {page}{of_file} stands before its first page, {first}"
            if int(page) > last and self.table.pages == "physical":
                return "beyond the end", f"page {page}{of_file} stands after its last page, {last}"
        return "page without text", f"no chunk stands on page {_shown(page)}{of_file}"

    @cached_property
    def _pages(self) -> dict[str, set[int]]:
        """Page numbers of each file, by its key: those that chunks stand on and those that its document has."""
        golds = [gold for gold, kind in self.entries.kind_of.items() if kind == "page"]
        names = FileNames(golds, [self.table.run])
        pages: dict[str, set[int]] = {names.of_hit(name) or "": set() for name in self.table.files}
        held = [(doc.part_of or doc.id, page.number) for doc in self.table.docs for page in doc.pages]
        held += [(chunk.doc, number) for chunk in self.table.chunks for number in chunk.pages]
        for name, number in held:
            shifted = int(shift(str(number), self.entries.options.page_offset))
            pages.setdefault(names.of_hit(name) or "", set()).add(shifted)
        return pages

    def _quote(self, gold: Gold) -> tuple[Reason, str]:
        quote, texts = f'"{_shown(gold.quote)}"', self.places.texts_of(gold)
        where = _shown(gold.doc or gold.url)
        if texts is not None and not texts:
            return "unknown file", f"no document is called {where}"
        places = self.places.of(gold)
        pages = sorted({p for place in places for p in self.places.pages_at(place)}, key=lambda p: (len(p), p))
        offset, labels = self.entries.options.page_offset, self.entries.options.labels
        named = set(pages_of(gold.page, labels)) if gold.page is not None else set()
        if pages and named and named.isdisjoint(shift(p, offset) for p in pages):
            return "quote elsewhere", f"{quote} stands on page {', '.join(pages[:4])}, not on page {gold.page}"
        if places:
            return "quote not found", f"{quote} stands in {_shown(places[0].doc)}, in no chunk or split over many"
        if texts is None:
            return "quote not found", f"{quote} stands in no document"
        other = self.places.elsewhere(gold)
        if other is not None:
            return "quote elsewhere", f"{quote} stands in {other}, not in {where}"
        return "quote not found", f"{quote} does not stand in {where}"


def _shown(text: str | None) -> str:
    text = " ".join((text or "").split())
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
