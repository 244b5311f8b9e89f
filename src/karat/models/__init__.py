"""What talks to a model: embedders, one a file, and rerankers."""

from karat.models._cache import Embedded, Known, embed_all, text_digest
from karat.models._embedder import EMBEDDERS, LANGUAGES, Embedder, EmbedderSettings, Role, embedder_named
from karat.models._endpoint import wait_of

__all__ = [
    "EMBEDDERS",
    "LANGUAGES",
    "Embedded",
    "Embedder",
    "EmbedderSettings",
    "Known",
    "Role",
    "embed_all",
    "embedder_named",
    "text_digest",
    "wait_of",
]
