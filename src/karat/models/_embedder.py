"""What an embedder is: texts in, one unit vector each out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

from karat.core.registry import Registry

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Role = Literal["query", "passage"]


@dataclass(frozen=True)
class EmbedderSettings:
    """Which embedder, in plain values (JSON). `name` and `target` are the two sides of `--embedder onnx:PATH`.

    A key never stands here: `key_env` names the environment variable that holds it.
    """

    name: str = "wordllama"
    target: str | None = None
    query_prefix: str = ""
    passage_prefix: str = ""
    base_url: str | None = None
    key_env: str = "OPENAI_API_KEY"

    @classmethod
    def parse(cls, text: str, **more: Any) -> EmbedderSettings:
        """From `wordllama` or `openai:text-embedding-3-small`."""
        name, _, target = text.partition(":")
        return cls(name, target or None, **more)

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> EmbedderSettings:
        return cls(**values)

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
