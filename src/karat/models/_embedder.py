"""What an embedder is: texts in, one unit vector each out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

from karat.core.errors import UsageError, did_you_mean
from karat.core.registry import Registry
from karat.models.hosts import KEY_ENV, OPENAI

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

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
class EmbedderSettings:
    """Which embedder, in plain values (JSON). `name` and `target` are the two sides of `--embedder onnx:PATH`.

    A key never stands here: `key_env` names the environment variable that holds it. `base_url`, `key_env`,
    `timeout_seconds` (for one request) and `retries` are for embedders that ask an endpoint.
    """

    name: str = "wordllama"
    target: str | None = None
    query_prefix: str = ""
    passage_prefix: str = ""
    base_url: str | None = None
    key_env: str = KEY_ENV
    timeout_seconds: float = 60.0
    retries: int = 5

    @classmethod
    def parse(cls, text: str, **more: Any) -> EmbedderSettings:
        """From `wordllama` or `openai:text-embedding-3-small`."""
        name, _, target = text.partition(":")
        return cls(name, target or None, **more)

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> EmbedderSettings:
        """From JSON values, as `plain` makes them."""
        known = {field.name: field for field in fields(cls)}
        for name, value in values.items():
            if name not in known:
                raise UsageError(f"unknown embedder setting {name!r}.{did_you_mean(name, known)}")
            wanted = (str, type(None)) if name in ("target", "base_url") else (type(known[name].default),)
            if not isinstance(value, (*wanted, int) if float in wanted else wanted) or isinstance(value, bool):
                raise UsageError(f"the embedder setting {name!r} cannot be {value!r}.")
        return cls(**values)

    @property
    def label(self) -> str:
        """As on the command line: `openai:text-embedding-3-small`."""
        return f"{self.name}:{self.target}" if self.target else self.name

    @property
    def address(self) -> str | None:
        """Where it sends texts; None for a model on this machine."""
        return self.base_url or (OPENAI if self.name == _AT_OPENAI else None)

    @property
    def folder(self) -> str | None:
        """The folder that its model is loaded from; None where the model is part of a package or behind an address."""
        return self.target if self.name != _AT_OPENAI else None

    def knows(self, language: str | None) -> bool:
        """Whether the model was made for a language; yes where the model or the language (None) is unknown to karat."""
        return language is None or self.label not in LANGUAGES or language in LANGUAGES[self.label]

    def plain(self) -> dict[str, Any]:
        """The settings as JSON values."""
        return asdict(self)


@runtime_checkable
class Embedder(Protocol):
    """An embedder that is ready to use.

    `fingerprint` changes whenever the vector of a passage may change (model, version, passage prefix): it is what
    cached vectors are kept under. `embed` returns float32 rows of length 1, prefix put before each text; a text
    without anything to embed gets a row of zeros, which is similar to nothing. A failure is a KaratError.
    """

    settings: EmbedderSettings
    fingerprint: str

    def embed(self, texts: Sequence[str], role: Role) -> NDArray[np.float32]: ...


Maker = Callable[[EmbedderSettings], Embedder]


def _find(source: Any) -> Maker | None:
    found = getattr(source, "embedder", source)
    return found if callable(found) and not isinstance(found, type) else None


EMBEDDERS: Registry[Maker] = Registry("embedder", ("karat.models",), "karat.embedders", _find, partial=True)


def embedder_named(settings: EmbedderSettings) -> Embedder:
    """The embedder the settings name, loaded."""
    return EMBEDDERS.get(settings.name)(settings)
