"""The search API of Elasticsearch and OpenSearch, which they share but for vectors, asked over HTTP."""

from __future__ import annotations

import base64
import json
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from math import isfinite
from typing import Any, ClassVar, Self
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from karat.core.docs import Chunk
from karat.core.errors import KaratError, UsageError
from karat.models import Embedder
from karat.models.endpoint import JsonEndpoint, RequestFailure, after
from karat.models.hosts import Blot, announce_host, key_for
from karat.retrieve._store_target import SECONDS, StoreTarget
from karat.retrieve._stored import Found, StoreError, VectorStore, exact_search, from_l2

OPTIONS = ("key_env", "user")
MOST_HITS = 10_000  # that the servers return at once, unless an index says otherwise
_MOST_NUMBERS = 2_000_000  # of vectors that are read to measure what an index finds
_SAMPLE = 33


class SearchServer(JsonEndpoint):
    """A server that is asked for an index. The key stands in a variable, with `user` as the password of that user."""

    def __init__(self, target: StoreTarget, key_env: str) -> None:
        if target.host is None:
            raise UsageError(f"{target.kind}: write the address of a server, like http://localhost:9200#index.")
        if not target.name:
            raise UsageError(f"{target.kind}: name the index after #: {target.kind}:{target.place}#INDEX.")
        variable, user = target.options.get("key_env", key_env), target.options.get("user")
        key = key_for(target.place, variable)
        self._headers = {"Accept": "application/json"}
        if key and user:
            self._headers["Authorization"] = f"Basic {base64.b64encode(f'{user}:{key}'.encode()).decode()}"
        elif key:
            self._headers["Authorization"] = f"ApiKey {key}"
        self._blot, self.target = Blot([variable]), target
        announce_host(target.place, variable)
        super().__init__(target.host, timeout_seconds=SECONDS, retries=2, retry_late=False)

    def blotted(self, text: str) -> str:
        return self._blot(text)

    def _stops(self, status: int, reason: str, content: bytes) -> str:
        wanted = "Set the variable of its key (key_env=), and user= for a password."
        return f"refuses the key, or there is none ({reason}). {wanted}" if status in (401, 403) else ""

    def ask(self, path: str, payload: Any = None) -> Any:
        """The JSON of a reply about the index; one that some shards did not finish has failed."""
        url = f"{self.target.place.rstrip('/')}/{quote(self.target.name, safe='')}/{path}"
        method = "GET" if payload is None else "POST"
        content, attempts = self.submit(
            self.with_retries(lambda: self.fetch(method, url, payload, self._headers))
        ).result()
        if isinstance(content, RequestFailure):
            if content.status == 404:
                raise UsageError(f"{self.place} has no index {self.target.name!r} ({content.reason}).")
            kind = KaratError if content.fatal else StoreError
            raise kind(f"{self.target.shown}: {after(content, attempts).rstrip('.')}.")
        try:
            reply = json.loads(content)
            assert isinstance(reply, dict)
        except (ValueError, RecursionError, AssertionError):
            raise StoreError(f"{self.target.shown} replied with something that is no JSON object.") from None
        shards = reply.get("_shards")
        lost = shards.get("failed") if isinstance(shards, Mapping) else None
        if reply.get("timed_out") or lost:
            why = f"{lost} shards failed" if lost else f"the search took longer than {SECONDS:.0f} seconds"
            raise StoreError(f"{self.target.shown}: {why}, so that hits may be missing. See the server's log.")
        return reply

    @cached_property
    def fields(self) -> Mapping[str, Mapping[str, Any]]:
        """The fields of the index, or of the first that an alias means."""
        for index in self.ask("_mapping").values():
            mappings = index.get("mappings") if isinstance(index, Mapping) else None
            properties = mappings.get("properties") if isinstance(mappings, Mapping) else None
            if isinstance(properties, Mapping):
                return {str(name): about for name, about in properties.items() if isinstance(about, Mapping)}
        return {}

    def count(self) -> int:
        """How many documents there are."""
        total = self.ask("_count").get("count")
        if type(total) is not int:
            raise StoreError(
                f"{self.target.shown} does not say how many documents it has: no search API of Elasticsearch."
            )
        return total

    def hits(self, payload: Mapping[str, Any]) -> list[dict[str, Any]]:
        """The hits of a search, as many as it asks for."""
        reply = self.ask("_search", {"track_total_hits": False, "timeout": f"{SECONDS:.0f}s", **payload})
        try:
            return [_hit(hit) for hit in reply["hits"]["hits"][: payload["size"]]]
        except (KeyError, TypeError, ValueError):
            raise StoreError(
                f"{self.target.shown} replied without hits.hits as the search API of Elasticsearch has them."
            ) from None

    def chunk(self, hit: Mapping[str, Any]) -> Chunk:
        """A hit as a chunk; its id is that of the document, or the field that the user names."""
        return self.target.chunk(hit["_id"], hit["_source"])


class SearchVectors(VectorStore):
    """Vectors of an index: what Elasticsearch and OpenSearch do alike."""

    name: ClassVar[str]
    field_type: ClassVar[str]
    key_env: ClassVar[str]

    def __init__(self, target: StoreTarget, server: SearchServer, embedder: Embedder | None) -> None:
        self._server = server
        able = [name for name, about in server.fields.items() if about.get("type") == self.field_type]
        chosen = target.column("vector", able) if "vector" in target.options else None
        if chosen is None and len(able) != 1:
            which = f"several fields of vectors ({', '.join(able)})" if able else f"no field of type {self.field_type}"
            raise UsageError(f"{target.shown} has {which}. Name one: #{target.name}?vector=FIELD.")
        self._field = chosen or able[0]
        dimension, space = self.described(server.fields[self._field])
        self._space, self._metric = space, self.metric_of(space)
        dimension = dimension if type(dimension) is int else None
        super().__init__(target.shown, server.count(), dimension, embedder)
        sample = server.hits({"size": _SAMPLE, "query": {"match_all": {}}})
        vectors = _vectors([hit["_source"].get(self._field) for hit in sample])
        self.describe_scores(self._metric, vectors)
        self.notes += (f"scores were brought back from those of {self.name} ({space}), which are above 0.",)
        self.notes += target.notes(hit["_source"] for hit in sample[:16])
        if dimension and 2 < self.total <= MOST_HITS and self.total * dimension <= _MOST_NUMBERS and len(vectors):
            named = [target.options["id"]] if "id" in target.options else []
            hits = server.hits({"size": self.total, "query": {"match_all": {}}, "_source": [self._field, *named]})
            stored = _vectors([hit["_source"].pop(self._field, None) for hit in hits])
            if len(stored) == len(hits):
                self.describe_recall("HNSW", vectors, exact_search([*map(server.chunk, hits)], stored, self._metric))
        else:
            self.notes += ("the index may be approximate; what it misses was not measured.",)

    @classmethod
    def open(cls, target: str, embedder: Embedder | None) -> Self:
        parsed = StoreTarget.parse(cls.name, target, OPTIONS)
        return cls(parsed, SearchServer(parsed, cls.key_env), embedder)

    @classmethod
    def asks(cls, target: str) -> str | None:
        """The host of the server."""
        return StoreTarget.parse(cls.name, target, OPTIONS).host

    def described(self, about: Mapping[str, Any]) -> tuple[int | None, str]:
        """How many numbers a vector has, and how they are compared, by the mapping of their field."""
        raise NotImplementedError

    def metric_of(self, space: str) -> str:
        """cosine, ip or l2."""
        raise NotImplementedError

    def query(self, vector: Sequence[float], depth: int) -> dict[str, Any]:
        """What to ask for the nearest."""
        raise NotImplementedError

    def cosines(self, scores: NDArray[np.float64]) -> NDArray[Any]:
        """Scores of a cosine space as cosines."""
        return 2.0 * scores - 1.0

    def nearest(self, queries: NDArray[np.float32], depth: int) -> Found:
        numbers: list[int] = []
        chunks: list[Chunk] = []
        raw: list[float] = []
        for number, query in enumerate(queries):
            size = min(depth, MOST_HITS)
            payload = {"size": size, "_source": {"excludes": [self._field]}, **self.query(query.tolist(), size)}
            hits = self._server.hits(payload)
            numbers += [number] * len(hits)
            chunks += map(self._server.chunk, hits)
            raw += [hit["_score"] for hit in hits]
        return numbers, chunks, self._scores(np.array(raw, np.float64)).tolist()

    def _scores(self, scores: NDArray[np.float64]) -> NDArray[Any]:
        """Scores as the servers make them, above 0, as what they were made of."""
        positive = np.maximum(scores, np.finfo(np.float64).tiny)
        if self._metric == "l2":
            return from_l2(1.0 / positive - 1.0)
        if self._metric == "cosine":
            return self.cosines(scores)
        return self.products(positive)

    def products(self, scores: NDArray[np.float64]) -> NDArray[Any]:
        """Scores of a space of inner products as these: above 1 they are 1 more, below 1/(1 - product)."""
        return np.where(scores >= 1.0, scores - 1.0, 1.0 - 1.0 / scores)


def _hit(hit: Mapping[str, Any]) -> dict[str, Any]:
    score = float(hit["_score"])
    if not isfinite(score):
        raise ValueError(score)
    return {"_id": str(hit["_id"]), "_score": score, "_source": dict(hit.get("_source") or {})}


def _vectors(stored: Collection[Any]) -> NDArray[np.float64]:
    """Those values that are vectors of one length."""
    vectors = [vector for vector in stored if isinstance(vector, list) and vector]
    same = [vector for vector in vectors if len(vector) == len(vectors[0])]
    return np.array(same, np.float64) if same else np.zeros((0, 0))
