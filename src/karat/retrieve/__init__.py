"""Engines: texts in, ranked rows out. One engine a file."""

from karat.core.progress import Progress
from karat.retrieve._engine import (
    ENGINES,
    STORES,
    EarlierJoin,
    Engine,
    ShardedEngine,
    Store,
    check_store,
    host_asked,
    is_embedded,
    merged,
)
from karat.retrieve._rerank import ListScorer, Reranked, rerank
from karat.retrieve._stored import StoreError

__all__ = [
    "ENGINES",
    "STORES",
    "EarlierJoin",
    "Engine",
    "ListScorer",
    "Progress",
    "Reranked",
    "ShardedEngine",
    "Store",
    "StoreError",
    "check_store",
    "host_asked",
    "is_embedded",
    "merged",
    "rerank",
]
