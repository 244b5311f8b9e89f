"""What the stores of other tools have in common: their records as chunks, and scores where higher is better."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from time import perf_counter
from typing import TYPE_CHECKING, Any, ClassVar

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
IN_A_ROW = 5
"""Queries that fail one after the other before the rest are given up: each may take as long as a time-out."""
NEAREST = 10
MOST_COMPARED = 6_400_000
"""Vectors that exact searches go through where an index is compared with them; at least two queries do."""
_ROUNDING = 1e-5
"""How far above 1 rounding may put a cosine."""


def _scalar(value: Any) -> str | int | float | None:
    """Text or a number; None for anything else, and for blank text."""
    plain = isinstance(value, (str, int, float)) and not isinstance(value, bool)
    return value if plain and str(value).strip() else None


def _named(record: Mapping[str, Any], reader: FieldReader = _READER) -> dict[str, str]:
    """The fields of a record that hold text or a number, as text."""
    fields = reader.read(record)
    return {name: well_formed(str(value)) for name, value in fields.items() if _scalar(value) is not None}


def id_of(record: Mapping[str, Any]) -> str | None:
    """The id of a record."""
    return _named(record).get("id")


def chunk_of(
    id_: str,
    record: Mapping[str, Any],
    text: str | None = None,
    *,
    from_0: bool = False,
    reader: FieldReader = _READER,
) -> Chunk:
    """A record of a store as a chunk; `from_0`: its pages are LangChain's and count from 0, though it is flat.

    `reader` knows what the user says of its fields.
    """
    named = _named(record, reader)
    url = named.get("url")
    page, label = _read_pages(PageReader(), record, from_0=from_0, reader=reader)
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
            if name not in reader.names and value is not None
        },
    )


def _read_pages(
    pages: PageReader, record: Mapping[str, Any], *, from_0: bool, reader: FieldReader = _READER
) -> tuple[Any, Any]:
    """The page of a record and its label."""
    fields = reader.read(record)
    values = [_scalar(fields.get(name)) for name in ("page_number", "page", "page_label")]
    return pages.read(*values, from_0=from_0 or counts_from_0(record))


def pages_notes(
    records: Iterable[Mapping[str, Any] | None], *, from_0: bool = False, reader: FieldReader = _READER
) -> tuple[str, ...]:
    """What to say of the pages that records of a store name."""
    pages = PageReader()
    for record in records:
        if record:
            _read_pages(pages, record, from_0=from_0, reader=reader)
    return tuple(f"{note}." for note in pages.notes())


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


SCORES = {
    "cosine": "cosines (1 - d of cosine distances d)",
    "ip": "inner products",
    "l2": "1 - d²/2 of its distances d",
}
"""What scores are, by how a store measures."""

Found = tuple[Sequence[int], Sequence[Chunk], Sequence[float]]
"""Hits of some queries: the number of the query, the chunk and the score of each, higher is better."""


class StoreError(KaratError):
    """A store that failed on a query: that one has no result, the others may have one."""


class SearchedStore:
    """What something else stored, searched as it is.

    Each search replaces `chunks`, those that it found, to which its rows refer, and `failed`, the numbers of queries on
    which the store failed, with the reason; `seconds` are those of queries that are asked one
    by one, with a share of embedding all. `notes` say what a user should know, such as what scores are.
    """

    at_once: ClassVar[int] = 1  # queries that the store is asked together

    def __init__(self, place: str, total: int) -> None:
        self.place, self.total = place, total
        self.notes: tuple[str, ...] = () if total else (f"{place} is empty: nothing can be found there.",)
        self.chunks = Chunks([])
        self.failed: dict[int, str] = {}
        self.seconds: dict[int, float] = {}

    def _collect(self, queries: int, asked: NDArray[np.int64], find: Callable[[slice], Found]) -> Ranked:
        """What `find` has for parts of the queries that are asked, in order; of equal scores the higher id first."""
        self.chunks, self.failed, self.seconds = Chunks([]), {}, {}
        numbers: list[int] = []
        hits: list[Chunk] = []
        scores: list[float] = []
        for query, chunks, values in self._parts(asked, find):
            numbers += query
            hits += chunks
            scores += values
        by_id: dict[str, Chunk] = {}
        for chunk in hits:
            if by_id.setdefault(chunk.id, chunk) != chunk:
                raise self._repeated(chunk.id)
        self.chunks = Chunks.ordered(list(by_id.values()))
        rows = np.fromiter((self.chunks.row_of[chunk.id] for chunk in hits), np.int64, len(hits))
        owner = asked[np.asarray(numbers, np.int64)]
        self._refuse_repeats(owner, rows)
        values_ = np.asarray(scores, np.float64)
        finite = np.isfinite(values_)
        return Ranked.ordered(queries, owner[finite], rows[finite], values_[finite])

    def _parts(self, asked: NDArray[np.int64], find: Callable[[slice], Found]) -> Iterator[Found]:
        """The hits of each part; one that fails is asked again query by query, until several fail in a row."""
        todo = [slice(i, min(i + self.at_once, len(asked))) for i in range(0, len(asked), self.at_once)][::-1]
        in_a_row, reason = 0, ""
        while todo:
            part, started = todo.pop(), perf_counter()
            try:
                if in_a_row >= IN_A_ROW:
                    raise StoreError(f"not asked, since {IN_A_ROW} queries in a row failed. The last: {reason}")
                query, chunks, scores = find(part)
            except StoreError as problem:
                if part.stop - part.start > 1:
                    todo += [slice(i, i + 1) for i in range(part.start, part.stop)][::-1]
                    continue
                if in_a_row < IN_A_ROW:
                    in_a_row, reason = in_a_row + 1, str(problem)
                self.failed[int(asked[part.start])] = str(problem)
                continue
            in_a_row = 0
            if self.at_once == 1:
                self.seconds[int(asked[part.start])] = perf_counter() - started
            yield [part.start + number for number in query], chunks, scores

    def _refuse_repeats(self, owner: NDArray[np.int64], rows: NDArray[np.int64]) -> None:
        """Ids name one chunk each."""
        pairs, counts = np.unique(np.stack([owner, rows]), axis=1, return_counts=True)
        if (counts > 1).any():
            raise self._repeated(self.chunks[int(pairs[1, int(np.argmax(counts > 1))])].id)

    def _repeated(self, id_: str) -> KaratError:
        return KaratError(
            f"{self.place} has the id {id_!r} more than once. "
            "Name the column that tells its rows apart: #NAME?id=COLUMN."
        )


class TextStore(SearchedStore, ABC):
    """Texts that something else indexed, searched by the words of queries."""

    embeds: ClassVar[bool] = False

    @abstractmethod
    def matching(self, query: str, depth: int) -> tuple[list[Chunk], list[float]]:
        """The hits of a query, and the score of each, higher is better."""

    def search(self, queries: Sequence[str], depth: int = 100) -> Ranked:
        """The best of each query, as the store ranks them; of equal scores the higher id first."""
        check_depth(depth)
        asked = np.array([i for i, query in enumerate(queries) if query.strip()], np.int64)

        def find(part: slice) -> Found:
            hits, scores = self.matching(well_formed(queries[int(asked[part.start])]), depth)
            return [0] * len(hits), hits, scores

        return self._collect(len(queries), asked, find)


class VectorStore(SearchedStore, ABC):
    """Vectors that something else stored, searched by the embeddings of queries.

    Scores are cosines where `is_unit`, since the vectors have length 1; `notes` say where they are not.
    """

    def __init__(self, place: str, total: int, dimension: int | None, embedder: Embedder | None) -> None:
        super().__init__(place, total)
        self.dimension = dimension
        self.embedder = embedder or embedder_named(EmbedderSettings())
        self.is_unit = True

    @abstractmethod
    def nearest(self, queries: NDArray[np.float32], depth: int) -> Found:
        """The hits of some queries."""

    def describe_scores(self, metric: str, sample: NDArray[Any]) -> None:
        """Note what scores are, by how the store measures and a sample of its vectors."""
        note = None
        if metric != "cosine" and len(sample):
            self.is_unit, note = lengths_note(sample, SCORES[metric])
        self.notes += (note or f"scores are {SCORES[metric]}.",)

    def describe_recall(
        self, index: str, sample: NDArray[Any], exact: Callable[[NDArray[np.float32], int], Found]
    ) -> None:
        """Note how much of an exact search over the same vectors the index finds.

        Queries lie halfway between vectors of the store: these themselves would be found too easily.
        """
        count = int(np.clip(MOST_COMPARED // max(1, self.total), 2, len(sample) - 1)) if len(sample) > 2 else 0
        if not count:
            return
        vectors = np.asarray(sample, np.float32)
        queries = np.ascontiguousarray((vectors[:count] + vectors[1 : count + 1]) / 2, np.float32)
        depth = min(NEAREST, self.total)
        try:
            wanted, retrieved = (_ids_of(find(queries, depth), count) for find in (exact, self.nearest))
        except StoreError as problem:
            self.notes += (f"the index ({index}) is approximate; what it misses could not be measured: {problem}",)
            return
        recall = float(
            np.mean([len(ours & theirs) / len(ours) for ours, theirs in zip(wanted, retrieved, strict=True)])
        )
        self.notes += (
            f"the index ({index}) is approximate: it finds {recall:.3f} of the {depth} nearest of {count} queries that "
            "lie between its vectors.",
        )

    def search(self, queries: Sequence[str], depth: int = 100) -> Ranked:
        """The nearest of each query, as the store finds them; of equal scores the higher id first."""
        check_depth(depth)
        started = perf_counter()
        vectors = self.embedder.embed(queries, "query") if queries else np.zeros((0, 0), np.float32)
        embedding = (perf_counter() - started) / max(1, len(queries))
        asked = np.flatnonzero(vectors.any(axis=1))
        if len(asked) and self.dimension is not None and vectors.shape[1] != self.dimension:
            raise KaratError(
                f"{self.place} holds vectors of {self.dimension} numbers, the embedder {self.embedder.settings.label} "
                f"makes vectors of {vectors.shape[1]}. Name the embedder that made the store with --embedder."
            )
        if not self.total:
            asked = asked[:0]
        given = np.ascontiguousarray(vectors[asked])

        def find(part: slice) -> Found:
            query, hits, scores = self.nearest(given[part], min(depth, self.total))
            return query, hits, _without_rounding(scores) if self.is_unit else scores

        ranked = self._collect(len(queries), asked, find)
        self.seconds = {query: embedding + spent for query, spent in self.seconds.items()}
        return ranked


def _without_rounding(scores: Sequence[float]) -> Sequence[float]:
    """Scores at 1 that rounding put above; what is further off comes of vectors that are longer than those looked at.

    >>> _without_rounding([3.0, 1.0000001, 0.5])
    [3.0, 1.0, 0.5]
    """
    values = np.asarray(scores, np.float64)
    clipped: list[float] = np.where(np.abs(values) <= 1.0 + _ROUNDING, np.clip(values, -1.0, 1.0), values).tolist()
    return clipped


def _ids_of(hits: Found, queries: int) -> list[set[str]]:
    ids: list[set[str]] = [set() for _ in range(queries)]
    for number, chunk, _ in zip(*hits, strict=True):
        ids[number].add(chunk.id)
    return ids


def exact_search(
    chunks: Sequence[Chunk], stored: NDArray[Any], metric: str
) -> Callable[[NDArray[np.float32], int], Found]:
    """A search that goes through vectors that were read; its scores order, and are no more."""

    def search(queries: NDArray[np.float32], depth: int) -> Found:
        scores = queries.astype(np.float64) @ stored.T
        if metric == "cosine":
            scores /= np.maximum(np.linalg.norm(stored, axis=1), 1e-12)
        elif metric == "l2":
            scores -= np.square(stored).sum(axis=1) / 2
        best = np.argsort(-scores, axis=1, kind="stable")[:, :depth]
        numbers = np.repeat(np.arange(len(queries)), best.shape[1])
        values = np.take_along_axis(scores, best, axis=1).ravel()
        return numbers.tolist(), [chunks[row] for row in best.ravel().tolist()], values.tolist()

    return search
