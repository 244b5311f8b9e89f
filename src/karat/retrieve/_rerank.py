"""Reranking: the first hits of each query, ordered anew by a model that reads query and passage together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np

from karat.core.errors import KaratError, UsageError
from karat.core.models import PairScorer
from karat.core.ranked import Ranked

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from karat.models.chat_reranker import Scored


@runtime_checkable
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
    scorer: PairScorer | ListScorer,
    depth: int = 50,
) -> Reranked:
    """The first `depth` hits of each query in the scorer's order; the rest follow below as they stood.

    The first carry the scorer's scores. Those of the rest are places, not similarities: the lowest score above them
    less 1, less 2 and so on (in larger steps where float32 would not tell these apart). What scores pairs is given the
    list of each query on its own, so that a ranking does not depend on the other queries of a run; what reads lists is
    given all of them at once, and may fail on some.
    """
    _check(ranked, queries, depth)
    first = [ranked.of(i)[0][:depth].tolist() for i in range(len(ranked))]
    asked = [i for i, rows in enumerate(first) if rows]
    lists = [(queries[i], [texts_of(row) for row in first[i]]) for i in asked]
    replies = scorer.score_lists(lists) if isinstance(scorer, ListScorer) else _by_pairs(scorer, lists)
    scores, seconds, failed = ranked.scores.copy(), np.zeros(len(ranked)), dict[int, str]()
    for i, scored in zip(asked, replies, strict=True):
        seconds[i] = scored.seconds
        if scored.scores is None:
            failed[i] = scored.error or "the reranker gave no scores."
        else:
            _put(scores, ranked, i, _checked(scored.scores, len(first[i])))
    return Reranked(Ranked.ordered(len(ranked), ranked.query, ranked.rows, scores), failed, seconds)


def _by_pairs(scorer: PairScorer, lists: Sequence[tuple[str, Sequence[str]]]) -> Iterator[Scored]:
    from karat.models.chat_reranker import Scored

    for query, texts in lists:
        yield Scored(scorer.score([(query, text) for text in texts]))


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
