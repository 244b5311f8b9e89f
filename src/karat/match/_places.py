"""Places: where quotes stand in the documents of an index, on whatever page, for those who look for a fault."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from karat.io.pages import pages_of
from karat.match._files import FileNames
from karat.match._passages import Passages
from karat.match._resolution import Place
from karat.match.url import address_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from karat.core.types import Gold
    from karat.match._passages import Passage
    from karat.match._table import Table


class QuotePlaces:
    """Looks quotes up in the texts of documents; a chunk whose document is not known is a text of its own."""

    def __init__(self, table: Table, golds: Sequence[Gold]) -> None:
        self.table = table
        self._files = FileNames([g for g in golds if g.doc is not None and g.doc.strip()], [table.run])
        self._places: dict[Gold, tuple[Place, ...]] = {}

    @cached_property
    def _alone(self) -> list[int]:
        """Rows whose text is in no document that is known."""
        known = {doc.id for doc in self.table.docs}
        spans = self.table.run.fields["span"]
        ids = self.table.chunks.ids
        return [
            row
            for row, name in enumerate(self.table.names)
            if (name not in known and ids[row] not in known) or spans[row] is None
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
        urls = [*(doc.url for doc in self.table.docs), *(self.table.run.fields["url"][row] for row in self._alone)]
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
        name = self._docs[passage.text]
        row: int | None = None
        if passage.text >= len(self.table.docs):
            row = self._alone[passage.text - len(self.table.docs)]
        else:
            doc = self.table.docs[passage.text]
            over = [p for p in doc.pages if p.start < passage.end and passage.start < p.end]
            if over or doc.part_of is None:
                labels = tuple(p.label for p in over if p.label is not None)
                return Place(name, passage.start, passage.end, tuple(p.number for p in over), labels)
            row = self.table.chunks.row_of.get(doc.id)
        if row is None:
            return Place(name, passage.start, passage.end)
        chunk = self.table.chunks[row]
        return Place(name, passage.start, passage.end, chunk.pages, chunk.labels)
