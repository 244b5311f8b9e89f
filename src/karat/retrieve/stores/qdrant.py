"""`qdrant:FOLDER-or-URL#collection`: a collection of Qdrant, in a folder of its client or on a server, as it is.

The key of a server is read from QDRANT_API_KEY, or from the variable that `#collection?key_env=NAME` names. Ids are
those of the points, or a field of their payload: `?id=FIELD`.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from karat.core.docs import Chunk
from karat.core.errors import InputError, KaratError, UsageError
from karat.models.hosts import key_for
from karat.retrieve._store_target import SECONDS, StoreTarget, chosen, driver, store_errors
from karat.retrieve._stored import Found, VectorStore, from_l2

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from karat.models import Embedder

_METRICS = {"Cosine": "cosine", "Dot": "ip", "Euclid": "l2"}
_OPTIONS = ("key_env",)
_SAMPLE = 33
_FAULTS = (RuntimeError, OSError, ValueError, KeyError, TypeError)


class QdrantStore(VectorStore):
    """A collection of Qdrant."""

    name: ClassVar[str] = "qdrant"

    def __init__(self, target: StoreTarget, client: Any, embedder: Embedder | None) -> None:
        self._target, self._client = target, client
        with self._errors():
            about = client.get_collection(target.name)
            total = int(client.count(target.name).count)
            self._using, settings = self._vector(about.config.params.vectors)
            points = client.scroll(target.name, limit=_SAMPLE, with_payload=True, with_vectors=True)[0]
        if settings.distance.value not in _METRICS:
            raise KaratError(
                f"{target.shown} measures by {settings.distance.value}; karat reads {', '.join(_METRICS)}."
            )
        self._metric = _METRICS[settings.distance.value]
        super().__init__(target.shown, total, int(settings.size), embedder)
        stored = [point.vector if self._using is None else (point.vector or {}).get(self._using) for point in points]
        vectors = np.array([vector for vector in stored if vector is not None], np.float64)
        self.describe_scores(self._metric, vectors)
        self.notes += target.notes(point.payload or {} for point in points)
        if target.is_address and about.indexed_vectors_count:
            self.describe_recall("HNSW", vectors, self._found(exact=True))

    @classmethod
    def open(cls, target: str, embedder: Embedder | None) -> Self:
        parsed = StoreTarget.parse(cls.name, target, _OPTIONS)
        given: dict[str, Any] = {"timeout": int(SECONDS)}
        if parsed.host is not None:
            key = key_for(parsed.place, parsed.options.get("key_env", "QDRANT_API_KEY"))
            given |= {"url": parsed.place, "api_key": key or None, "check_compatibility": False}
        else:
            folder = Path(parsed.place).expanduser()
            if not (folder / "meta.json").is_file():
                raise InputError(
                    "holds no meta.json" if folder.is_dir() else "there is no such folder",
                    place=parsed.place,
                    remedy="Name the folder that QdrantClient(path=...) was given, or the address of a server.",
                )
            given |= {"path": str(folder)}
        qdrant = driver("qdrant_client", parsed.place, cls.name)
        with _qdrant_errors(parsed.place):
            client = qdrant.QdrantClient(**given)
            names = [one.name for one in client.get_collections().collections]
        name = chosen(parsed, names, "collection")
        return cls(StoreTarget(cls.name, parsed.place, name, parsed.options), client, embedder)

    @classmethod
    def asks(cls, target: str) -> str | None:
        """The host of a server."""
        return StoreTarget.parse(cls.name, target, _OPTIONS).host

    def _errors(self) -> AbstractContextManager[None]:
        return _qdrant_errors(self._target.shown)

    def _vector(self, vectors: Any) -> tuple[str | None, Any]:
        """The name of the vectors, None where they have none, and how they are measured."""
        named = self._target.options.get("vector")
        if not isinstance(vectors, dict):
            if named is not None or vectors is None:
                raise UsageError(f"{self._target.shown} has no vectors that are called {named!r}: leave vector= out.")
            return None, vectors
        if (named is None and len(vectors) != 1) or (named is not None and named not in vectors):
            raise UsageError(
                f"{self._target.shown} has vectors called {', '.join(vectors) or 'nothing'}. "
                f"Name one: #{self._target.name}?vector=NAME."
            )
        name = named or next(iter(vectors))
        return name, vectors[name]

    def nearest(self, queries: NDArray[np.float32], depth: int) -> Found:
        return self._found()(queries, depth)

    def _found(self, *, exact: bool = False) -> Callable[[NDArray[np.float32], int], Found]:
        """A search, by the index or by going through all points."""
        models: Any = driver("qdrant_client.models", self._target.place, self.name)
        given: dict[str, Any] = {"search_params": models.SearchParams(exact=True)} if exact else {}

        def search(queries: NDArray[np.float32], depth: int) -> Found:
            numbers: list[int] = []
            chunks: list[Chunk] = []
            raw: list[float] = []
            for number, query in enumerate(queries):
                with self._errors():
                    points = self._client.query_points(
                        self._target.name,
                        query=query.tolist(),
                        using=self._using,
                        limit=depth,
                        with_payload=True,
                        **given,
                    ).points
                numbers += [number] * len(points)
                chunks += (self._target.chunk(point.id, point.payload or {}) for point in points)
                raw += [point.score for point in points]
            values = np.array(raw, np.float64)
            return numbers, chunks, (from_l2(values**2) if self._metric == "l2" else values).tolist()

        return search


store = QdrantStore


def _qdrant_errors(place: str) -> AbstractContextManager[None]:
    exceptions: Any = driver("qdrant_client.http.exceptions", place, "qdrant")
    remedy = "See that the server runs and its key is right, or that nothing else has the folder open."
    return store_errors("Qdrant", place, (exceptions.ApiException, *_FAULTS), remedy)
