"""What the stores of other tools have in common: their records as chunks, and scores where higher is better."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from karat.core.docs import Chunk, Chunks
from karat.core.errors import KaratError
from karat.core.ranked import Ranked
from karat.core.text.wellformed import well_formed
from karat.io.field_reader import FieldReader
from karat.io.fields import STORED, with_metadata
from karat.io.pages import PageReader, counts_from_0, page_number
from karat.models import EmbedderSettings, embedder_named
from karat.retrieve._engine import check_depth

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from karat.models import Embedder

_READER = FieldReader(STORED)


def _scalar(value: Any) -> str | int | float | None:
    """Text or a number; None for anything else, and for blank text."""
    plain = isinstance(value, (str, int, float)) and not isinstance(value, bool)
    return value if plain and str(value).strip() else None


def _named(record: Mapping[str, Any]) -> dict[str, str]:
    """The fields of a record that hold text or a number, as text."""
    fields = _READER.read(record)
    return {name: well_formed(str(value)) for name, value in fields.items() if _scalar(value) is not None}


def id_of(record: Mapping[str, Any]) -> str | None:
    """The id of a record."""
    return _named(record).get("id")


def chunk_of(id_: str, record: Mapping[str, Any], text: str | None = None, *, from_0: bool = False) -> Chunk:
    """A record of a store as a chunk; `from_0`: its pages are LangChain's and count from 0, though it is flat."""
    named = _named(record)
    url = named.get("url")
    page, label = _read_pages(PageReader(), record, from_0=from_0)
    number = page_number(page)
    return Chunk(
        id_,
        named.get("doc") or url or id_,
        well_formed(text if text is not None else named.get("text", "")),
        title=named.get("title"),
        url=url,
        pages=(number,) if number is not None else (),
        labels=(label,) if label else (),
        meta={
            name: well_formed(str(value))
            for name, value in with_metadata(record).items()
            if name not in _READER.names and value is not None
        },
    )


def _read_pages(reader: PageReader, record: Mapping[str, Any], *, from_0: bool) -> tuple[Any, Any]:
    """The page of a record and its label."""
    fields = _READER.read(record)
    values = [_scalar(fields.get(name)) for name in ("page_number", "page", "page_label")]
    return reader.read(*values, from_0=from_0 or counts_from_0(record))


def pages_notes(records: Iterable[Mapping[str, Any] | None], *, from_0: bool = False) -> tuple[str, ...]:
    """What to say of the pages that records of a store name."""
    reader = PageReader()
    for record in records:
        if record:
            _read_pages(reader, record, from_0=from_0)
    return tuple(f"{note}." for note in reader.notes())


def from_l2(squared: NDArray[Any]) -> NDArray[Any]:
    """Squared distances as scores: the cosine where both vectors have length 1, and higher is nearer in any case.

    >>> from_l2(np.array([0.0, 2.0, 4.0])).tolist()
    [1.0, 0.0, -1.0]
    """
    return 1.0 - squared / 2.0


def lengths_note(vectors: NDArray[Any], scores: str) -> tuple[bool, str | None]:
    """Whether vectors of a sample have length 1, and what to say where they do not.

    Zeros, which models make of blank texts, have not: by L2 they would stand at .5, above most passages.
    """
    lengths = np.linalg.norm(np.asarray(vectors, np.float64), axis=1)
    if np.allclose(lengths, 1.0, atol=1e-3):
        return True, None
    return False, (
        f"the vectors of this store are not of length 1 (from {lengths.min():.4g} to {lengths.max():.4g}): "
        f"scores are {scores}, not cosines. Higher is still better."
    )


class VectorStore(ABC):
    """Vectors that something else stored, searched by the embeddings of queries.

    Each search replaces `chunks`: they are those that it found, and its rows refer to them. Scores are cosines where
    `is_unit`, since the vectors have length 1; `notes` say where they are not.
    """

    def __init__(self, place: str, total: int, dimension: int | None, embedder: Embedder | None) -> None:
        self.place, self.total, self.dimension = place, total, dimension
        self.embedder = embedder or embedder_named(EmbedderSettings())
        self.is_unit = True
        self.notes: tuple[str, ...] = ()
        self.chunks = Chunks([])

    @abstractmethod
    def nearest(self, queries: NDArray[np.float32], depth: int) -> tuple[Sequence[int], list[Chunk], Sequence[float]]:
        """The hits of some queries: the number of the query, the chunk and the score of each, higher is better."""

    def search(self, queries: Sequence[str], depth: int = 100) -> Ranked:
        """The nearest of each query, as the store finds them; of equal scores the higher id first."""
        check_depth(depth)
        vectors = self.embedder.embed(queries, "query") if queries else np.zeros((0, 0), np.float32)
        asked = np.flatnonzero(vectors.any(axis=1))
        if len(asked) and self.dimension is not None and vectors.shape[1] != self.dimension:
            raise KaratError(
                f"{self.place} holds vectors of {self.dimension} numbers, the embedder {self.embedder.settings.label} "
                f"makes vectors of {vectors.shape[1]}. Name the embedder that made the store with --embedder."
            )
        self.chunks = Chunks([])
        if not len(asked) or not self.total:
            return Ranked.empty(len(queries))
        query, hits, raw = self.nearest(np.ascontiguousarray(vectors[asked]), min(depth, self.total))
        self.chunks = Chunks.ordered(list({chunk.id: chunk for chunk in hits}.values()))
        rows = np.fromiter((self.chunks.row_of[chunk.id] for chunk in hits), np.int64, len(hits))
        scores = np.asarray(raw, np.float64)
        if self.is_unit:
            scores = np.clip(scores, -1.0, 1.0)
        finite = np.isfinite(scores)
        numbers = asked[np.asarray(query, np.int64)]
        return Ranked.ordered(len(queries), numbers[finite], rows[finite], scores[finite])
