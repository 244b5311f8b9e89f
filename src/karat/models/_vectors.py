"""Embedding many texts once: what is known from before, or from a build that was killed, is not embedded again."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from karat.core.errors import InputError, KaratError
from karat.io.checksum import row_checksums
from karat.io.writing import private, unwritable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from karat.models._embedder import Embedder

    Vectors = NDArray[np.float32]
    Digests = NDArray[np.uint8]

_SIZE = 16
_MAGIC = "karat vectors 2"


@dataclass(frozen=True)
class Known:
    """Vectors that some texts have under a fingerprint, by the digest of the text."""

    fingerprint: str
    digests: Digests
    vectors: Vectors


@dataclass(frozen=True)
class Embedded:
    """The vectors of some texts, each distinct text once. Text i has vector `rows[i]`, or none at all where -1.

    A text has none if it is blank, or if the model makes zeros of it.
    """

    digests: Digests
    vectors: Vectors
    rows: NDArray[np.int64]
    reused: int
    """How many of the vectors were known before."""


def text_digest(text: str) -> bytes:
    """What a text is known by: 16 bytes."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_SIZE).digest()


def embed_all(
    embedder: Embedder,
    texts: Sequence[str],
    known: Known | None = None,
    journal: Path | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> Embedded:
    """The vectors of the passages `texts`.

    Vectors of `known` are taken over if its fingerprint is the embedder's. Every batch is appended to the file
    `journal`, from which the next attempt goes on if this one is killed or fails; who keeps the vectors deletes it.
    """
    digests = [text_digest(text) if text.strip() else b"" for text in texts]
    distinct = {digest: text for digest, text in zip(digests, texts, strict=True) if digest}
    log = VectorJournal(journal, embedder.fingerprint) if journal else None
    vectors: dict[bytes, Vectors] = {}
    for source in (known, log and log.known):
        if source and source.fingerprint == embedder.fingerprint:
            pairs = zip(map(bytes, source.digests), source.vectors, strict=True)
            vectors.update((digest, vector) for digest, vector in pairs if digest in distinct)
    missing, reused = [digest for digest in distinct if digest not in vectors], len(vectors)
    batch = getattr(embedder, "batch", 256)
    for start in range(0, len(missing), batch):
        some = missing[start : start + batch]
        try:
            rows = embedder.embed([distinct[digest] for digest in some], "passage")
        except KaratError as error:
            raise KaratError(f"{error} {_done(start, len(missing), log is not None)}") from error
        vectors.update(zip(some, rows, strict=True))
        if log:
            log.add(some, rows)
        if progress:
            progress("embedding", start + len(some), len(missing))
    return _joined(digests, {digest: vectors[digest] for digest in distinct}, reused)


def _done(done: int, total: int, kept: bool) -> str:
    if not done:
        return "Nothing was embedded."
    after = "They are kept: the next attempt goes on from there" if kept else "They are not kept"
    return f"{done:,} of {total:,} texts were embedded before. {after}."


def _joined(digests: list[bytes], vectors: dict[bytes, Vectors], reused: int) -> Embedded:
    """Everything in one array, without the texts that have no vector."""
    sizes = sorted(set(map(len, vectors.values())))
    if len(sizes) > 1:
        raise KaratError(
            f"the embedder made vectors of {sizes[0]} and of {sizes[1]} numbers, now and before. "
            "The model behind it changed: build the index again, from nothing."
        )
    stacked = np.stack(list(vectors.values())) if vectors else np.zeros((0, 0), np.float32)
    full = stacked.any(axis=1)
    place = dict(zip(vectors, np.where(full, np.cumsum(full) - 1, -1).tolist(), strict=True))
    return Embedded(
        np.frombuffer(b"".join(vectors), np.uint8).reshape(-1, _SIZE)[full],
        stacked if full.all() else stacked[full],
        np.array([place.get(digest, -1) for digest in digests], np.int64),
        reused,
    )


class VectorJournal:
    """An append-only file of vectors: a line of JSON, then rows of a digest, its vector and a checksum.

    What another fingerprint wrote is put aside for the new one; a row that was cut off or damaged is not taken.
    """

    def __init__(self, path: Path, fingerprint: str) -> None:
        self.path, self.fingerprint = path, fingerprint
        self.dimension: int | None = None
        self.known: Known | None = None
        try:
            self._read()
        except FileNotFoundError:
            pass
        except OSError as problem:
            raise InputError(
                f"cannot be read: {problem.strerror}", place=str(path), remedy="Delete it, or repair its permissions."
            ) from None

    def _read(self) -> None:
        with self.path.open("rb") as opened:
            head = opened.readline(1 << 16)
            content = opened.read()
        self.dimension = _dimension(head, self.fingerprint)
        if self.dimension is None:
            return
        row = _row(self.dimension)
        whole = len(content) // row.itemsize
        if whole * row.itemsize < len(content):
            os.truncate(self.path, len(head) + whole * row.itemsize)
        rows = np.frombuffer(content, row, whole)
        sound = rows[rows["crc32"] == row_checksums(rows)]
        self.known = Known(self.fingerprint, sound["digest"], sound["vector"])

    def add(self, digests: list[bytes], vectors: Vectors) -> None:
        """Append the vectors of some texts; they are in the file when this returns."""
        dimension = vectors.shape[1]
        rows = np.empty(len(digests), _row(dimension))
        rows["digest"] = np.frombuffer(b"".join(digests), np.uint8).reshape(-1, _SIZE)
        rows["vector"] = vectors
        rows["crc32"] = row_checksums(rows)
        begins = self.dimension != dimension
        head = {"kind": _MAGIC, "fingerprint": self.fingerprint, "dimension": dimension}
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with open(self.path, "wb" if begins else "ab", opener=private) as opened:
                opened.write((json.dumps(head).encode() + b"\n" if begins else b"") + rows.tobytes())
        except OSError as problem:
            raise unwritable(self.path, problem) from None
        self.dimension = dimension


def _row(dimension: int) -> np.dtype[np.void]:
    return np.dtype([("digest", np.uint8, (_SIZE,)), ("vector", np.float32, (dimension,)), ("crc32", np.uint32)])


def _dimension(head: bytes, fingerprint: str) -> int | None:
    """The dimension that a journal's first line names, if it is a journal of this fingerprint."""
    try:
        values = json.loads(head)
        dimension = values["dimension"]
        right = values["kind"] == _MAGIC and values["fingerprint"] == fingerprint and head.endswith(b"\n")
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return dimension if right and type(dimension) is int and 0 < dimension < 1 << 20 else None
