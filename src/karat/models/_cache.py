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
    first: dict[bytes, int] = {}
    distinct: list[str] = []
    rows = np.full(len(texts), -1, np.int64)
    for i, text in enumerate(texts):
        if text.strip():
            rows[i] = first.setdefault(text_digest(text), len(first))
            if rows[i] == len(distinct):
                distinct.append(text)
    wanted = list(first)
    kept = Journal(journal, embedder.fingerprint) if journal else None
    found = _found(first, [k for k in (known, kept.known if kept else None) if k], embedder.fingerprint)
    missing = [n for n in range(len(wanted)) if n not in found]
    made = _embed_missing(embedder, [distinct[n] for n in missing], [wanted[n] for n in missing], kept, progress)
    return _joined(wanted, rows, found, missing, made)


def _found(first: dict[bytes, int], known: list[Known], fingerprint: str) -> dict[int, Vectors]:
    """The vector of each wanted text that is known."""
    found: dict[int, Vectors] = {}
    for source in known:
        if source.fingerprint == fingerprint:
            for digest, vector in zip(map(bytes, source.digests), source.vectors, strict=True):
                if digest in first:
                    found[first[digest]] = vector
    return found


def _embed_missing(
    embedder: Embedder,
    texts: list[str],
    digests: list[bytes],
    journal: Journal | None,
    progress: Callable[[str, int, int], None] | None,
) -> list[Vectors]:
    made: list[Vectors] = []
    batch = getattr(embedder, "batch", 256)
    for start in range(0, len(texts), batch):
        try:
            rows = embedder.embed(texts[start : start + batch], "passage")
        except KaratError as error:
            raise KaratError(f"{error} {_told(start, len(texts), journal)}") from error
        made.append(rows)
        if journal:
            journal.add(digests[start : start + batch], rows)
        if progress:
            progress("embedding", min(start + batch, len(texts)), len(texts))
    return made


def _told(done: int, total: int, journal: Journal | None) -> str:
    if not done:
        return "Nothing was embedded."
    kept = "They are kept: the next attempt goes on from there" if journal else "They are not kept"
    return f"{done:,} of {total:,} texts were embedded before. {kept}."


def _joined(
    wanted: list[bytes],
    rows: NDArray[np.int64],
    found: dict[int, Vectors],
    missing: list[int],
    made: list[Vectors],
) -> Embedded:
    """Everything in one array, without the texts that have no vector."""
    sizes = {len(vector) for vector in found.values()} | {part.shape[1] for part in made}
    if len(sizes) > 1:
        raise KaratError(
            f"the embedder makes vectors of {made[0].shape[1]} numbers, those made before have "
            f"{len(next(iter(found.values())))}. The model behind it changed: build the index anew, from nothing."
        )
    vectors = np.zeros((len(wanted), sizes.pop() if sizes else 0), np.float32)
    if found:
        vectors[list(found)] = np.stack(list(found.values()))
    if missing:
        vectors[missing] = np.concatenate(made)
    digests = np.frombuffer(b"".join(wanted), np.uint8).reshape(-1, _SIZE)
    full = vectors.any(axis=1)
    if full.all():
        return Embedded(digests, vectors, rows, len(found))
    place = np.where(full, np.cumsum(full) - 1, -1)
    return Embedded(digests[full], vectors[full], np.where(rows >= 0, place[rows], -1), len(found))


class Journal:
    """An append-only file of vectors: a line of JSON, then rows of a digest, its vector and a checksum.

    What another fingerprint wrote is put aside for the new one; a row that was cut off or damaged is not taken.
    """

    def __init__(self, path: Path, fingerprint: str) -> None:
        self.path, self.fingerprint = path, fingerprint
        self.dimension: int | None = None
        self.known: Known | None = None
        try:
            self._read()
        except OSError as problem:
            raise InputError(
                f"cannot be read: {problem.strerror}", place=str(path), remedy="Delete it, or repair its permissions."
            ) from None

    def _read(self) -> None:
        if not self.path.exists():
            return
        with self.path.open("rb") as opened:
            head = opened.readline(1 << 16)
            content = opened.read()
        dimension = _dimension(head, self.fingerprint)
        if dimension is None:
            return
        self.dimension = dimension
        row = _row(dimension)
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
        content = rows.tobytes()
        try:
            if self.dimension != dimension:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                head = {"kind": _MAGIC, "fingerprint": self.fingerprint, "dimension": dimension}
                with open(self.path, "wb", opener=private) as opened:
                    opened.write(json.dumps(head).encode() + b"\n" + content)
                self.dimension = dimension
            else:
                with open(self.path, "ab") as opened:
                    opened.write(content)
        except OSError as problem:
            raise unwritable(self.path, problem) from None


def _row(dimension: int) -> np.dtype[np.void]:
    return np.dtype([("digest", np.uint8, (_SIZE,)), ("vector", np.float32, (dimension,)), ("crc32", np.uint32)])


def _dimension(head: bytes, fingerprint: str) -> int | None:
    """The dimension a journal's first line tells, if it is a journal of this fingerprint."""
    try:
        told = json.loads(head)
        dimension = told["dimension"]
        right = told["kind"] == _MAGIC and told["fingerprint"] == fingerprint and head.endswith(b"\n")
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return dimension if right and type(dimension) is int and 0 < dimension < 1 << 20 else None
