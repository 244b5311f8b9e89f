"""`chroma:PATH-or-URL[#collection]`: a collection of Chroma, searched as it is, in its folder or on its server.

Queries are embedded by karat: Chroma's own embedding function is never called, nor downloaded. Telemetry is off, and a
folder that another version of chromadb would have to migrate first is refused. Chroma keeps its own books in a folder
that it opens, also to read: work on a copy where that matters.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self
from urllib.parse import SplitResult, urlsplit

import numpy as np

from karat.core.docs import Chunk
from karat.core.errors import InputError, KaratError, UsageError
from karat.retrieve._store_target import StoreTarget, chosen, driver, store_errors
from karat.retrieve._stored import Found, VectorStore, chunk_of, from_l2, lengths_note, pages_notes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from karat.models import Embedder

_LANGCHAIN = "langchain"  # what LangChain calls its collection: it keeps page_content and metadata there
_SECONDS = 60.0
_SAMPLE = 16
_FAULTS = (RuntimeError, OSError, KeyError, TypeError, AttributeError, ValueError)


class ChromaStore(VectorStore):
    """A collection of Chroma. Scores are cosines where its space is cosine, too."""

    name: ClassVar[str] = "chroma"
    at_once: ClassVar[int] = 64

    def __init__(self, place: str, collection: Any, embedder: Embedder | None) -> None:
        with _chroma_errors(place):
            self._space = _space(collection)
            total = int(collection.count())
            sample = collection.get(limit=_SAMPLE, include=["embeddings", "metadatas"])
        vectors = np.asarray(sample["embeddings"], np.float64)
        dimension = int(vectors.shape[1]) if vectors.ndim == 2 and len(vectors) else None
        super().__init__(place, total, dimension, embedder)
        self._collection = collection
        if dimension and self._space != "cosine":
            scores = "inner products with it" if self._space == "ip" else "1 - d/2 of its squared distances d"
            self.is_unit, note = lengths_note(vectors, scores)
            self.notes += (note,) if note else ()
        self._from_0 = collection.name == _LANGCHAIN
        self.notes += pages_notes(sample["metadatas"] or (), from_0=self._from_0)

    @classmethod
    def open(cls, target: str, embedder: Embedder | None) -> Self:
        place, _, wanted = target.partition("#")
        client = _server(place) if "://" in place else _folder(place)
        with _chroma_errors(place):
            names = sorted(getattr(entry, "name", entry) for entry in client.list_collections())
        name = chosen(StoreTarget("chroma", place, wanted), names, "collection")
        with _chroma_errors(place):
            collection = client.get_collection(name, embedding_function=None)
        return cls(f"{place}#{name}", collection, embedder)

    @classmethod
    def asks(cls, target: str) -> str | None:
        """The host of a server."""
        place = target.partition("#")[0]
        return _address(place)[0].netloc if "://" in place else None

    def nearest(self, queries: NDArray[np.float32], depth: int) -> Found:
        query: list[int] = []
        hits: list[Chunk] = []
        distances: list[float] = []
        with _chroma_errors(self.place):
            answer = self._collection.query(
                query_embeddings=queries, n_results=depth, include=["documents", "metadatas", "distances"]
            )
        columns = (answer["ids"], answer["distances"], answer["documents"], answer["metadatas"])
        for number, lists in enumerate(zip(*columns, strict=True)):
            for id_, distance, text, meta in zip(*lists, strict=True):
                query.append(number)
                hits.append(chunk_of(id_, meta or {}, text or "", from_0=self._from_0))
                distances.append(distance)
        values = np.asarray(distances, np.float64)
        return query, hits, (from_l2(values) if self._space == "l2" else 1.0 - values).tolist()


store = ChromaStore


def _space(collection: Any) -> str:
    """cosine, ip or l2, which is Chroma's default."""
    settings = collection.configuration_json or {}
    kinds = [settings.get(kind) or {} for kind in ("hnsw", "spann")]
    named = next((kind["space"] for kind in kinds if kind.get("space")), None)
    space = named or (collection.metadata or {}).get("hnsw:space") or "l2"
    if space not in ("cosine", "ip", "l2"):
        raise KaratError(f"the collection {collection.name} measures by {space!r}; karat reads cosine, ip and l2.")
    return str(space)


def _folder(place: str) -> Any:
    folder = Path(place).expanduser()
    if not (folder / "chroma.sqlite3").is_file():
        raise InputError(
            "holds no chroma.sqlite3" if folder.is_dir() else "there is no such folder",
            place=place,
            remedy="Name the folder that Chroma's PersistentClient was given.",
        )
    chromadb = driver("chromadb", place, "chroma")
    settings = driver("chromadb.config", place, "chroma").Settings(anonymized_telemetry=False, migrations="validate")
    with _chroma_errors(place):
        return chromadb.PersistentClient(path=str(folder), settings=settings)


def _address(place: str) -> tuple[SplitResult, int]:
    """The parts of the address of a server, and its port."""
    try:
        parts = urlsplit(place)
        port = parts.port or (443 if parts.scheme == "https" else 8000)
    except ValueError:
        parts, port = urlsplit(""), 0
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.path not in ("", "/") or parts.query:
        shown = place.rpartition("@")[2]
        raise UsageError(f"{shown} is no address of a Chroma server: write http://host:8000#collection.")
    if parts.username is not None or parts.password is not None:
        raise UsageError(f"the address of {parts.hostname} holds a user name or a password: give it without.")
    return parts, port


def _server(place: str) -> Any:
    """A client of a server that answers: Chroma's own would wait without end."""
    parts, port = _address(place)
    chromadb = driver("chromadb", place, "chroma")
    import httpx

    name = parts.hostname or ""
    host = f"[{name}]" if ":" in name else name
    try:
        answer = httpx.get(f"{parts.scheme}://{host}:{port}/api/v2/heartbeat", timeout=_SECONDS / 4)
        answered = answer.is_success and "nanosecond heartbeat" in answer.json()
    except httpx.TimeoutException:
        raise KaratError(f"{place} did not answer within {_SECONDS / 4:g} seconds. See that the server runs.") from None
    except httpx.HTTPError as error:
        raise KaratError(
            f"{place} cannot be reached ({' '.join(str(error).split())}). Start it with: chroma run --path FOLDER"
        ) from None
    except ValueError:
        answered = False
    if not answered:
        raise KaratError(
            f"{place} answers (HTTP {answer.status_code}), but not as a Chroma server of version 1 does. "
            "Correct the address, or update the server."
        )
    with _chroma_errors(place):
        settings = driver("chromadb.config", place, "chroma").Settings(anonymized_telemetry=False)
        client = chromadb.HttpClient(parts.hostname, port, ssl=parts.scheme == "https", settings=settings)
        session = getattr(getattr(client, "_server", None), "_session", None)
        if session is not None:
            session.timeout = _SECONDS
        return client


def _chroma_errors(place: str) -> AbstractContextManager[None]:
    """Chroma's failures as karat's, its warnings unheard."""
    from chromadb.errors import ChromaError
    from httpx import HTTPError

    remedy = (
        "See that the store is whole, that a chromadb of the version that made it is installed, and that nothing else "
        "in this process has it open with other settings."
    )
    return store_errors("Chroma", place, (ChromaError, HTTPError, *_FAULTS), remedy)
