"""How much of an exact search over float32 vectors is found: by a graph, or over vectors at a lower precision.

What is asked for are a few words in a row of passages that are evenly spread over the collection. Passages themselves
would be found too easily: they lie where the graph has most links. What counts are the ten nearest of each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from karat.core.docs import Problem
from karat.core.ranked import Ranked
from karat.retrieve._precision import StoredVectors
from karat.retrieve._vectors import nearest

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from karat.models import Embedder

    Vectors = NDArray[np.float32]
    Search = Callable[[Vectors, int, int | None], Ranked]

ENOUGH = 0.95
"""The share of the ten nearest that a graph should find."""
EFFORTS = (256, 512, 1024, 2048, 4096, 8192)
"""How many candidates a search of a graph keeps: the first of these that finds enough."""
_DEPTH = 10
_QUERIES = 200
_WORDS, _LETTERS = 8, 80
"""What a query has of a passage: so many words, and no more letters, for there are texts without spaces."""


def sample_queries(texts: Sequence[str], embedder: Embedder) -> Vectors:
    """Queries made of some of the texts, as vectors; fewer where the model makes nothing of some."""
    full = [i for i, text in enumerate(texts) if text.strip()]
    asked = embedder.embed([_words_of(texts[full[place]]) for place in _spread(len(full)).tolist()], "query")
    return asked[asked.any(axis=1)]


def _words_of(text: str) -> str:
    """Some words in a row from the middle of a text."""
    words = text.split()
    first = max(0, len(words) // 2 - _WORDS // 2)
    return " ".join(words[first : first + _WORDS])[:_LETTERS]


def recall_at_precision(queries: Vectors, vectors: Vectors, stored: StoredVectors) -> dict[str, float]:
    """What queries find over vectors as they are stored; nothing where there is nothing to find."""
    if not len(queries) or not len(vectors):
        return {}
    depth = min(_DEPTH, len(vectors))
    wanted, retrieved = (nearest(of, queries, depth)[1].tolist() for of in (StoredVectors(vectors), stored))
    return {"queries": len(queries), "recall": _recall(wanted, retrieved)}


def mean_recall(measured: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Of several shards together."""
    queries = sum(one["queries"] for one in measured if one)
    if not queries:
        return {}
    return {"queries": queries, "recall": sum(one["recall"] * one["queries"] for one in measured if one) / queries}


def settle_effort(queries: Vectors, search: Search, efforts: Sequence[int]) -> tuple[int, dict[str, float]]:
    """The first of these efforts that finds enough, or the last, and what it finds.

    `search` takes queries, a depth and the effort of graphs; without one it is exact.
    """
    queries = queries[_spread(len(queries))]
    effort, wanted = efforts[0], _lists(search(queries, _DEPTH, None)) if len(queries) else []
    if not any(wanted):
        return effort, {}
    recall = 0.0
    for effort in efforts:
        recall = _recall(wanted, _lists(search(queries, _DEPTH, effort)))
        if recall >= ENOUGH:
            break
    return effort, {"queries": len(queries), "recall": recall}


def problems_of(settings: Mapping[str, Any], measured: Mapping[str, float]) -> Iterator[Problem]:
    """What a user should know of what was measured."""
    if not measured:
        return
    share = f"{measured['recall']:.3f} of the {_DEPTH} nearest of {measured['queries']:,.0f} queries"
    if precision := settings.get("precision"):
        reason = f"over vectors stored as {precision} a search finds {share} that it finds over float32."
        yield Problem("engine dense", "precision", reason, remedy="float32 finds all of them.", fatal=False)
    else:
        is_enough = measured["recall"] >= ENOUGH
        less = "" if is_enough else f", less than {ENOUGH}"
        reason = f"with ef_search = {settings['ef_search']} a search of the graph finds {share}{less}."
        remedy = "Set ef_search, m or ef_construction higher, or ann to exact, which finds all."
        yield Problem("engine dense", "recall", reason, remedy="" if is_enough else remedy, fatal=False)


def _spread(count: int) -> NDArray[np.int64]:
    """Some of so many places, evenly spread, each once."""
    return np.unique(np.linspace(0, max(0, count - 1), min(count, _QUERIES)).astype(np.int64))


def _lists(ranked: Ranked) -> list[list[int]]:
    return [rows.tolist() for rows, _ in ranked]


def _recall(wanted: Sequence[list[int]], retrieved: Sequence[list[int]]) -> float:
    """The mean share of each wanted list that is in the found one."""
    shares = [len(set(ours) & set(theirs)) / len(ours) for ours, theirs in zip(wanted, retrieved, strict=True)]
    return float(np.mean(shares))
