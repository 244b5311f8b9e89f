"""RRF: reciprocal rank fusion (Cormack, Clarke and Büttcher 2009). Ranks count, scores do not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from karat.core.errors import UsageError
from karat.core.ranked import Ranked
from karat.fuse._fusion import Contributions, Fusion
from karat.fuse._legs import Legs

if TYPE_CHECKING:
    from karat.core.ranked import Floats, Ints

K = 60
"""How little the first ranks stand out, unless told otherwise: the constant of the paper."""


def contribute(legs: Legs, *, k: float = K, weights: Floats | None = None) -> Contributions:
    """Weight / (k + rank); ranks count from 1, and a hit that a leg did not find gets nothing from it."""
    return Contributions.weighted(_reciprocal(legs.rank, k), weights)


fusion = Fusion("rrf", "reciprocal rank fusion: the sum of weight / (k + rank)", contribute)


def fuse_phrasings(ranked: Ranked, owner: Ints, queries: int) -> Ranked:
    """One ranking a question from those of its phrasings: `owner[i]` is the question that query i of `ranked` phrases.

    The j-th phrasings of all questions are a leg, in which a question that has fewer has no hits.
    """
    order = np.argsort(owner, kind="stable")
    number = np.empty(len(owner), np.int64)  # of each phrasing among those of its question
    number[order] = np.arange(len(owner)) - np.searchsorted(owner[order], owner[order])
    of_hits = number[ranked.query]
    legs = []
    for leg in range(1 + int(number.max(initial=0))):
        hits = of_hits == leg
        legs.append(Ranked.ordered(queries, owner[ranked.query][hits], ranked.rows[hits], ranked.scores[hits]))
    return fusion.fuse(legs)


def _reciprocal(rank: Ints, k: Any) -> Floats:
    if isinstance(k, bool) or not isinstance(k, int | float | np.number) or not np.isfinite(k) or k < 0:
        raise UsageError(f"rrf: k={k!r} is not a number of 0 or more.")
    return np.where(rank > 0, 1 / (float(k) + np.maximum(rank, 1)), 0.0)
