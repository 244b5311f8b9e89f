"""`faiss:PATH`: an index that FAISS wrote, searched as it is. PATH is the file, or a folder that holds one.

Beside the file karat looks for what the vectors are, in their order: `chunks.jsonl`, a .jsonl of the same name or the
only .jsonl (objects with id, text, doc, page, url ...), `ids.json` or `ids.txt`. Without any, ids are FAISS's numbers.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from karat.core.docs import Chunk
from karat.core.errors import InputError
from karat.io.threads import search_threads_for
from karat.retrieve._faiss_files import index_file, names_beside, read_index
from karat.retrieve._stored import Found, VectorStore, chunk_of, from_l2, lengths_note, pages_notes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from karat.models import Embedder

_SAMPLE = 64


class FaissStore(VectorStore):
    """An index of FAISS."""

    name: ClassVar[str] = "faiss"
    at_once: ClassVar[int] = sys.maxsize

    def __init__(
        self, file: Path, index: Any, records: Sequence[Mapping[str, Any]] | None, embedder: Embedder | None
    ) -> None:
        import faiss

        super().__init__(str(file), index.ntotal, index.d, embedder)
        self._index, self._records = index, records
        self._places: dict[int, int] | None = None  # of FAISS's numbers, where they are no places
        if isinstance(index, faiss.IndexIDMap):
            labels = faiss.vector_to_array(index.id_map).tolist()
            self._places = {label: place for place, label in enumerate(labels)}
        self._inner_product = index.metric_type == faiss.METRIC_INNER_PRODUCT
        self.is_unit, notes = _sampled(index, self._inner_product)
        self.notes += (*notes, *pages_notes(records or ()))

    @classmethod
    def open(cls, target: str, embedder: Embedder | None) -> Self:
        file = index_file(Path(target).expanduser())
        index = read_index(file)
        return cls(file, index, names_beside(file, index.ntotal), embedder)

    def nearest(self, queries: NDArray[np.float32], depth: int) -> Found:
        with search_threads_for(queries.size * self._index.ntotal):
            values, labels = self._index.search(queries, depth)
        query, place = np.nonzero(labels >= 0)
        scores = values[query, place].astype(np.float64)
        hits = labels[query, place].tolist()
        chunks = {label: self._chunk(label) for label in set(hits)}
        scores = scores if self._inner_product else from_l2(scores)
        return query.tolist(), [chunks[label] for label in hits], scores.tolist()

    def _chunk(self, label: int) -> Chunk:
        if self._records is None:
            return chunk_of(str(label), {})
        place = label if self._places is None else self._places.get(label, -1)
        if not 0 <= place < len(self._records):
            raise InputError(
                f"FAISS returned the number {label}, which none of the {len(self._records)} entries beside it has",
                place=self.place,
                remedy="Its vectors have numbers of their own: export ids and texts in an index with an IDMap.",
            )
        record = self._records[place]
        return chunk_of(str(record["id"]), record)


store = FaissStore


def _sampled(index: Any, inner_product: bool) -> tuple[bool, tuple[str, ...]]:
    """Whether the vectors have length 1, and what a user should know of the index."""
    notes: list[str] = []
    if hasattr(index, "nprobe"):
        notes.append(f"the index looks into {index.nprobe} of its {index.nlist} lists, as it was saved.")
    scores = "inner products with it" if inner_product else "1 - d/2 of its squared distances d"
    try:
        inner = index.index if hasattr(index, "id_map") else index
        if hasattr(inner, "make_direct_map"):
            inner.make_direct_map()
        places = np.unique(np.linspace(0, index.ntotal - 1, min(index.ntotal, _SAMPLE)).astype(np.int64))
        sample = np.stack([inner.reconstruct(int(place)) for place in places]) if len(places) else np.ones((1, 1))
    except (RuntimeError, AttributeError):
        return False, (*notes, f"whether its vectors have length 1 cannot be seen: scores are {scores}.")
    unit, note = lengths_note(sample, scores)
    return unit, (*notes, note) if note else tuple(notes)
