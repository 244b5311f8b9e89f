"""What talks to a model: embedders, one a file, chat models and rerankers."""

from karat.models._embedder import EMBEDDERS, LANGUAGES, Embedder, EmbedderSettings, Encoder, Role, embedder_named
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
    "text_digest",
]
