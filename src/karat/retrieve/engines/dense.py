"""`dense`: cosine of embeddings, on FAISS. Exact, or approximate by an HNSW graph on request.

A passage without a vector (a blank text, or one the model makes zeros of) is similar to nothing: it is never found. A
query without one finds nothing. Every other passage has a cosine, so a search returns `depth` of them, however unlike.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from karat.core.errors import KaratError
from karat.core.progress import Progress
from karat.core.ranked import Ranked
from karat.io.arrays import damaged, mapped_array
from karat.io.threads import one_thread, search_threads_for
from karat.models import EmbedderSettings, Known, embed_all, embedder_named, same_embedder
from karat.models.hosts import permitted
from karat.retrieve import _vector_files as files
from karat.retrieve._dense_settings import AUTO, completed_settings
from karat.retrieve._engine import check_depth, concatenated, merged
from karat.retrieve._graph import LOOKED_AT, Graph
from karat.retrieve._precision import StoredVectors
from karat.retrieve._recall import EFFORTS, mean_recall, problems_of, recall_at_precision, sample_queries, settle_effort
from karat.retrieve._vectors import EmbeddedRows, VectorShard, cosines

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from karat.core.docs import Problem
    from karat.core.models import EmbeddingModel
    from karat.models import Embedder

    Ints = NDArray[np.int64]

_QUERIES = 1024
"""How many queries are searched at a time, which bounds the memory their candidates take."""
_JOINED = 2
_RANKED = 64
"""How many queries are multiplied with all vectors at a time to count what stands above a row."""
_SAMPLE = "queries.npy"
"""Queries made of passages of a shard, by which the search of all is measured."""


class DenseEngine:
    """Texts by the cosine of their embeddings.

    Settings: `embedder` (the values of EmbedderSettings), `ann` (`exact` or `hnsw`), `precision` of the stored vectors
    (`float32`, `float16`, `int8`; for exact search), and for hnsw `m` (links of a passage), `ef_construction` and
    `ef_search` (how many candidates are kept while building and searching; more is slower and misses less). Unless it
    is given, `ef_search` is as high as a sample of passages needs to find nearly all of their nearest.
    """

    name: ClassVar[str] = "dense"

    def __init__(
        self,
        settings: Mapping[str, Any],
        shards: Sequence[VectorShard],
        *,
        measured: Mapping[str, float] | None = None,
        place: str = "",
        embedder: EmbeddingModel | None = None,
    ) -> None:
        self.settings, self._shards, self._place, self._embedder = settings, shards, place, embedder
        self.measured = dict(measured or {})

    @classmethod
    def build(
        cls,
        texts: Sequence[str],
        settings: Mapping[str, Any],
        progress: Progress,
        *,
        known: Sequence[Known] | None = None,
        journal: Path | None = None,
    ) -> Self:
        """An engine over the texts; `known` and `journal` save embedding again what was embedded before."""
        completed = completed_settings(settings)
        embedder = embedder_named(EmbedderSettings.of(completed["embedder"]))
        engine, queries = cls._built(texts, completed, embedder, progress, known, journal)
        engine._settle_effort(queries, progress)
        return engine

    @classmethod
    def made_by(cls, embedder: EmbeddingModel, texts: Sequence[str]) -> Self:
        """An engine over the texts by an embedder at hand, searched exactly and in memory."""
        embedded = embed_all(embedder, texts)
        vectors = StoredVectors.of(embedded.vectors, "float32")
        content = EmbeddedRows(embedder.fingerprint, vectors, embedded.digests, embedded.rows)
        return cls(completed_settings({}), [VectorShard(content)], embedder=embedder)

    @classmethod
    def _built(
        cls,
        texts: Sequence[str],
        settings: Mapping[str, Any],
        embedder: Embedder,
        progress: Progress,
        known: Sequence[Known] | None,
        journal: Path | None,
    ) -> tuple[Self, NDArray[np.float32]]:
        """An engine over the texts, and queries to measure by where it may miss something."""
        precision = settings.get("precision", "float32")
        usable = [one for one in known or () if one.precision in ("float32", precision)]
        embedded = embed_all(embedder, texts, usable, journal, progress)
        vectors = StoredVectors.of(embedded.vectors, precision)
        content = EmbeddedRows(embedder.fingerprint, vectors, embedded.digests, embedded.rows)
        graph, measured, queries = None, {}, np.zeros((0, vectors.shape[1]), np.float32)
        if len(vectors) and (settings["ann"] != "exact" or precision != "float32"):
            queries = sample_queries(texts, embedder)
        if precision != "float32":
            measured = recall_at_precision(queries, embedded.vectors, vectors)
        if settings["ann"] == "hnsw" and len(vectors):
            graph = Graph.build(vectors.values, settings["m"], settings["ef_construction"], progress)
        return cls(settings, [VectorShard(content, graph)], measured=measured, embedder=embedder), queries

    @classmethod
    def completed(cls, settings: Mapping[str, Any], languages: Mapping[Any, int]) -> dict[str, Any]:
        """The settings with their defaults."""
        return completed_settings(settings)

    @classmethod
    def build_shard(
        cls,
        texts: Sequence[str],
        settings: Mapping[str, Any],
        folder: Path,
        progress: Progress,
        *,
        known: Sequence[Known] | None = None,
        journal: Path | None = None,
        fingerprint: str | None = None,
    ) -> None:
        """Embed some rows of a collection, into an empty folder; by the model of a fingerprint where one is given."""
        asked = EmbedderSettings.of(settings["embedder"])
        embedder = embedder_named(asked) if fingerprint is None else same_embedder(asked, fingerprint)
        engine, queries = cls._built(texts, settings, embedder, progress, known, journal)
        engine.save(folder)
        if settings["ann"] != "exact":
            np.save(folder / _SAMPLE, queries)

    @classmethod
    def are_current(cls, shards: Sequence[Path], settings: Mapping[str, Any]) -> list[bool]:
        """Whether each shard of these settings holds the vectors that the model behind their embedder makes today."""
        made_by = cls.fingerprint_now(settings)
        return [files.read(shard, completed_settings)[1].fingerprint == made_by for shard in shards]

    @classmethod
    def fingerprint_now(cls, settings: Mapping[str, Any]) -> str:
        """What would make the vectors of these settings today."""
        return embedder_named(EmbedderSettings.of(settings["embedder"])).fingerprint

    @classmethod
    def join(
        cls, shards: Sequence[Path], settings: Mapping[str, Any], folder: Path, progress: Progress
    ) -> dict[str, Any]:
        """Settle how hard the graphs of all shards are to be searched, into an empty folder."""
        contents = [files.read(shard, completed_settings) for shard in shards]
        ends = np.cumsum([0, *(len(content.rows) for _, content, _ in contents)])
        orders = [np.arange(first, last) for first, last in pairwise(ends.tolist())]
        engine = cls._over(settings, shards, orders, {}, folder)
        engine.measured = mean_recall([measured for _, _, measured in contents])
        if settings["ann"] != "exact":
            samples = [mapped_array(shard / _SAMPLE, np.float32, 2) for shard in shards]
            engine._settle_effort(np.concatenate([some for some in samples if len(some)] or samples[:1]), progress)
        known = {"settings": dict(engine.settings), "measured": engine.measured}
        files.write_card(folder, _JOINED, {**known, "fingerprint": engine.fingerprint, "shards": len(shards)})
        return {
            "settings": dict(engine.settings),
            "without_vector": engine.without_vector,
            "measured": engine.measured,
            "problems": engine.problems,
        }

    @classmethod
    def load_shards(
        cls, folder: Path, shards: Sequence[Path], orders: Sequence[Ints], only: Sequence[int] | None = None
    ) -> Self:
        """The engine over shards that were joined in a folder, or some; `orders` has the row of each of their rows."""
        card = files.read_card(folder, _JOINED, completed_settings)
        if not card.get("shards") == len(shards) == len(orders):
            raise damaged(folder, f"is damaged: it was joined of {card.get('shards')!r} shards, not {len(shards)}")
        return cls._over(card["settings"], shards, orders, card["measured"], folder, only)

    @classmethod
    def _over(
        cls,
        settings: Mapping[str, Any],
        shards: Sequence[Path],
        orders: Sequence[Ints],
        measured: Mapping[str, float],
        folder: Path,
        only: Sequence[int] | None = None,
    ) -> Self:
        parts = files.read_shards(shards, orders, only, settings, completed_settings)
        return cls(settings, parts, measured=measured, place=str(folder))

    @property
    def _contents(self) -> list[EmbeddedRows]:
        return [shard.content for shard in self._shards]

    @property
    def vectors(self) -> NDArray[np.float32]:
        """The vector of each distinct text, shard after shard."""
        if len(self._shards) == 1 and self._contents[0].vectors.precision == "float32":
            return self._contents[0].vectors.values
        full = [content.vectors[:] for content in self._contents if len(content.vectors)]
        return np.concatenate(full) if full else np.zeros((0, 0), np.float32)

    @property
    def row_vectors(self) -> NDArray[np.float32]:
        """The vector of each row; zeros where it has none."""
        return self.vectors_of(np.arange(len(self)))

    def vectors_of(self, rows: Ints) -> NDArray[np.float32]:
        """The vector of each of some rows; zeros where it has none."""
        vectors = np.zeros((len(rows), self._dimension), np.float32)
        for shard in self._shards:
            places = shard.place_of(rows)
            held = np.flatnonzero(places >= 0)
            if len(held):
                vectors[held] = shard.content.vectors[places[held]]
        return vectors

    def median_cosine(self, query: NDArray[np.float32]) -> float:
        """The median of the cosines of a query and all rows, to five digits; a row without a vector has 0."""
        with self._threads(query[None]):
            by_row = np.concatenate([content.row_products(query) for content in self._contents])
        return float(np.median(np.round(by_row, 5)))

    @property
    def _dimension(self) -> int:
        """How many numbers a vector has; 0 where no row has one."""
        return max((content.vectors.shape[1] for content in self._contents if len(content.vectors)), default=0)

    @property
    def known(self) -> tuple[Known, ...]:
        """What a later build need not embed again."""
        return tuple(Known(one.fingerprint, one.digests, one.vectors, one.vectors.precision) for one in self._contents)

    @property
    def without_vector(self) -> int:
        """How many rows are never found, since the model makes nothing of their texts."""
        return sum(int((content.rows < 0).sum()) for content in self._contents)

    @property
    def fingerprint(self) -> str:
        """What made the vectors."""
        contents = self._contents
        return next((one.fingerprint for one in contents if len(one.vectors)), contents[0].fingerprint)

    @property
    def problems(self) -> list[Problem]:
        """What was measured of the engine and should be known."""
        return list(problems_of(self.settings, self.measured))

    def __len__(self) -> int:
        return sum(len(content.rows) for content in self._contents)

    def _settle_effort(self, queries: NDArray[np.float32], progress: Progress) -> None:
        """Measure how much of exact search the graphs find, and search harder until it is enough, unless told how."""
        if self.settings["ann"] != "hnsw":
            return
        asked = self.settings["ef_search"]
        progress("measuring recall", 0, 1)
        effort, self.measured = settle_effort(queries, self._near, EFFORTS if asked == AUTO else (asked,))
        self.settings = {**self.settings, "ef_search": effort}
        progress("measuring recall", 1, 1)

    @property
    def embedder_settings(self) -> EmbedderSettings:
        """What embeds the queries, where the user has named the host or the folder that it takes."""
        return permitted(EmbedderSettings.of(self.settings["embedder"]), self._place)

    @cached_property
    def embedder(self) -> EmbeddingModel:
        """What embeds the queries, loaded when the first one comes; the one that made the vectors, or an error."""
        embedder = self._embedder or embedder_named(self.embedder_settings)
        if embedder.fingerprint != self.fingerprint:
            raise KaratError(
                f"the vectors of this index were made by {self.fingerprint!r}, but the embedder here is "
                f"{embedder.fingerprint!r}. Vectors of two models cannot be compared: index again."
            )
        return embedder

    def search(self, queries: Sequence[str], depth: int = 100) -> Ranked:
        """The nearest rows of each query, by cosine."""
        if not queries or not self._dimension:  # nobody is asked to embed for nothing
            check_depth(depth)
            return Ranked.empty(len(queries))
        return self.search_vectors(self.embed_queries(queries), depth)

    def embed_queries(self, queries: Sequence[str]) -> NDArray[np.float32]:
        """The vectors of queries, by the embedder that made those of the rows."""
        return self.embedder.embed(queries, "query")

    def search_vectors(self, queries: NDArray[np.float32], depth: int = 100) -> Ranked:
        """The nearest rows of queries that are vectors of length 1 already (or zeros, which find nothing)."""
        check_depth(depth)
        full = self._comparable(queries)
        parts = []
        for start in range(0, len(full), _QUERIES):
            numbers = full[start : start + _QUERIES]
            asked = np.ascontiguousarray(queries[numbers])
            parts.append((numbers, self._near(asked, depth, self.settings.get("ef_search"))))
        return concatenated(parts, len(queries))

    def _near(self, asked: NDArray[np.float32], depth: int, effort: int | None) -> Ranked:
        """The nearest rows of some queries, the best of each shard merged into those of the shards before."""
        with self._threads(asked, effort):
            ranked = self._shards[0].search(asked, depth, effort)
            for shard in self._shards[1:]:
                ranked = merged([ranked, shard.search(asked, depth, effort)], depth)
        return ranked

    def ranks_of(self, queries: Sequence[str], rows: Sequence[Ints]) -> Ints:
        """For each query the rank of the best of its rows in an exact search of all rows; 0: it finds none."""
        wanted = [n for n, some in enumerate(rows) if any(len(shard.places(some)) for shard in self._shards)]
        ranks = np.zeros(len(queries), np.int64)
        for start in range(0, len(wanted), _RANKED):
            numbers = wanted[start : start + _RANKED]
            asked = self.embed_queries([queries[number] for number in numbers])
            best = self.best_of(asked, [rows[number] for number in numbers])
            ranks[numbers] = np.where(np.diff(best.offsets) > 0, self.above(asked, best) + 1, 0)
        return ranks

    def best_of(self, asked: NDArray[np.float32], rows: Sequence[Ints]) -> Ranked:
        """For each query, a vector of length 1 or zeros, the best of its rows, if it finds any."""
        entries = []
        with one_thread():  # a few cosines at a time
            for query in self._comparable(asked).tolist():
                hits = (shard.best(asked[query][None], rows[query]) for shard in self._shards)
                entries += [(query, row, cosine) for cosine, row in (hit for hit in hits if hit is not None)]
        query, row, cosine = (
            (np.array(column) for column in zip(*entries, strict=True)) if entries else [np.zeros(0)] * 3
        )
        return Ranked.ordered(len(asked), query.astype(np.int64), row.astype(np.int64), cosine.astype(np.float64), 1)

    def above(self, asked: NDArray[np.float32], best: Ranked) -> Ints:
        """How many rows stand above the one hit of each query, a vector; 0 where it has none."""
        counts, queries = np.zeros(len(asked), np.int64), best.query
        self._comparable(asked)
        hits = list(zip(best.scores.tolist(), best.rows.tolist(), strict=True))
        for start in range(0, len(queries), _RANKED):
            numbers = queries[start : start + _RANKED]
            some = np.ascontiguousarray(asked[numbers])
            with self._threads(some):
                for shard in (one for one in self._shards if len(one.content.vectors)):
                    counts[numbers] += shard.above(some, hits[start : start + _RANKED])
        return counts

    def _threads(self, asked: NDArray[np.float32], effort: int | None = None) -> AbstractContextManager[Any]:
        """As many threads as pay for a search."""
        vectors = len(self._shards) * effort * LOOKED_AT if effort else sum(len(one.vectors) for one in self._contents)
        return search_threads_for(asked.size * vectors)

    def explain(self, query: str, row: int) -> list[tuple[str, float]]:
        """The cosine of a query and a row; 0 where either has no vector."""
        for shard in self._shards:
            places = shard.places(np.array([row]))
            asked = self.embed_queries([query]) if len(places) else np.zeros((1, 0), np.float32)
            if len(self._comparable(asked)):
                return [("cosine", float(cosines(shard.content.vectors, asked, places[None])[0, 0]))]
        return [("cosine", 0.0)]

    def _comparable(self, asked: NDArray[np.float32]) -> Ints:
        """The numbers of the queries that have a vector, where rows have any."""
        if not self._dimension:
            return np.zeros(0, np.int64)
        if asked.any() and asked.shape[1] != self._dimension:
            label = EmbedderSettings.of(self.settings["embedder"]).label
            raise KaratError(
                f"the embedder {label} makes vectors of {asked.shape[1]} numbers, those of this index have "
                f"{self._dimension}. The model behind it changed: index again."
            )
        return np.flatnonzero(asked.any(axis=1))

    def save(self, folder: Path) -> None:
        """Write an engine of one shard; one of many stands in its folders already."""
        (shard,) = self._shards
        files.write(folder, self.settings, shard.content, self.measured)
        if shard.graph is not None:
            shard.graph.save(folder)

    @classmethod
    def load(cls, folder: Path) -> Self:
        settings, content, measured = files.read(folder, completed_settings)
        shard = VectorShard(content, files.read_graph(folder, settings, content))
        return cls(settings, [shard], measured=measured, place=str(folder))


engine = DenseEngine
