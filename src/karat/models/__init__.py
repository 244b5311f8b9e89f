"""What talks to a model: embedders, one a file, and rerankers."""

from karat.models._embedder import EMBEDDERS, Embedder, EmbedderSettings, Role, embedder_named

__all__ = ["EMBEDDERS", "Embedder", "EmbedderSettings", "Role", "embedder_named"]
