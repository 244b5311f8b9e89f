"""Embedding many texts once: what is known from before, or from a build that was killed, is not embedded again."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np

from karat.core.errors import InputError, KaratError
from karat.io.checksum import row_checksums
from karat.io.writing import private, unwritable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from karat.core.models import EmbeddingModel

    Vectors = NDArray[np.float32]
    Digests = NDArray[np.uint8]

_SIZE = 16
_MAGIC = "karat vectors 2"


class Rows(Protocol):
    """Vectors that can be taken by their places."""

    def __getitem__(self, places: NDArray[np.int64], /) -> Vectors: ...


@dataclass(frozen=True)
class Known:
    """Vectors that some texts have under a fingerprint, by the digest of the text.

    `vectors` may be on disk; `precision` is what they were rounded to there.
    """

    fingerprint: str
    digests: Digests
    vectors: Rows
    precision: str = "float32"

    def places(self, digests: Digests) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The places of those of some texts that are known, and the numbers of these.

        Digests are looked up by their first half. Of two texts that have that in common one may go unnoticed.
        """
        if not len(digests):
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        wanted = _first_half(digests)
        order = np.argsort(wanted)
        nearest = np.searchsorted(wanted[order], _first_half(self.digests))
        numbers = order.take(nearest, mode="clip")
        places = np.flatnonzero((digests[numbers] == self.digests).all(axis=1))
        return places, numbers[places]


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


def _first_half(digests: Digests) -> NDArray[np.uint64]:
    return np.ascontiguousarray(digests[:, : _SIZE // 2]).view(np.uint64)[:, 0]


def text_digest(text: str) -> bytes:
    """What a text is known by: 16 bytes."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_SIZE).digest()


def embed_all(
    embedder: EmbeddingModel,
    texts: Sequence[str],
    known: Sequence[Known] = (),
    journal: Path | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> Embedded:
    """The vectors of the passages `texts`.

    Vectors of `known` are taken over if its fingerprint is the embedder's. Every batch is appended to the file
    `journal`, from which the next attempt goes on if this one is killed or fails; who keeps the vectors deletes it.
    """
    digests = [text_digest(text) if text.strip() else b"" for text in texts]
    first_of: dict[bytes, int] = {}
    for i, digest in enumerate(digests):
        if digest:
            first_of.setdefault(digest, i)
    distinct = list(first_of)
    number_of = {digest: number for number, digest in enumerate(distinct)}
    log = VectorJournal(journal, embedder.fingerprint) if journal else None
    names = np.frombuffer(b"".join(distinct), np.uint8).reshape(-1, _SIZE)
    table = _VectorTable(len(distinct))
    for source in (*known, *([log.known] if log and log.known else ())):
        if source.fingerprint == embedder.fingerprint:
            places, numbers = source.places(names)
            table.fill(numbers, source.vectors[places])
    missing = np.flatnonzero(~table.filled)
    batch = getattr(embedder, "batch", 256)
    for start in range(0, len(missing), batch):
        some = missing[start : start + batch]
        fresh = [distinct[number] for number in some.tolist()]
        try:
            rows = embedder.embed([texts[first_of[name]] for name in fresh], "passage")
        except KaratError as error:
            raise KaratError(f"{error} {_done(start, len(missing), log is not None)}") from error
        table.fill(some, rows)
        if log:
            log.add(fresh, rows)
        if progress:
            progress("embedding", start + len(some), len(missing))
    full = table.vectors.any(axis=1)
    place = np.append(np.where(full, np.cumsum(full) - 1, -1), -1)
    return Embedded(
        names[full],
        table.vectors if full.all() else table.vectors[full],
        place[np.fromiter((number_of.get(digest, -1) for digest in digests), np.int64, len(digests))],
        len(distinct) - len(missing),
    )


class _VectorTable:
    """The vectors of some texts, filled as they come; the first of them say how many numbers each has."""

    def __init__(self, size: int) -> None:
        self.vectors: Vectors = np.zeros((size, 0), np.float32)
        self.filled = np.zeros(size, bool)

    def fill(self, numbers: NDArray[np.int64], rows: Vectors) -> None:
        """The vectors of some of the texts."""
        if not len(numbers):
            return
        if not self.filled.any():
            self.vectors = np.empty((len(self.filled), rows.shape[1]), np.float32)
        sizes = sorted((self.vectors.shape[1], rows.shape[1]))
        if sizes[0] < sizes[1]:
            raise KaratError(
                f"the embedder made vectors of {sizes[0]} and of {sizes[1]} numbers, now and before. "
                "The model behind it changed: build the index again, from nothing."
            )
        self.vectors[numbers] = rows
        self.filled[numbers] = True


def _done(done: int, total: int, is_kept: bool) -> str:
    if not done:
        return "Nothing was embedded."
    after = "They are kept: the next attempt goes on from there" if is_kept else "They are not kept"
    return f"{done:,} of {total:,} texts were embedded before. {after}."


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
