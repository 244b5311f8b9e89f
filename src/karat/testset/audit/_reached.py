"""Recall of engines over a test set, and what any ranking could reach, by kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from karat.core.ranked import Ranked
from karat.diagnose.ceilings import best_of
from karat.results.audit import ALL, Attained

if TYPE_CHECKING:
    from karat.core.judged import Bools, Floats, Ints
    from karat.core.types import Question
    from karat.match import Resolution
    from karat.testset.audit._view import Vectors

CUTS = (1, 5, 20)
DEPTH = 20
_TOGETHER = 512
NO_KIND = "(none)"


@dataclass(frozen=True)
class Found:
    """Recall of each question at each of the cuts (NaN without relevant gold), and the rank of its first gold (0)."""

    recall: Mapping[int, Floats]
    first: Ints


def nearest(vectors: Vectors, queries: Vectors, depth: int) -> Ranked:
    """The rows most like each query, by cosine; a vector of zeros is like nothing."""
    depth = min(depth, len(vectors))
    lives: Bools = np.asarray(vectors.any(axis=1))
    query, rows, scores = [], [], []
    for start in range(0, len(queries), _TOGETHER):
        part = queries[start : start + _TOGETHER]
        cosines = np.where(lives[None, :] & np.asarray(part.any(axis=1))[:, None], part @ vectors.T, -np.inf)
        top = np.argpartition(-cosines, depth - 1, axis=1)[:, :depth]
        best = np.take_along_axis(cosines, top, axis=1)
        who, place = np.nonzero(np.isfinite(best))
        query.append(who + start)
        rows.append(top[who, place])
        scores.append(best[who, place].astype(np.float64))
    if not query:
        return Ranked.empty(len(queries))
    return Ranked.ordered(len(queries), np.concatenate(query), np.concatenate(rows), np.concatenate(scores))


def found_by(ranked: Ranked, resolution: Resolution) -> Found:
    """How well rankings find the units of each question."""
    count = len(ranked)
    recall = {k: np.full(count, np.nan) for k in CUTS}
    first = np.zeros(count, np.int64)
    for q in range(count):
        units = [u for u in resolution.of_question(q) if resolution.relevant[u]]
        if not units:
            continue
        rank = {row: place for place, row in enumerate(ranked.of(q)[0].tolist(), 1)}
        at = [min((rank[row] for row in resolution.holders[u].tolist() if row in rank), default=0) for u in units]
        for k in CUTS:
            recall[k][q] = sum(1 for place in at if 0 < place <= k) / len(units)
        first[q] = min((place for place in at if place), default=0)
    return Found(recall, first)


def attained(questions: Sequence[Question], resolution: Resolution, found: Mapping[str, Found]) -> tuple[Attained, ...]:
    """Recall at each cut by kind, all kinds together first."""
    most = _ceilings(resolution)
    kinds: dict[str, list[int]] = {ALL: sorted(most)}
    for q in sorted(most):
        kinds.setdefault(questions[q].kind or NO_KIND, []).append(q)
    if len(kinds) == 2 and NO_KIND in kinds:
        del kinds[NO_KIND]
    rows = []
    for kind, members in kinds.items():
        if not members:
            continue
        for k in CUTS:
            columns = {name: f.recall[k][members] for name, f in found.items()}
            means = {name: float(column.mean()) for name, column in columns.items()}
            better = float(np.max(list(columns.values()), axis=0).mean()) if columns else None
            bests = [most[q][k] for q in members]
            rows.append(
                Attained(
                    kind, len(members), k, means.get("bm25"), means.get("dense"), better,
                    float(np.mean([value for value, _ in bests])), all(exact for _, exact in bests),
                )
            )  # fmt: skip
    return tuple(rows)


def _ceilings(resolution: Resolution) -> dict[int, dict[int, tuple[float, bool]]]:
    """For each question with relevant gold the highest Recall at each cut, and whether a ranking reaches it."""
    made = {}
    for q in np.unique(resolution.units.question[resolution.relevant]).tolist():
        units = [u for u in resolution.of_question(q) if resolution.relevant[u]]
        of_row: dict[int, set[int]] = {}
        if len(units) == 1:
            of_row = {0: {0}} if len(resolution.holders[units[0]]) else {}
        else:
            for place, unit in enumerate(units):
                for row in resolution.holders[unit].tolist():
                    of_row.setdefault(row, set()).add(place)
        patterns = {frozenset(places) for places in of_row.values()}
        best = best_of([int(resolution.units.grade[u]) for u in units], patterns, CUTS)
        made[q] = {k: (best["Recall", k].value, best["Recall", k].exact) for k in CUTS}
    return made
