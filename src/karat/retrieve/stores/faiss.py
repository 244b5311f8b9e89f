"""`faiss:PATH`: an index that FAISS wrote, searched as it is. PATH is the file, or a folder that holds one.

Beside the file karat looks for what the vectors are, in their order: `chunks.jsonl`, a .jsonl of the same name or the
only .jsonl (objects with id, text, doc, page, url ...), `ids.json` or `ids.txt`. Without any, ids are FAISS's numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from karat.core.docs import Chunks
from karat.core.errors import InputError
from karat.core.ranked import Ranked
from karat.retrieve._engine import check_depth
from karat.retrieve._faiss_files import index_file, names_beside, read_index
from karat.retrieve._stored import (
    asked_of,
    check_size,
    chunk_of,
    collected,
    from_l2,
    lengths_note,
    pages_notes,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from karat.models import Embedder

_SAMPLE = 64


class Store:
    """An index of FAISS. Scores are cosines where its vectors have length 1; `notes` say where they do not.

    Each search replaces `chunks`: they are those that it found, and its rows refer to them.
    """

    name: ClassVar[str] = "faiss"

    def __init__(self, file: Path, index: Any, records: Sequence[Mapping[str, Any]] | None, embedder: Embedder) -> None:
        import faiss

        self.file, self._index, self._embedder = file, index, embedder
        self._chunks = Chunks([])
        self._labels: dict[int, int] | None = None
        if isinstance(index, faiss.IndexIDMap):
            labels = faiss.vector_to_array(index.id_map).tolist()
            self._labels = {label: place for place, label in enumerate(labels)}
        self._records = records
        self._inner_product = index.metric_type == faiss.METRIC_INNER_PRODUCT
        self._unit, self.notes = _look(index, self._inner_product)
        self.notes += pages_notes(records or ())

    @classmethod
    def open(cls, target: str, embedder: Embedder | None) -> Self:
        file = index_file(Path(target).expanduser())
        index = read_index(file)
        return cls(file, index, names_beside(file, index.ntotal), asked_of(embedder))

    @property
    def chunks(self) -> Chunks:
        return self._chunks

    def search(self, queries: Sequence[str], depth: int = 100) -> Ranked:
        """The nearest of each query, as FAISS finds them; of equal scores the higher id first."""
        check_depth(depth)
        asked = self._embedder.embed(queries, "query") if queries else np.zeros((0, 0), np.float32)
        check_size(self._embedder, asked, self._index.d, str(self.file))
        full = np.flatnonzero(asked.any(axis=1))
        if not len(full) or not self._index.ntotal:
            self._chunks = Chunks([])
            return Ranked.empty(len(queries))
        scores, labels = self._index.search(np.ascontiguousarray(asked[full]), min(depth, self._index.ntotal))
        line, place = np.nonzero(labels >= 0)
        found = labels[line, place].tolist()
        ids = {label: self._id(label) for label in set(found)}
        label_of = {id_: label for label, id_ in ids.items()}
        self._chunks, ranked = collected(
            len(queries),
            full[line].tolist(),
            [ids[label] for label in found],
            self._scores(scores[line, place]).tolist(),
            lambda id_: chunk_of(id_, self._record(label_of[id_])),
        )
        return ranked

    def _scores(self, found: NDArray[np.float32]) -> NDArray[np.float64]:
        scores = found.astype(np.float64) if self._inner_product else from_l2(found.astype(np.float64))
        return np.clip(scores, -1.0, 1.0) if self._unit else scores

    def _place(self, label: int) -> int:
        place = label if self._labels is None else self._labels.get(label, -1)
        if self._records is not None and not 0 <= place < len(self._records):
            raise InputError(
                f"FAISS returned the number {label}, which none of the {len(self._records)} entries beside it has",
                place=str(self.file),
                remedy="Its vectors have numbers of their own: export ids and texts in an index with an IDMap.",
            )
        return place

    def _record(self, label: int) -> Mapping[str, Any]:
        return self._records[self._place(label)] if self._records is not None else {}

    def _id(self, label: int) -> str:
        return str(self._record(label)["id"]) if self._records is not None else str(label)


def _look(index: Any, inner_product: bool) -> tuple[bool, tuple[str, ...]]:
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
