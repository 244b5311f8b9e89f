"""Encoder: what every embedder does around its model. Prefixes, blank texts, unit length, checks."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from karat.core.errors import KaratError, UsageError
from karat.core.text.wellformed import well_formed
from karat.models._embedder import EmbedderSettings, Role

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Encode = Callable[[list[str]], NDArray[np.float32]]


class Encoder:
    """An embedder around `encode`, which makes one row of any length for each text.

    `identity` names the model so that another one gets another name: a version or a digest of its weights. `dimension`
    may be unknown until the first vectors are there; it never changes after that. `batch` is how many texts one call
    of `embed` should be given at a time, `place` what messages call the embedder.
    """

    def __init__(
        self,
        settings: EmbedderSettings,
        identity: str,
        encode: Encode,
        dimension: int | None = None,
        *,
        batch: int = 256,
        place: str | None = None,
    ) -> None:
        self.settings, self.dimension, self.batch = settings, dimension, batch
        self.place = place or f"the embedder {settings.label}"
        prefix = f" passage_prefix={json.dumps(settings.passage_prefix)}" if settings.passage_prefix else ""
        self.fingerprint = f"{settings.name} {identity}{f' {dimension}d' if dimension else ''}{prefix}"
        self._encode = encode

    def embed(self, texts: Sequence[str], role: Role) -> NDArray[np.float32]:
        prefix = self.settings.query_prefix if role == "query" else self.settings.passage_prefix
        full = [i for i, text in enumerate(texts) if text.strip()]
        made = self._encode([well_formed(prefix + texts[i]) for i in full]) if full else np.zeros((0, 0), np.float32)
        if full:
            self._check(made, len(full))
        rows = np.zeros((len(texts), self.dimension or 0), np.float32)
        if full:
            rows[full] = unit(made)
        return rows

    def _check(self, made: NDArray[np.float32], wanted: int) -> None:
        if made.ndim != 2 or len(made) != wanted or made.shape[1] == 0:
            raise KaratError(
                f"{self.place} returned an array of shape {made.shape} for {wanted} texts. "
                "One row for each text was expected: choose another embedder."
            )
        if self.dimension is None:
            self.dimension = int(made.shape[1])
        if made.shape[1] != self.dimension:
            raise KaratError(
                f"{self.place} returned vectors of {made.shape[1]} numbers after vectors of {self.dimension}. "
                "Vectors of two models cannot be compared: see that one model answers, then try again."
            )
        if not np.isfinite(made).all():
            raise KaratError(
                f"{self.place} returned a vector with a number that is not finite (NaN or infinity). "
                "The model is broken or the text too long for it: choose another embedder."
            )


def unit(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """The rows at length 1, as float32; a row of zeros stays one.

    >>> unit(np.array([[3.0, 4.0], [0.0, 0.0]])).tolist()
    [[0.6000000238418579, 0.800000011920929], [0.0, 0.0]]
    """
    wide = np.asarray(rows, np.float64)
    with np.errstate(over="ignore", under="ignore"):
        largest = np.abs(wide).max(axis=1, keepdims=True, initial=0.0)
        wide = wide / np.where(largest > 0, largest, 1.0)
        lengths = np.sqrt((wide * wide).sum(axis=1, keepdims=True))
    return np.asarray(wide / np.where(lengths > 0, lengths, 1.0), dtype=np.float32)


def digest_of(files: Iterable[Path]) -> str:
    """A short digest of the contents of some files."""
    made = hashlib.blake2b(digest_size=8)
    for file in files:
        with file.open("rb") as opened:
            made.update(hashlib.file_digest(opened, "blake2b").digest())
    return made.hexdigest()


def folder_of(settings: EmbedderSettings, *needed: str) -> Path:
    """The folder that the settings' target names, with the files an embedder needs."""
    if not settings.target:
        raise UsageError(f"the embedder {settings.name} needs a folder: write {settings.name}:FOLDER.")
    folder = Path(settings.target).expanduser()
    if not folder.is_dir():
        raise UsageError(
            f"the embedder {settings.label}: {folder} is not a folder. karat never downloads a model: "
            "name a folder on this machine."
        )
    missing = [name for name in needed if not (folder / name).is_file()]
    if missing:
        raise UsageError(
            f"the embedder {settings.label}: {folder} holds no {' and no '.join(missing)}. "
            "Name the folder that holds the exported model."
        )
    return folder


def no_target(settings: EmbedderSettings) -> None:
    """Refuse a target where the embedder takes none."""
    if settings.target:
        raise UsageError(
            f"the embedder {settings.name} takes nothing after the colon, found {settings.target!r}. "
            f"Write --embedder {settings.name}."
        )


def not_installed(settings: EmbedderSettings, package: str, extra: str) -> UsageError:
    """What to say where the package of an embedder is missing."""
    return UsageError(
        f"the embedder {settings.label} needs {package}, which is not installed. Run: pip install 'karat[{extra}]'"
    )
