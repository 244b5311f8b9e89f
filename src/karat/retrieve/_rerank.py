"""Reranking: the first hits of each query, ordered anew by a model that reads query and passage together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np

from karat.core.errors import KaratError, UsageError
from karat.core.ranked import Ranked
from karat.retrieve._engine import Progress

if TYPE_CHECKING:
    from numpy.typing import NDArray


class PairScorer(Protocol):
    """What reranks: `karat.models.cross_encoder.CrossEncoder`, or anything that scores (query, passage) pairs."""

    def score(self, pairs: Sequence[tuple[str, str]], /) -> NDArray[np.float64]: ...


def rerank(
    ranked: Ranked,
    texts_of: Callable[[int], str],
    queries: Sequence[str],
    encoder: PairScorer,
    depth: int = 50,
    progress: Progress | None = None,
) -> Ranked:
    """The first `depth` hits of each query in the encoder's order; the rest follow below as they stood.

    The first carry the encoder's scores. Those of the rest are places, not similarities: the lowest score above them
    less 1, less 2 and so on (in larger steps where float32 would not tell these apart). Each query is scored on its
    own, so that its ranking does not depend on the other queries of a run.
    """
    if isinstance(depth, bool) or not isinstance(depth, int) or depth < 1:
        raise UsageError(f"reranking: the depth {depth!r} is not a whole number of 1 or more.")
    if len(queries) != len(ranked):
        raise UsageError(f"reranking: {len(queries)} queries for {len(ranked)} rankings. Give the query of each.")
    scores = np.empty(len(ranked.rows))
    for i, query in enumerate(queries):
        start, end = int(ranked.offsets[i]), int(ranked.offsets[i + 1])
        middle = min(start + depth, end)
        if middle > start:
            pairs = [(query, texts_of(row)) for row in ranked.rows[start:middle].tolist()]
            scores[start:middle] = _scored(encoder, pairs)
            floor = float(scores[start:middle].min())
            step = max(1.0, abs(floor) * 2.0**-20)
            scores[middle:end] = floor - step * np.arange(1, end - middle + 1)
        if progress is not None:
            progress("reranking", i + 1, len(queries))
    return Ranked.ordered(len(ranked), ranked.query, ranked.rows, scores)


def _scored(encoder: PairScorer, pairs: list[tuple[str, str]]) -> NDArray[np.float64]:
    scores = np.asarray(encoder.score(pairs), np.float64)
    if scores.shape != (len(pairs),) or not np.isfinite(scores).all():
        raise KaratError(
            f"the reranker gave {scores.shape} for {len(pairs)} pairs, or a score that is not finite. "
            "One finite number for each pair was expected: choose another."
        )
    return scores
