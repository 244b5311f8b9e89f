"""Table: what the chunks of an index say about themselves, in the columns that matchers read."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from karat.core.run import Run
from karat.io.pages import page_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from karat.core.docs import Chunks, Doc
    from karat.match._resolution import Pages


class Table:
    """The chunks as the hits of one list, row by row, beside the documents they were cut from, where these are known.

    A text that was cut before it was indexed, and is a chunk as it stands, is no document.
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
        columns["text"] = [text if text.strip() else None for text in chunks.texts]
        self.run = Run("index", ["index"], np.array([0, len(chunks)]), chunks.ids, fields=columns)
        self.files = sorted({name for name in self.names if name.strip()})
        self.docs = [doc for doc in docs or () if not self._is_chunk(doc)]

    def _is_chunk(self, doc: Doc) -> bool:
        row = self.chunks.row_of.get(doc.id)
        return doc.part_of is not None and row is not None and self.run.fields["span"][row] is None

    @cached_property
    def labels(self) -> frozenset[str]:
        """The printed page numbers, where gold names pages by them, in the form that is compared."""
        if self.pages == "physical":
            return frozenset()
        return frozenset(page for chunk in self.chunks for label in chunk.labels if (page := page_of(label)))
