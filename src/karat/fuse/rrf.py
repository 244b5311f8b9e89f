"""RRF: reciprocal rank fusion (Cormack, Clarke and Büttcher 2009). Ranks count, scores do not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from karat.core.errors import UsageError
from karat.core.ranked import Ranked
from karat.fuse._fusion import Fusion, Shares
from karat.fuse._legs import Legs

if TYPE_CHECKING:
    from karat.core.ranked import Floats, Ints

K = 60
"""How little the first ranks stand out, unless told otherwise: the constant of the paper."""


def share(legs: Legs, *, k: float = K, weights: Floats | None = None) -> Shares:
    """Weight / (k + rank); ranks count from 1, and a hit that a leg did not find gets nothing from it."""
    return Shares.weighted(_reciprocal(legs.rank, k), weights)


fusion = Fusion("rrf", "reciprocal rank fusion: the sum of weight / (k + rank)", share)


def fuse_phrasings(ranked: Ranked, owner: Ints, queries: int) -> Ranked:
    """One ranking a question from those of its phrasings: `owner[i]` is the question that query i of `ranked` phrases.

    The sum of 1 / (k + rank) over a question's phrasings, however many each has; a question without any has no hits.
    """
    if len(owner) != len(ranked):
        raise UsageError(f"{len(owner)} owners for {len(ranked)} phrasings. Give the question of each phrasing.")
    if len(owner) and not 0 <= int(owner.min()) <= int(owner.max()) < queries:
        raise UsageError(f"owners from {owner.min()} to {owner.max()} for {queries} questions. They count from 0.")
    contribution = _reciprocal(ranked.rank, K)
    width = 1 + int(ranked.rows.max(initial=0))
    distinct, column = np.unique(owner[ranked.query] * width + ranked.rows, return_inverse=True)
    by_size = np.argsort(contribution, kind="stable")
    scores = np.bincount(column[by_size], contribution[by_size], minlength=len(distinct)).astype(np.float64)
    question, rows = np.divmod(distinct, width)
    return Ranked.ordered(queries, question, rows, scores)


def _reciprocal(rank: Ints, k: Any) -> Floats:
    if isinstance(k, bool) or not isinstance(k, int | float | np.number) or not np.isfinite(k) or k < 0:
        raise UsageError(f"rrf: k={k!r} is not a number of 0 or more.")
    return np.where(rank > 0, 1 / (float(k) + np.maximum(rank, 1)), 0.0)
