"""How much of an exact search over float32 vectors is found: by a graph, or over vectors at a lower precision.

Passages of the collection itself are asked for, evenly spread over it. What counts is how many of the ten nearest of
each, itself left out, are found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from karat.core.docs import Problem
from karat.core.ranked import Ranked
from karat.retrieve._vectors import EmbeddedRows, nearest

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from karat.retrieve._precision import StoredVectors

    Vectors = NDArray[np.float32]
    Search = Callable[[Vectors, int, int | None], Ranked]

ENOUGH = 0.95
"""The share of the ten nearest that a graph should find."""
EFFORTS = (256, 512, 1024, 2048, 4096, 8192)
"""How many candidates a search of a graph keeps: the first of these that finds enough."""
_DEPTH = 10
_QUERIES = 200


def recall_at_precision(vectors: Vectors, stored: StoredVectors) -> dict[str, float]:
    """What is found over vectors as they are stored; nothing where there are too few to tell."""
    places = _spread(len(vectors))
    if len(vectors) < 2:
        return {}
    depth = min(_DEPTH + 1, len(vectors))
    wanted, found = (nearest(of, vectors[places], depth)[1] for of in (type(stored)(vectors), stored))
    return {"queries": len(places), "recall": _recall(wanted.tolist(), found.tolist())}


def mean_recall(measured: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Of several shards together."""
    queries = sum(one["queries"] for one in measured if one)
    if not queries:
        return {}
    return {"queries": queries, "recall": sum(one["recall"] * one["queries"] for one in measured if one) / queries}


def settle_effort(
    contents: Sequence[EmbeddedRows], search: Search, efforts: Sequence[int]
) -> tuple[int, dict[str, float]]:
    """The first of these efforts that finds enough, or the last, and what it finds.

    `search` takes queries, a depth and the effort of graphs; without one it is exact.
    """
    ends = np.cumsum([len(content.vectors) for content in contents])
    if ends[-1] < 2:
        return efforts[0], {}
    places = _spread(int(ends[-1]))
    owners = np.searchsorted(ends, places, side="right")
    asked = np.concatenate(
        [
            content.vectors[places[owners == shard] - (ends[shard] - len(content.vectors))]
            for shard, content in enumerate(contents)
            if (owners == shard).any()
        ]
    )
    wanted = _lists(search(asked, _DEPTH + 1, None))
    recall = 0.0
    for effort in efforts:
        recall = _recall(wanted, _lists(search(asked, _DEPTH + 1, effort)))
        if recall >= ENOUGH:
            break
    return effort, {"queries": len(places), "recall": recall}


def problems_of(settings: Mapping[str, Any], measured: Mapping[str, float]) -> Iterator[Problem]:
    """What a user should know of what was measured."""
    if not measured:
        return
    found = f"{measured['recall']:.3f} of the {_DEPTH} nearest of {measured['queries']:,.0f} passages"
    if precision := settings.get("precision"):
        reason = f"over vectors stored as {precision} a search finds {found} that it finds over float32."
        yield Problem("engine dense", "precision", reason, remedy="float32 finds all of them.", fatal=False)
    elif measured["recall"] < ENOUGH:
        reason = f"with ef_search = {settings['ef_search']} a search of the graph finds {found}, less than {ENOUGH}."
        remedy = "Set ef_search, m or ef_construction higher, or ann to exact, which finds all."
        yield Problem("engine dense", "recall", reason, remedy=remedy, fatal=False)


def _spread(count: int) -> NDArray[np.int64]:
    """Some of so many places, evenly spread, each once."""
    return np.unique(np.linspace(0, max(0, count - 1), min(count, _QUERIES)).astype(np.int64))


def _lists(ranked: Ranked) -> list[list[int]]:
    return [rows.tolist() for rows, _ in ranked]


def _recall(wanted: Sequence[list[int]], found: Sequence[list[int]]) -> float:
    """The mean share of each wanted list, its first (what was asked for) left out, that is in the found one."""
    shares = [len(set(ours[1:]) & set(theirs)) / len(ours[1:]) for ours, theirs in zip(wanted, found, strict=True)]
    return float(np.mean(shares))
