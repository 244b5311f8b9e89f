"""Table: what the chunks of an index say about themselves, in the columns that matchers read."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from karat.core.run import Run
from karat.io.pages import page_of, pages_of
from karat.match._passages import Passages
from karat.match._resolution import Place
from karat.match.url import address_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from karat.core.docs import Chunks, Doc
    from karat.core.judged import Ints
    from karat.match._passages import Passage
    from karat.match._resolution import Pages


class Table:
    """The chunks as the hits of one list, row by row, and the texts that quotes are looked for in.

    Those are the documents' texts; a chunk whose document is not known, or that says no span, is a text of its own.
    """

    def __init__(self, chunks: Chunks, docs: Sequence[Doc] | None, pages: Pages) -> None:
        self.chunks, self.pages = chunks, pages
        self.names: list[str] = []
        columns: dict[str, list[Any]] = {"doc": [], "page": [], "url": [], "span": []}
        for chunk in chunks:
            self.names.append(chunk.doc)
            columns["doc"].append(chunk.doc or None)
            columns["page"].append((chunk.pages if pages == "physical" else chunk.labels) or None)
            columns["url"].append(chunk.url)
            columns["span"].append(chunk.span)
        self.run = Run("index", ["index"], np.array([0, len(chunks)]), chunks.ids, fields=columns)
        self.files = sorted({name for name in self.names if name.strip()})
        self.docs = [doc for doc in docs or () if not self._is_chunk(doc)]

    def _is_chunk(self, doc: Doc) -> bool:
        """Whether a text that was cut before is a chunk as it stands, which then is the text to look in."""
        row = self.chunks.row_of.get(doc.id)
        return doc.part_of is not None and row is not None and self.run.fields["span"][row] is None

    def tells(self, field: str) -> bool:
        """Whether any chunk has this column."""
        return field in self._told

    @cached_property
    def _told(self) -> frozenset[str]:
        return frozenset(name for name, values in self.run.fields.items() if any(v is not None for v in values))

    @cached_property
    def labels(self) -> frozenset[str]:
        """The printed page numbers, where gold names pages by them, in the form that is compared."""
        if self.pages == "physical":
            return frozenset()
        return frozenset(page for chunk in self.chunks for label in chunk.labels if (page := page_of(label)))

    @cached_property
    def has_texts(self) -> bool:
        return any(text.strip() for text in self.chunks.texts)

    @cached_property
    def starts(self) -> Ints:
        """Where the span of each chunk begins; -1 without one."""
        return np.array([-1 if span is None else span[0] for span in self.run.fields["span"]], np.int64)

    @cached_property
    def ends(self) -> Ints:
        return np.array([-1 if span is None else span[1] for span in self.run.fields["span"]], np.int64)

    @cached_property
    def _homes(self) -> tuple[list[int], list[int]]:
        """For each row the number of the document its span counts in, or -1; and the rows that have none."""
        number = {doc.id: i for i, doc in enumerate(self.docs)}
        homes, alone = [], []
        for row, (id_, name, span) in enumerate(zip(self.chunks.ids, self.names, self.run.fields["span"], strict=True)):
            own = number.get(id_)
            home = own if own is not None and self.docs[own].part_of is not None else number.get(name)
            homes.append(-1 if home is None or span is None else home)
            if homes[-1] < 0:
                alone.append(row)
        return homes, alone

    @cached_property
    def passages(self) -> Passages:
        """The texts: documents first, then the chunks that stand alone."""
        return Passages([*(doc.text for doc in self.docs), *(self.chunks.texts[row] for row in self._homes[1])])

    @cached_property
    def text_docs(self) -> list[str]:
        """The document that each text belongs to."""
        return [*(doc.part_of or doc.id for doc in self.docs), *(self.names[row] for row in self._homes[1])]

    @cached_property
    def text_urls(self) -> list[str | None]:
        """The address of each text in the one form that is compared."""
        urls = [*(doc.url for doc in self.docs), *(self.run.fields["url"][row] for row in self._homes[1])]
        return [address_of(url) if url else None for url in urls]

    @cached_property
    def rows_by_doc(self) -> dict[int, Ints]:
        """Rows of each document, by its number."""
        found: dict[int, list[int]] = {}
        for row, home in enumerate(self._homes[0]):
            if home >= 0:
                found.setdefault(home, []).append(row)
        return {doc: np.array(rows, np.int64) for doc, rows in found.items()}

    def rows_holding(self, passage: Passage) -> tuple[Ints, bool]:
        """Rows that cover at least half of a passage in characters, and whether any covers all of it."""
        if passage.text >= len(self.docs):
            return np.array([self._homes[1][passage.text - len(self.docs)]], np.int64), True
        rows = self.rows_by_doc.get(passage.text, np.zeros(0, np.int64))
        covered = np.minimum(self.ends[rows], passage.end) - np.maximum(self.starts[rows], passage.start)
        size = passage.end - passage.start
        return rows[2 * covered >= size], bool((covered >= size).any())

    def place(self, passage: Passage) -> Place:
        """A passage with the pages it stands on."""
        name = self.text_docs[passage.text]
        if passage.text >= len(self.docs):
            chunk = self.chunks[self._homes[1][passage.text - len(self.docs)]]
            return Place(name, passage.start, passage.end, chunk.pages, chunk.labels)
        doc = self.docs[passage.text]
        over = [p for p in doc.pages if p.start < passage.end and passage.start < p.end]
        if not over and doc.part_of is not None:
            row = self.chunks.row_of.get(doc.id)
            chunk_or_none = None if row is None else self.chunks[row]
            if chunk_or_none is not None:
                return Place(name, passage.start, passage.end, chunk_or_none.pages, chunk_or_none.labels)
        labels = tuple(p.label for p in over if p.label is not None)
        return Place(name, passage.start, passage.end, tuple(p.number for p in over), labels)

    def pages_at(self, place: Place) -> tuple[str, ...]:
        """The pages of a place in the form that is compared, under the way pages are counted here."""
        return pages_of(place.pages if self.pages == "physical" else place.labels, self.labels)
