"""`milvus:FILE-or-URL#collection`: a collection of Milvus, searched as it is, in a file of Milvus Lite or on a server.

The token of a server is read from MILVUS_TOKEN, or from the variable that `#collection?key_env=NAME` names.
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
from karat.retrieve._stored import Found, VectorStore, exact_search, from_l2

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from karat.models import Embedder

_METRICS = {"COSINE": "cosine", "IP": "ip", "L2": "l2"}
_OPTIONS = ("key_env",)
_VECTORS = ("FLOAT_VECTOR", "FLOAT16_VECTOR", "BFLOAT16_VECTOR")
_EXACT = ("FLAT",)
_UNDECLARED = "$meta"
"""What Milvus calls all fields of an entity that its schema does not name."""
_SAMPLE = 33
_MOST_READ = 16_384  # rows that Milvus returns at once
_FAULTS = (RuntimeError, OSError, ValueError, KeyError, TypeError)


class MilvusStore(VectorStore):
    """A collection of Milvus."""

    name: ClassVar[str] = "milvus"

    def __init__(self, target: StoreTarget, client: Any, embedder: Embedder | None) -> None:
        self._target, self._client = target, client
        with self._errors():
            about = client.describe_collection(target.name)
            fields = about["fields"]
            self._id = next(one["name"] for one in fields if one.get("is_primary"))
            self._named = [self._id, *([target.options["id"]] if "id" in target.options else [])]
            self._column, dimension = self._vector(fields)
            index = self._index()
            client.load_collection(target.name)
            total = int(client.query(target.name, filter="", output_fields=["count(*)"])[0]["count(*)"])
            sample = client.query(target.name, filter="", limit=_SAMPLE, output_fields=["*"])
        if index["metric_type"] not in _METRICS:
            raise KaratError(f"{target.shown} measures by {index['metric_type']}; karat reads {', '.join(_METRICS)}.")
        self._metric = _METRICS[index["metric_type"]]
        super().__init__(target.shown, total, dimension, embedder)
        vectors = np.array([row[self._column] for row in sample], np.float64)
        self.describe_scores(self._metric, vectors)
        self._fields = [one["name"] for one in fields if "VECTOR" not in one["type"].name]
        self._fields += [_UNDECLARED] if about.get("enable_dynamic_field") else []
        self.notes += target.notes(map(dict, sample))
        if index["index_type"] not in _EXACT:
            self._describe_index(str(index["index_type"]), vectors)

    @classmethod
    def open(cls, target: str, embedder: Embedder | None) -> Self:
        parsed = StoreTarget.parse(cls.name, target, _OPTIONS)
        given: dict[str, Any] = {"timeout": SECONDS}
        if parsed.host is not None:
            given |= {
                "uri": parsed.place,
                "token": key_for(parsed.place, parsed.options.get("key_env", "MILVUS_TOKEN")),
            }
        else:
            file = Path(parsed.place).expanduser()
            if not file.exists():
                raise InputError(
                    "there is no such file",
                    place=parsed.place,
                    remedy="Name the file that MilvusClient(...) was given, or the address of a server.",
                )
            given |= {"uri": str(file)}
        pymilvus = driver("pymilvus", parsed.place, cls.name)
        with _milvus_errors(parsed.place):
            client = pymilvus.MilvusClient(**given)
            names = client.list_collections()
        name = chosen(parsed, names, "collection")
        return cls(StoreTarget(cls.name, parsed.place, name, parsed.options), client, embedder)

    @classmethod
    def asks(cls, target: str) -> str | None:
        """The host of a server."""
        return StoreTarget.parse(cls.name, target, _OPTIONS).host

    def _errors(self) -> AbstractContextManager[None]:
        return _milvus_errors(self._target.shown)

    def _vector(self, fields: list[dict[str, Any]]) -> tuple[str, int]:
        """The field of vectors, and how many numbers each has."""
        able = {one["name"]: int(one["params"]["dim"]) for one in fields if one["type"].name in _VECTORS}
        named = self._target.column("vector", list(able)) if "vector" in self._target.options else None
        if named is None and len(able) != 1:
            which = f"several fields of vectors ({', '.join(able)})" if able else "no field of vectors"
            raise UsageError(f"{self._target.shown} has {which}. Name one: #{self._target.name}?vector=FIELD.")
        column = named or next(iter(able))
        return column, able[column]

    def _index(self) -> dict[str, Any]:
        for name in self._client.list_indexes(self._target.name, field_name=self._column):
            index: dict[str, Any] | None = self._client.describe_index(self._target.name, index_name=name)
            if index is not None and "metric_type" in index:
                return index
        raise UsageError(
            f"{self._target.shown}: the field {self._column!r} has no index, without which Milvus does not search. "
            "Create one: client.create_index."
        )

    def _describe_index(self, kind: str, vectors: NDArray[np.float64]) -> None:
        """What the index finds of an exact search, which is made here: Milvus has none beside an index."""
        if self.total > _MOST_READ:
            self.notes += (f"the index ({kind}) may be approximate: not measured above {_MOST_READ:,} rows.",)
            return
        with self._errors():
            rows = self._client.query(
                self._target.name, filter="", limit=_MOST_READ, output_fields=[*self._named, self._column]
            )
        stored = np.array([row[self._column] for row in rows], np.float64)
        chunks = [self._chunk(row[self._id], row) for row in rows]
        self.describe_recall(kind, vectors, exact_search(chunks, stored, self._metric))

    def nearest(self, queries: NDArray[np.float32], depth: int) -> Found:
        numbers: list[int] = []
        chunks: list[Chunk] = []
        raw: list[float] = []
        for number, query in enumerate(queries):
            with self._errors():
                (hits,) = self._client.search(
                    self._target.name,
                    data=[query.tolist()],
                    anns_field=self._column,
                    limit=min(depth, _MOST_READ),
                    output_fields=self._fields,
                )
                rows = [dict(hit["entity"]) for hit in hits]
                raw += [float(hit["distance"]) for hit in hits]
                ids = [hit[self._id] if self._id in hit else hit["id"] for hit in hits]
            numbers += [number] * len(rows)
            chunks += [self._chunk(id_, row) for id_, row in zip(ids, rows, strict=True)]
        values = np.array(raw, np.float64)  # of L2 the square of the distance
        return numbers, chunks, (from_l2(values) if self._metric == "l2" else values).tolist()

    def _chunk(self, id_: Any, row: dict[str, Any]) -> Chunk:
        return self._target.chunk(id_, {name: value for name, value in row.items() if name != self._column})


store = MilvusStore


def _milvus_errors(place: str) -> AbstractContextManager[None]:
    exceptions: Any = driver("pymilvus.exceptions", place, "milvus")
    remedy = "See that the server runs and its token is right, or that nothing else has the file open."
    return store_errors("Milvus", place, (exceptions.MilvusException, *_FAULTS), remedy)
