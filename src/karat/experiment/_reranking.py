"""Reranking as a step of a system: by a cross-encoder in a folder, or by a chat model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from karat.core.errors import UsageError

if TYPE_CHECKING:
    from karat.core.docs import Chunks
    from karat.core.means import Means
    from karat.core.ranked import Ranked
    from karat.retrieve import Reranked

CHAT = "chat"  # named in place of a folder


def reranked_by(
    model: str, depth: int, means: Means, ranked: Ranked, chunks: Chunks, questions: Sequence[str]
) -> Reranked:
    """The first `depth` hits of each question ordered anew; lists that a chat model failed on are told apart."""
    from karat.retrieve import rerank

    first = (ranked.of(i)[0][:depth].tolist() for i in range(len(ranked)))
    for row in dict.fromkeys(row for rows in first for row in rows):
        if not chunks[row].text.strip():
            raise UsageError(
                f"reranking reads texts, and the hit {chunks[row].id!r} has none. Put a .jsonl file with ids and "
                "texts beside the store, or name the index that holds its chunks."
            )
    if model == CHAT:
        from karat.models.chat_reranker import ChatReranker

        scorer = ChatReranker(means.chat_for("reranking by chat"))
        return rerank(ranked, lambda row: chunks[row].text, questions, scorer, depth)
    from karat.models.cross_encoder import CrossEncoder

    started = perf_counter()
    done = rerank(ranked, lambda row: chunks[row].text, questions, CrossEncoder(model), depth)
    spent = (perf_counter() - started) / max(1, len(questions))
    return replace(done, seconds=np.full(len(questions), spent))
