"""Resolving gold: from pages, documents, addresses, quotes, spans or ids to the chunks that hold them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any, Literal

import numpy as np

from karat.core.docs import Chunks, Doc
from karat.core.errors import UsageError
from karat.core.judged import Bools, Ints
from karat.core.lazy import LazySequence
from karat.core.run import HitColumn, Run
from karat.core.types import Gold, TestSet
from karat.io.pages import page_of, pages_of, shift
from karat.match._files import FileNames, Places
from karat.match._join import Join, Key
from karat.match._kinds import matcher_of_each
from karat.match._matcher import MATCHERS, MatchInputs, MatchOptions, Reason, as_tuple, column
from karat.match._passages import Passage, Passages
from karat.match._printed_pages import printed_elsewhere

Pages = Literal["physical", "printed"]


_LACKING: dict[str, Reason] = {
    "page": "page without text", "span": "span outside", "text": "quote not found", "url": "unknown address",
}  # fmt: skip


class ChunkTable:
    """The chunks as the hits of one list, row by row, beside the documents they were cut from, where these are known.

    A text that was cut before it was indexed, and is a chunk as it stands, is no document.
    """

    def __init__(self, chunks: Chunks, docs: Sequence[Doc] | None, pages: Pages) -> None:
        self.chunks, self.pages, self._docs = chunks, pages, docs
        self.names = chunks.column("doc")
        columns: dict[str, Sequence[Any]] = {
            "doc": [name or None for name in self.names],
            "page": [page or None for page in chunks.column("pages" if pages == "physical" else "labels")],
            "url": chunks.column("url"),
            "span": chunks.column("span"),
            "text": _TextsOrNone(chunks.texts),
        }
        self.run = Run(
            "index", question_ids=["index"], offsets=np.array([0, len(chunks)]), _docs=chunks.ids, fields=columns
        )
        self.files = sorted({name for name in set(self.names) if name.strip()})

    @cached_property
    def docs(self) -> list[Doc]:
        """The documents, read when something is looked for in them."""
        return [doc for doc in self._docs or () if not self._is_chunk(doc)]

    def _is_chunk(self, doc: Doc) -> bool:
        if doc.part_of is None or doc.id not in self.chunks.row_of:
            return False
        return self.chunks[self.chunks.row_of[doc.id]].span is None

    def rows_of(self, run: Run) -> Ints:
        """The row of each hit, -1 where it is no chunk of the index."""
        if isinstance(run.docs, HitColumn) and run.docs.by_row is self.chunks.ids:
            return run.docs.rows
        row_of = self.chunks.row_of
        return np.array([row_of.get(id_, row_of.get(id_.strip(), -1)) for id_ in run.doc_list], np.int64)

    @cached_property
    def labels(self) -> frozenset[str]:
        """The printed page numbers, where gold names pages by them, in the form that is compared."""
        if self.pages == "physical":
            return frozenset()
        labels = set(chain.from_iterable(set(self.chunks.column("labels"))))
        return frozenset(page for label in labels if (page := page_of(label)))


class _TextsOrNone(LazySequence[str | None]):
    """Texts, each read when it is asked for; None where one is blank."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts

    def __len__(self) -> int:
        return len(self._texts)

    def _at(self, number: int) -> str | None:
        text = self._texts[number]
        return text if text.strip() else None


@dataclass(frozen=True)
class QuotePosition:
    """Characters `start` to `end` of a document's text; the pages they stand on, by number and as printed."""

    doc: str
    start: int
    end: int
    pages: tuple[int, ...] = ()
    labels: tuple[str, ...] = ()


class QuoteFinder:
    """Where quotes stand in the texts of documents, on whatever page, for who looks for a fault.

    A chunk whose document is not known is a text of its own.
    """

    def __init__(self, table: ChunkTable, golds: Sequence[Gold]) -> None:
        self.table = table
        self._places = Places(MatchInputs(golds, [table.run], MatchOptions()))
        self._positions: dict[Gold, tuple[QuotePosition, ...]] = {}
        known = {doc.id for doc in table.docs}
        rows = enumerate(zip(table.chunks.column("span"), table.names, table.chunks.ids, strict=True))
        self._alone = [  # rows whose text is in no document that is known
            row for row, (span, doc, id_) in rows if span is None or (doc not in known and id_ not in known)
        ]
        urls, texts = table.run.fields["url"], table.chunks.texts
        columns: dict[str, list[Any]] = {
            "doc": [*(doc.part_of or doc.id for doc in table.docs), *(table.names[row] for row in self._alone)],
            "url": [*(doc.url for doc in table.docs), *(urls[row] for row in self._alone)],
            "text": [*(doc.text for doc in table.docs), *(texts[row] for row in self._alone)],
        }
        size = len(table.docs) + len(self._alone)
        self._run = Run("texts", question_ids=["texts"], offsets=np.array([0, size]), _docs=[""] * size, fields=columns)

    @cached_property
    def _passages(self) -> Passages:
        return Passages(self._run.fields["text"])

    def texts_of(self, gold: Gold) -> Ints:
        """The texts in which the quote of an entry may stand: those of the document it names, else all."""
        return self._places.within(replace(gold, page=None), self._run, np.arange(len(self._run)))

    def of(self, gold: Gold) -> tuple[QuotePosition, ...]:
        """Where the quote of an entry stands whole in the document it names, on whatever page."""
        if gold not in self._positions:
            texts = set(self.texts_of(gold).tolist())
            passages = [p for p in self._passages.find(gold.quote or "") if p.text in texts]
            self._positions[gold] = tuple(map(self._position, passages))
        return self._positions[gold]

    def elsewhere(self, gold: Gold) -> str | None:
        """Another document than the one an entry names in which its quote stands."""
        passages = self._passages.find(gold.quote or "")
        return self._run.fields["doc"][passages[0].text] if passages else None

    def nearest(self, gold: Gold) -> str | None:
        """The stretch of text most like a quote, in the document it names if the index has it, else anywhere."""
        texts = self.texts_of(gold).tolist() if gold.doc is not None or gold.url is not None else None
        near = self._passages.nearest(gold.quote or "", texts or None)
        return None if near is None else self._passages.texts[near.text][near.start : near.end]

    def pages_at(self, position: QuotePosition) -> tuple[str, ...]:
        """The pages of a position in the form that is compared, under the way pages are counted here."""
        return pages_of(position.pages if self.table.pages == "physical" else position.labels, self.table.labels)

    def _position(self, passage: Passage) -> QuotePosition:
        """A passage with the pages it stands on."""
        name, start, end = self._run.fields["doc"][passage.text], passage.start, passage.end
        doc = self.table.docs[passage.text] if passage.text < len(self.table.docs) else None
        if doc is not None:
            over = [p for p in doc.pages if p.start < end and start < p.end]
            if over or doc.part_of is None:
                labels = tuple(p.label for p in over if p.label is not None)
                return QuotePosition(name, start, end, tuple(p.number for p in over), labels)
            row = self.table.chunks.row_of.get(doc.id)
        else:
            row = self._alone[passage.text - len(self.table.docs)]
        chunk = None if row is None else self.table.chunks[row]
        pages, labels = ((), ()) if chunk is None else (chunk.pages, chunk.labels)
        return QuotePosition(name, start, end, pages, labels)


@dataclass(frozen=True)
class IndexView:
    """What a matcher may look at to say why no chunk of an index holds an entry."""

    resolution: Resolution
    golds: Sequence[Gold]  # all that go by the matcher

    @property
    def table(self) -> ChunkTable:
        return self.resolution.index

    @property
    def options(self) -> MatchOptions:
        return self.resolution.options

    @property
    def quotes(self) -> QuoteFinder:
        """Where quotes stand: all texts are read for it."""
        return self.resolution.quote_places

    @cached_property
    def pages_of_files(self) -> dict[str | None, set[int]]:
        """Page numbers of each file, by the form that is compared: those that its chunks or its document have."""
        names = FileNames(self.golds, [self.table.run])
        pages: dict[str | None, set[int]] = {names.of_hit(name): set() for name in self.table.files}
        numbered = [(doc.part_of or doc.id, page.number) for doc in self.table.docs for page in doc.pages]
        of_rows = set(zip(self.table.names, self.table.chunks.column("pages"), strict=True))
        numbered += [(name, number) for name, of_row in of_rows for number in of_row]
        for name, number in numbered:
            pages.setdefault(names.of_hit(name), set()).add(number + self.options.page_offset)
        return pages


@dataclass(frozen=True)
class Unresolved:
    """A gold entry that no chunk holds, and why."""

    question: str
    gold: Gold
    kind: str  # name of the matcher it was looked for by
    reason: Reason
    why: str


class Resolution(Join):
    """The join of gold with the chunks of an index: its units beside the rows of the chunks that hold them.

    It judges runs too: a hit that is a chunk of the index is known by all that the index says of it.
    """

    index: ChunkTable

    def __init__(
        self, testset: TestSet, index: ChunkTable, by: str | Mapping[Gold, str], options: MatchOptions, why: str
    ) -> None:
        super().__init__(testset, [index.run], by, options, index)
        rows: dict[Key | None, list[int]] = {key: [] for key in self.units.key}
        for keys in self.row_keys.values():
            for row, held in enumerate(keys):
                for key in held:
                    if key in rows:
                        rows[key].append(row)
        arrays = {key: np.array(held, np.int64) for key, held in rows.items()}
        self.holders: list[Ints] = [arrays[key] for key in self.units.key]  # of each unit, ascending rows
        notes = [f"{why}."] if "read as the documents" in why else []
        self.notes = (*notes, *_printed_twice(self), *printed_elsewhere(self))

    @property
    def chunks(self) -> Chunks:
        return self.index.chunks

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
    def quote_places(self) -> QuoteFinder:
        """Where quotes stand in the documents."""
        return QuoteFinder(self.index, self.of_kind("quote"))

    @cached_property
    def unresolved(self) -> tuple[Unresolved, ...]:
        """The entries that no chunk holds."""
        views = {kind: IndexView(self, self.of_kind(kind)) for kind in self.matchers}
        lost = []
        for u in np.flatnonzero(~self.reached).tolist():
            gold, kind = self.units.gold[u], self.kinds[u]
            reason, why = self._why(gold, kind, self.units.key[u], views[kind])
            lost.append(Unresolved(self.testset.ids[int(self.units.question[u])], gold, kind, reason, why))
        return tuple(lost)

    def _why(self, gold: Gold, kind: str, key: Key | None, view: IndexView) -> tuple[Reason, str]:
        """Why no chunk holds an entry."""
        matcher, files = self.matchers[kind], len(self.index.files)
        if matcher.within_file is not None and files > 1 and not (gold.doc or "").strip():
            return "ambiguous", f"names {matcher.within_file(gold)} without a file, and the index holds {files:,} files"
        if key is None:
            return "names no unit", f"names no {matcher.unit}"
        lacking = matcher.lacks(self.index.run)
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
    options = MatchOptions(page_offset=page_offset, labels=table.labels, any_file=any_file)
    if by != "auto":
        return Resolution(testset, table, by, options, "asked for")
    golds = list(dict.fromkeys(gold for question in testset.questions for gold in question.gold))
    kind_of, why = matcher_of_each(golds, [table.run], options, lambda some, kind: _share(some, kind, table, options))
    return Resolution(testset, table, kind_of, options, why)


def _share(golds: Sequence[Gold], kind: str, table: ChunkTable, options: MatchOptions) -> float:
    """Share of some entries that any row of the table holds, under a matcher."""
    gold_keys, hit_keys = MATCHERS.get(kind).rule(MatchInputs(golds, [table.run], options))
    held = set(chain.from_iterable(map(as_tuple, hit_keys(table.run))))
    return sum(1 for gold in golds if not held.isdisjoint(as_tuple(gold_keys(gold)))) / len(golds)


def _printed_twice(resolution: Resolution) -> list[str]:
    """What to say where gold names a printed number that several pages of its file bear."""
    table, offset = resolution.index, resolution.options.page_offset
    if table.pages == "physical":
        return []
    bearing: dict[tuple[str, str], set[int]] = {}
    for doc in table.docs:
        for page in doc.pages:
            if page.label is not None and (label := page_of(page.label)):
                place = (doc.part_of or doc.id, shift(label, offset))
                bearing.setdefault(place, set()).add(page.number)
    several = set()
    for gold in resolution.of_kind("page"):
        for key in resolution.gold_keys(gold):
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
