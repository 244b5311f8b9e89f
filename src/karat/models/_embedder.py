"""What an embedder is: texts in, one unit vector each out; and what every embedder does around its model."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from platform import node
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol

import numpy as np

from karat.core.errors import KaratError, UsageError
from karat.core.models import EmbeddingModel
from karat.core.registry import Registry
from karat.core.text.wellformed import well_formed
from karat.models.hosts import ServerSettings

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Encode = Callable[[list[str]], NDArray[np.float32]]

Role = Literal["query", "passage"]
_AT_OPENAI = "openai"  # the embedder whose target is the name of a model at an address
LANGUAGES: dict[str, frozenset[str]] = {
    "wordllama": frozenset({"en"}),
    "sbert": frozenset({"en"}),  # all-MiniLM-L6-v2
    "multilingual": frozenset(
        ["ar", "de", "en", "es", "fr", "it", "ja", "ko", "nl", "pl", "pt", "ru", "th", "tr", "zh"]
    ),
}
"""What the models that lie inside packages know, by label. Of any other only its owner knows."""


@dataclass(frozen=True)
class EmbedderSettings(ServerSettings):
    """Which embedder, in plain values (JSON). `name` and `target` are the two sides of `--embedder onnx:PATH`.

    `base_url`, `key_env`, `timeout_seconds` and `retries` are for embedders that ask an endpoint.
    """

    kind: ClassVar[str] = "embedder"
    name: str = "wordllama"
    target: str | None = None
    _: KW_ONLY
    query_prefix: str = ""
    passage_prefix: str = ""

    @classmethod
    def parse(cls, text: str, **more: Any) -> EmbedderSettings:
        """From `wordllama` or `openai:text-embedding-3-small`."""
        name, _, target = text.partition(":")
        return cls(name, target or None, **more)

    @property
    def label(self) -> str:
        """As on the command line: `openai:text-embedding-3-small`."""
        return f"{self.name}:{self.target}" if self.target else self.name

    @property
    def address(self) -> str | None:
        return self.server if self.base_url or self.name == _AT_OPENAI else None

    @property
    def folder(self) -> str | None:
        return self.target if self.name != _AT_OPENAI else None

    def is_made_once(self, *, is_cluster: bool) -> bool:
        """Whether the process that leads is to embed alone.

        An endpoint is asked from one place, which has the key, and a folder of a model is loaded once on a machine.
        """
        return self.address is not None or (self.folder is not None and not is_cluster)

    def knows(self, language: str | None) -> bool:
        """Whether the model was made for a language; yes where the model or the language (None) is unknown to karat."""
        return language is None or self.label not in LANGUAGES or language in LANGUAGES[self.label]


class Embedder(EmbeddingModel, Protocol):
    """An embedder that is ready to use.

    `fingerprint` changes whenever the vector of a passage may change (model, version, passage prefix): it is what
    cached vectors are kept under. `embed` returns float32 rows of length 1, prefix put before each text; a text
    without anything to embed gets a row of zeros, which is similar to nothing. A failure is a KaratError.
    """

    settings: EmbedderSettings


Maker = Callable[[EmbedderSettings], Embedder]


def _find(source: Any) -> Maker | None:
    maker = getattr(source, "embedder", source)
    return maker if callable(maker) and not isinstance(maker, type) else None


EMBEDDERS: Registry[Maker] = Registry("embedder", ("karat.models.embedders",), "karat.embedders", _find)


def embedder_named(settings: EmbedderSettings) -> Embedder:
    """The embedder the settings name, loaded."""
    return EMBEDDERS.get(settings.name)(settings)


def same_embedder(settings: EmbedderSettings, fingerprint: str) -> Embedder:
    """The embedder the settings name, for a worker: it must have the fingerprint of the one that the vectors are of."""
    embedder = embedder_named(settings)
    if embedder.fingerprint != fingerprint:
        raise KaratError(
            f"the embedder {settings.label} is {embedder.fingerprint!r} on the worker {node()!r}, and {fingerprint!r} "
            "is needed: put the same model on every machine, since vectors of two models cannot be compared."
        )
    return embedder


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
        if not full:
            return np.zeros((len(texts), self.dimension or 0), np.float32)
        encoded = self._encode([well_formed(prefix + texts[i]) for i in full])
        self._check(encoded, len(full))
        rows = np.zeros((len(texts), encoded.shape[1]), np.float32)
        rows[full] = unit(encoded)
        return rows

    def _check(self, rows: NDArray[np.float32], wanted: int) -> None:
        if rows.ndim != 2 or len(rows) != wanted or rows.shape[1] == 0:
            raise KaratError(
                f"{self.place} returned an array of shape {rows.shape} for {wanted} texts. "
                "One row for each text was expected: choose another embedder."
            )
        if self.dimension is None:
            self.dimension = int(rows.shape[1])
        if rows.shape[1] != self.dimension:
            raise KaratError(
                f"{self.place} returned vectors of {rows.shape[1]} numbers after vectors of {self.dimension}. "
                "Vectors of two models cannot be compared: see that one model answers, then try again."
            )
        if not np.isfinite(rows).all():
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
