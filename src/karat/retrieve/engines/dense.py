"""`dense`: cosine of embeddings, on FAISS. Exact, or approximate by an HNSW graph on request.

A passage without a vector (a blank text, or one the model makes zeros of) is similar to nothing: it is never found. A
query without one finds nothing. Every other passage has a cosine, so a search returns `depth` of them, however unlike.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from karat.core.errors import KaratError, UsageError
from karat.core.ranked import Ranked
from karat.models import EmbedderSettings, Known, embed_all, embedder_named
from karat.models.hosts import permitted
from karat.retrieve._engine import Progress, check_depth, check_settings, concatenated
from karat.retrieve._graph import Graph
from karat.retrieve._vectors import EmbeddedRows, cosines, exact_candidates, read, write

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from karat.models import Embedder

_DEFAULTS: dict[str, Any] = {"ann": "exact", "m": 32, "ef_construction": 200, "ef_search": 256}
_QUERIES = 1024
"""How many queries are searched at a time, which bounds the memory their candidates take."""
_RANKED = 64
"""How many queries are multiplied with all vectors at a time to count what stands above a row."""


class DenseEngine:
    """Texts by the cosine of their embeddings.

    Settings: `embedder` (the values of EmbedderSettings), `ann` (`exact` or `hnsw`), and for hnsw `m` (links of a
    passage), `ef_construction` and `ef_search` (how many candidates are kept while building and searching; more is
    slower and misses less).
    """

    name: ClassVar[str] = "dense"

    def __init__(
        self, settings: Mapping[str, Any], content: EmbeddedRows, graph: Graph | None = None, place: str = ""
    ) -> None:
        self.settings, self._content, self._graph, self._place = settings, content, graph, place
        self._embedder: Embedder | None = None

    @classmethod
    def build(
        cls,
        texts: Sequence[str],
        settings: Mapping[str, Any],
        progress: Progress,
        *,
        known: Known | None = None,
        journal: Path | None = None,
    ) -> Self:
        """An engine over the texts; `known` and `journal` save embedding again what was embedded before."""
        completed = _completed(settings)
        embedder = embedder_named(EmbedderSettings.of(completed["embedder"]))
        embedded = embed_all(embedder, texts, known, journal, progress)
        content = EmbeddedRows(embedder.fingerprint, embedded.vectors, embedded.digests, embedded.rows)
        graph = None
        if completed["ann"] == "hnsw" and len(content.vectors):
            graph = Graph.build(content.vectors, completed["m"], completed["ef_construction"], progress)
        engine = cls(completed, content, graph)
        engine._embedder = embedder
        return engine

    @property
    def vectors(self) -> NDArray[np.float32]:
        """The vector of each distinct text."""
        return self._content.vectors

    @property
    def row_vectors(self) -> NDArray[np.float32]:
        """The vector of each row; zeros where it has none."""
        rows = self._content.rows
        vectors = np.zeros((len(rows), self.vectors.shape[1]), np.float32)
        vectors[rows >= 0] = self.vectors[rows[rows >= 0]]
        return vectors

    @property
    def digests(self) -> NDArray[np.uint8]:
        """The digest of the text behind each vector."""
        return self._content.digests

    @property
    def known(self) -> Known:
        """What a later build need not embed again."""
        return Known(self._content.fingerprint, self.digests, self.vectors)

    @property
    def without_vector(self) -> int:
        """How many rows are never found, since the model makes nothing of their texts."""
        return int((self._content.rows < 0).sum())

    @property
    def fingerprint(self) -> str:
        """What made the vectors."""
        return self._content.fingerprint

    def __len__(self) -> int:
        return len(self._content.rows)

    @cached_property
    def embedder(self) -> Embedder:
        """What embeds the queries, loaded when the first one comes; the one that made the vectors, or an error."""
        settings = EmbedderSettings.of(self.settings["embedder"])
        embedder = self._embedder or embedder_named(permitted(settings, self._place))
        if embedder.fingerprint != self.fingerprint:
            raise KaratError(
                f"the vectors of this index were made by {self.fingerprint!r}, but the embedder here is "
                f"{embedder.fingerprint!r}. Vectors of two models cannot be compared: index again."
            )
        return embedder

    def search(self, queries: Sequence[str], depth: int = 100) -> Ranked:
        """The nearest rows of each query, by cosine."""
        if not queries or not len(self.vectors):  # nobody is asked to embed for nothing
            check_depth(depth)
            return Ranked.empty(len(queries))
        return self.search_vectors(self._asked(queries), depth)

    def search_vectors(self, queries: NDArray[np.float32], depth: int = 100) -> Ranked:
        """The nearest rows of queries that are vectors of length 1 already (or zeros, which find nothing)."""
        check_depth(depth)
        full = np.flatnonzero(queries.any(axis=1) & (len(self.vectors) > 0))
        parts = []
        for start in range(0, len(full), _QUERIES):
            numbers = full[start : start + _QUERIES]
            asked = np.ascontiguousarray(queries[numbers])
            for lines, places in self._candidates(asked, depth):
                parts.append(
                    (numbers[lines], self._content.ranked(places, cosines(self.vectors, asked[lines], places), depth))
                )
        return concatenated(parts, len(queries))

    def ranks_of(self, queries: Sequence[str], rows: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
        """For each query the rank of the best of its rows in an exact search of all rows; 0: it finds none."""
        found = [some[self._content.rows[some] >= 0] for some in rows]
        wanted = [number for number, some in enumerate(found) if len(some)]
        ranks = np.zeros(len(queries), np.int64)
        for start in range(0, len(wanted), _RANKED):
            numbers = np.array(wanted[start : start + _RANKED])
            asked = self._asked([queries[number] for number in numbers])
            full = asked.any(axis=1)
            numbers, asked = numbers[full], np.ascontiguousarray(asked[full])
            ranks[numbers] = self._content.ranks_of(asked, [found[number] for number in numbers])
        return ranks

    def _candidates(
        self, asked: NDArray[np.float32], depth: int
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        if self._graph is None:
            yield from exact_candidates(self.vectors, asked, depth)
        else:
            ef = self.settings["ef_search"]
            yield np.arange(len(asked)), self._graph.candidates(asked, depth, ef)

    def explain(self, query: str, row: int) -> list[tuple[str, float]]:
        """The cosine of a query and a row; 0 where either has no vector."""
        place = int(self._content.rows[row])
        asked = self._asked([query]) if place >= 0 else np.zeros((1, 0), np.float32)
        cosine = float(cosines(self.vectors, asked, np.array([[place]]))[0, 0]) if asked.any() else 0.0
        return [("cosine", cosine)]

    def _asked(self, queries: Sequence[str]) -> NDArray[np.float32]:
        asked = self.embedder.embed(queries, "query")
        if asked.any() and asked.shape[1] != self.vectors.shape[1]:
            raise KaratError(
                f"the embedder {self.embedder.settings.label} makes vectors of {asked.shape[1]} numbers, those of this "
                f"index have {self.vectors.shape[1]}. The model behind it changed: index again."
            )
        return asked

    def save(self, folder: Path) -> None:
        write(folder, self.settings, self._content)
        if self._graph is not None:
            self._graph.save(folder)

    @classmethod
    def load(cls, folder: Path) -> Self:
        settings, content = read(folder, _completed)
        linked = settings["ann"] == "hnsw" and len(content.vectors)
        return cls(settings, content, Graph.load(folder, content.vectors) if linked else None, str(folder))


engine = DenseEngine


def _completed(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings with their defaults, each checked."""
    known = {"embedder": EmbedderSettings().plain(), **_DEFAULTS}
    check_settings("dense", settings, known)
    completed = known | dict(settings)
    if not isinstance(completed["embedder"], Mapping):
        raise UsageError(f"the setting embedder of the engine dense cannot be {completed['embedder']!r}.")
    completed["embedder"] = EmbedderSettings.of(completed["embedder"]).plain()
    if completed["ann"] not in ("exact", "hnsw"):
        raise UsageError(f"the setting ann of the engine dense must be exact or hnsw, found {completed['ann']!r}.")
    for name, least, most in (("m", 2, 512), ("ef_construction", 1, 100_000), ("ef_search", 1, 100_000)):
        if type(completed[name]) is not int or not least <= completed[name] <= most:
            raise UsageError(
                f"the setting {name} of the engine dense must be a whole number from {least} to {most}, "
                f"found {completed[name]!r}."
            )
        if completed["ann"] == "exact":
            if name in settings:
                raise UsageError(f"the setting {name} of the engine dense is for hnsw. Set ann to hnsw as well.")
            del completed[name]
    return completed
