"""`chroma:PATH-or-URL[#collection]`: a collection of Chroma, searched as it is, in its folder or on its server.

Queries are embedded by karat: Chroma's own embedding function is never called, nor downloaded. Telemetry is off, and a
folder that another version of chromadb would have to migrate first is refused. Chroma keeps its own books in a folder
that it opens, also to read: work on a copy where that matters.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self
from urllib.parse import urlsplit

import numpy as np

from karat.core.docs import Chunk
from karat.core.errors import InputError, KaratError, UsageError, did_you_mean
from karat.retrieve._stored import VectorStore, chunk_of, from_l2, lengths_note, pages_notes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from karat.models import Embedder

_LANGCHAIN = "langchain"  # what LangChain calls its collection: it keeps page_content and metadata there
_SECONDS = 60.0
_QUERIES = 64
_SAMPLE = 16
_FAULTS = (RuntimeError, OSError, KeyError, TypeError, AttributeError, ValueError)


class ChromaStore(VectorStore):
    """A collection of Chroma. Scores are cosines where its space is cosine, too."""

    name: ClassVar[str] = "chroma"

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
            self.notes = (note,) if note else ()
        self._from_0 = collection.name == _LANGCHAIN
        self.notes += pages_notes(sample["metadatas"] or (), from_0=self._from_0)

    @classmethod
    def open(cls, target: str, embedder: Embedder | None) -> Self:
        place, _, wanted = target.partition("#")
        client = _server(place) if "://" in place else _folder(place)
        with _chroma_errors(place):
            names = sorted(getattr(found, "name", found) for found in client.list_collections())
        offered = f"There are {', '.join(names)}." if names else "It holds none."
        if not wanted and len(names) != 1:
            raise UsageError(
                f"{place} holds {len(names)} collections. {offered} Name one after #: chroma:{place}#NAME."
            )
        if wanted and wanted not in names:
            raise UsageError(f"{place} holds no collection {wanted!r}.{did_you_mean(wanted, names)} {offered}")
        with _chroma_errors(place):
            collection = client.get_collection(wanted or names[0], embedding_function=None)
        return cls(f"{place}#{wanted or names[0]}", collection, embedder)

    def nearest(self, queries: NDArray[np.float32], depth: int) -> tuple[Sequence[int], list[Chunk], Sequence[float]]:
        query: list[int] = []
        hits: list[Chunk] = []
        distances: list[float] = []
        chunks: dict[str, Chunk] = {}
        for start in range(0, len(queries), _QUERIES):
            with _chroma_errors(self.place):
                answer = self._collection.query(
                    query_embeddings=queries[start : start + _QUERIES],
                    n_results=depth,
                    include=["documents", "metadatas", "distances"],
                )
            columns = (answer["ids"], answer["distances"], answer["documents"], answer["metadatas"])
            for number, lists in enumerate(zip(*columns, strict=True), start):
                for id_, distance, text, meta in zip(*lists, strict=True):
                    if id_ not in chunks:
                        chunks[id_] = chunk_of(id_, meta or {}, text or "", from_0=self._from_0)
                    query.append(number)
                    hits.append(chunks[id_])
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


def _chromadb(place: str) -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import chromadb
            import chromadb.config
    except ImportError:
        raise UsageError(
            f"searching {place} needs chromadb, which is not installed. Run: pip install 'karat[chroma]'"
        ) from None
    return chromadb


def _folder(place: str) -> Any:
    folder = Path(place).expanduser()
    if not (folder / "chroma.sqlite3").is_file():
        raise InputError(
            "holds no chroma.sqlite3" if folder.is_dir() else "there is no such folder",
            place=place,
            remedy="Name the folder that Chroma's PersistentClient was given.",
        )
    chromadb = _chromadb(place)
    settings = chromadb.config.Settings(anonymized_telemetry=False, migrations="validate")
    with _chroma_errors(place):
        return chromadb.PersistentClient(path=str(folder), settings=settings)


def _server(place: str) -> Any:
    """A client of a server that answers: Chroma's own would wait without end."""
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
    chromadb = _chromadb(place)
    import httpx

    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
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
        settings = chromadb.config.Settings(anonymized_telemetry=False)
        client = chromadb.HttpClient(parts.hostname, port, ssl=parts.scheme == "https", settings=settings)
        session = getattr(getattr(client, "_server", None), "_session", None)
        if session is not None:
            session.timeout = _SECONDS
        return client


@contextmanager
def _chroma_errors(place: str) -> Iterator[None]:
    """Chroma's failures as karat's, its warnings unheard."""
    from chromadb.errors import ChromaError
    from httpx import HTTPError

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except (ChromaError, HTTPError, *_FAULTS) as error:
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise KaratError(
            f"Chroma failed at {place}: {reason}. See that the store is whole, that a chromadb of the version that "
            "made it is installed, and that nothing else in this process has it open with other settings."
        ) from None
