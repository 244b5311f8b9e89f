"""Reranking: the first hits of each query, ordered anew by a model that reads query and passage together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import numpy as np

from karat.core.errors import KaratError, UsageError
from karat.core.ranked import Ranked
from karat.retrieve._engine import Progress

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from karat.models.chat_reranker import Scored


class PairScorer(Protocol):
    """What reranks: `karat.models.cross_encoder.CrossEncoder`, or anything that scores (query, passage) pairs."""

    def score(self, pairs: Sequence[tuple[str, str]], /) -> NDArray[np.float64]: ...


class ListScorer(Protocol):
    """What reads all passages of a query together, and many queries at a time, as a chat model does."""

    def score_lists(self, lists: Sequence[tuple[str, Sequence[str]]], /) -> Sequence[Scored]: ...


@dataclass(frozen=True)
class Reranked:
    """The new rankings; those that failed stand as they stood, with the reason by number. Seconds are by query."""

    ranked: Ranked
    failed: Mapping[int, str] = field(default_factory=dict)
    seconds: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))


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
    _check(ranked, queries, depth)
    scores = np.empty(len(ranked.rows))
    for i, query in enumerate(queries):
        first = ranked.of(i)[0][:depth].tolist()
        if first:
            values = encoder.score([(query, texts_of(row)) for row in first])
            _put(scores, ranked, i, _checked(values, len(first)))
        if progress is not None:
            progress("reranking", i + 1, len(queries))
    return Ranked.ordered(len(ranked), ranked.query, ranked.rows, scores)


def rerank_lists(
    ranked: Ranked, texts_of: Callable[[int], str], queries: Sequence[str], scorer: ListScorer, depth: int = 20
) -> Reranked:
    """The same by what reads lists: it is given all of them at once, and may fail on some."""
    _check(ranked, queries, depth)
    first = [ranked.of(i)[0][:depth].tolist() for i in range(len(ranked))]
    asked = [i for i, rows in enumerate(first) if rows]
    replies = scorer.score_lists([(queries[i], [texts_of(row) for row in first[i]]) for i in asked])
    scores, seconds, failed = ranked.scores.copy(), np.zeros(len(ranked)), dict[int, str]()
    for i, scored in zip(asked, replies, strict=True):
        seconds[i] = scored.seconds
        if scored.scores is None:
            failed[i] = scored.error or "the reranker gave no scores."
        else:
            _put(scores, ranked, i, _checked(scored.scores, len(first[i])))
    return Reranked(Ranked.ordered(len(ranked), ranked.query, ranked.rows, scores), failed, seconds)


def _check(ranked: Ranked, queries: Sequence[str], depth: int) -> None:
    if isinstance(depth, bool) or not isinstance(depth, int) or depth < 1:
        raise UsageError(f"reranking: the depth {depth!r} is not a whole number of 1 or more.")
    if len(queries) != len(ranked):
        raise UsageError(f"reranking: {len(queries)} queries for {len(ranked)} rankings. Give the query of each.")


def _put(scores: NDArray[np.float64], ranked: Ranked, i: int, new: NDArray[np.float64]) -> None:
    """Give the first hits of a query their new scores, and the rest places below them."""
    start, end = int(ranked.offsets[i]), int(ranked.offsets[i + 1])
    middle = start + len(new)
    scores[start:middle] = new
    floor = float(new.min())
    step = max(1.0, abs(floor) * 2.0**-20)
    scores[middle:end] = floor - step * np.arange(1, end - middle + 1)


def _checked(values: object, pairs: int) -> NDArray[np.float64]:
    scores = np.asarray(values, np.float64)
    if scores.shape != (pairs,) or not np.isfinite(scores).all():
        raise KaratError(
            f"the reranker gave {scores.shape} for {pairs} pairs, or a score that is not finite. "
            "One finite number for each pair was expected: choose another."
        )
    return scores
