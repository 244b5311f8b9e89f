"""What an index says about itself: its chunks as hits that matchers read, and where quotes stand in its documents."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from karat.core.run import Run
from karat.io.pages import page_of, pages_of
from karat.match._files import FileNames
from karat.match._passages import Passages
from karat.match.matchers.url import address_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from karat.core.docs import Chunks, Doc
    from karat.core.types import Gold
    from karat.match._matcher import Options
    from karat.match._passages import Passage

Pages = Literal["physical", "printed"]


class ChunkTable:
    """The chunks as the hits of one list, row by row, beside the documents they were cut from, where these are known.

    A text that was cut before it was indexed, and is a chunk as it stands, is no document.
    """

    def __init__(self, chunks: Chunks, docs: Sequence[Doc] | None, pages: Pages) -> None:
        self.chunks, self.pages = chunks, pages
        self.names = [chunk.doc for chunk in chunks]
        columns: dict[str, list[Any]] = {
            "doc": [name or None for name in self.names],
            "page": [(chunk.pages if pages == "physical" else chunk.labels) or None for chunk in chunks],
            "url": [chunk.url for chunk in chunks],
            "span": [chunk.span for chunk in chunks],
            "text": [text if text.strip() else None for text in chunks.texts],
        }
        self.run = Run("index", ["index"], np.array([0, len(chunks)]), chunks.ids, fields=columns)
        self.files = sorted({name for name in self.names if name.strip()})
        self.docs = [doc for doc in docs or () if not self._is_chunk(doc)]

    def _is_chunk(self, doc: Doc) -> bool:
        row = self.chunks.row_of.get(doc.id)
        return doc.part_of is not None and row is not None and self.chunks[row].span is None

    def rows_of(self, run: Run) -> list[int]:
        """The row of each hit, -1 where it is no chunk of the index."""
        row_of = self.chunks.row_of
        return [row_of.get(id_, row_of.get(id_.strip(), -1)) for id_ in run.doc_list]

    @cached_property
    def labels(self) -> frozenset[str]:
        """The printed page numbers, where gold names pages by them, in the form that is compared."""
        if self.pages == "physical":
            return frozenset()
        return frozenset(page for chunk in self.chunks for label in chunk.labels if (page := page_of(label)))


@dataclass(frozen=True)
class Place:
    """Characters `start` to `end` of a document's text; the pages they stand on, by number and as printed."""

    doc: str
    start: int
    end: int
    pages: tuple[int, ...] = ()
    labels: tuple[str, ...] = ()


class QuotePlaces:
    """Where quotes stand in the texts of documents, on whatever page, for those who look for a fault.

    A chunk whose document is not known is a text of its own.
    """

    def __init__(self, table: ChunkTable, golds: Sequence[Gold]) -> None:
        self.table = table
        self._files = FileNames([g for g in golds if g.doc is not None and g.doc.strip()], [table.run])
        self._places: dict[Gold, tuple[Place, ...]] = {}

    @cached_property
    def _alone(self) -> list[int]:
        """Rows whose text is in no document that is known."""
        known = {doc.id for doc in self.table.docs}
        return [
            row
            for row, chunk in enumerate(self.table.chunks)
            if chunk.span is None or (chunk.doc not in known and chunk.id not in known)
        ]

    @cached_property
    def _passages(self) -> Passages:
        texts = self.table.chunks.texts
        return Passages([*(doc.text for doc in self.table.docs), *(texts[row] for row in self._alone)])

    @cached_property
    def _docs(self) -> list[str]:
        """The document that each text belongs to."""
        return [*(doc.part_of or doc.id for doc in self.table.docs), *(self.table.names[row] for row in self._alone)]

    @cached_property
    def _texts(self) -> tuple[dict[str, set[int]], dict[str, set[int]]]:
        """Texts by the file and by the address they come from, in the forms that are compared."""
        urls = [*(doc.url for doc in self.table.docs), *(self.table.chunks[row].url for row in self._alone)]
        by_file: dict[str, set[int]] = {}
        by_url: dict[str, set[int]] = {}
        for text, (name, url) in enumerate(zip(self._docs, urls, strict=True)):
            by_file.setdefault(self._files.of(name), set()).add(text)
            if url and (address := address_of(url)):
                by_url.setdefault(address, set()).add(text)
        return by_file, by_url

    def texts_of(self, gold: Gold) -> set[int] | None:
        """The texts that an entry says its quote stands in; None where it says nothing."""
        name = gold.doc.strip() if gold.doc is not None else ""
        by_file, by_url = self._texts
        if name:
            return by_file.get(self._files.of(name), set()) | by_url.get(address_of(name) or "", set())
        return None if gold.url is None else by_url.get(address_of(gold.url) or "", set())

    def of(self, gold: Gold) -> tuple[Place, ...]:
        """Where the quote of an entry stands whole in the document it names, on whatever page."""
        if gold not in self._places:
            texts = self.texts_of(gold)
            passages = [p for p in self._passages.find(gold.quote or "") if texts is None or p.text in texts]
            self._places[gold] = tuple(map(self._place, passages))
        return self._places[gold]

    def elsewhere(self, gold: Gold) -> str | None:
        """Another document than the one an entry names in which its quote stands."""
        passages = self._passages.find(gold.quote or "")
        return self._docs[passages[0].text] if passages else None

    def nearest(self, gold: Gold) -> str | None:
        """The stretch of text most like a quote, in the document it names if the index has it, else anywhere."""
        near = self._passages.nearest(gold.quote or "", self.texts_of(gold) or None)
        return None if near is None else self._passages.texts[near.text][near.start : near.end]

    def pages_at(self, place: Place) -> tuple[str, ...]:
        """The pages of a place in the form that is compared, under the way pages are counted here."""
        return pages_of(place.pages if self.table.pages == "physical" else place.labels, self.table.labels)

    def _place(self, passage: Passage) -> Place:
        """A passage with the pages it stands on."""
        name, start, end = self._docs[passage.text], passage.start, passage.end
        doc = self.table.docs[passage.text] if passage.text < len(self.table.docs) else None
        if doc is not None:
            over = [p for p in doc.pages if p.start < end and start < p.end]
            if over or doc.part_of is None:
                labels = tuple(p.label for p in over if p.label is not None)
                return Place(name, start, end, tuple(p.number for p in over), labels)
            row = self.table.chunks.row_of.get(doc.id)
        else:
            row = self._alone[passage.text - len(self.table.docs)]
        chunk = None if row is None else self.table.chunks[row]
        return Place(name, start, end) if chunk is None else Place(name, start, end, chunk.pages, chunk.labels)


@dataclass(frozen=True)
class IndexView:
    """What a matcher may look at to say why no chunk of an index holds an entry."""

    table: ChunkTable
    places: QuotePlaces
    golds: Sequence[Gold]  # all that go by the matcher
    options: Options

    @cached_property
    def pages_of_files(self) -> dict[str | None, set[int]]:
        """Page numbers of each file, by the form that is compared: those that its chunks or its document have."""
        names = FileNames(self.golds, [self.table.run])
        pages: dict[str | None, set[int]] = {names.of_hit(name): set() for name in self.table.files}
        numbered = [(doc.part_of or doc.id, page.number) for doc in self.table.docs for page in doc.pages]
        numbered += [(chunk.doc, number) for chunk in self.table.chunks for number in chunk.pages]
        for name, number in numbered:
            pages.setdefault(names.of_hit(name), set()).add(number + self.options.page_offset)
        return pages
