"""What talks to a model: embedders, one a file, chat models and rerankers."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from karat.models._embedder import (
        EMBEDDERS,
        LANGUAGES,
        Embedder,
        EmbedderSettings,
        Encoder,
        Role,
        embedder_named,
        same_embedder,
    )
    from karat.models._vectors import Embedded, Known, embed_all, text_digest

__all__ = [
    "EMBEDDERS",
    "LANGUAGES",
    "Embedded",
    "Embedder",
    "EmbedderSettings",
    "Encoder",
    "Known",
    "Role",
    "embed_all",
    "embedder_named",
    "same_embedder",
    "text_digest",
]

_OF_VECTORS = ("Embedded", "Known", "embed_all", "text_digest")


def __getattr__(name: str) -> Any:
    """What is asked for, imported then: most of karat asks for no model."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{'_vectors' if name in _OF_VECTORS else '_embedder'}"), name)
