"""Weighted: the weighted sum of normalised scores; alpha x dense + (1 - alpha) x sparse for a hybrid."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from karat.core.errors import UsageError, did_you_mean
from karat.fuse._fusion import Contributions, Fusion
from karat.fuse._legs import Legs

if TYPE_CHECKING:
    from karat.core.ranked import Floats

Normalise = Literal["max", "minmax", "zscore", "none"]
NORMALISE: tuple[Normalise, ...] = get_args(Normalise)
"""Ways of making the scores of a list comparable; the first is the default."""


def contribute(legs: Legs, *, weights: Floats | None = None, normalise: Normalise = NORMALISE[0]) -> Contributions:
    """Weight x normalised score. A single consulted leg is taken as it is, so that the result equals it.

    A leg of weight 0 is not consulted: what it alone found does not enter.
    """
    if normalise not in NORMALISE:
        near = did_you_mean(str(normalise), NORMALISE)
        raise UsageError(f"weighted: normalise={normalise!r} is unknown.{near} There are {', '.join(NORMALISE)}.")
    if len(legs) == 1:
        return Contributions(legs.scores, legs.scores)
    weights = np.full(len(legs), 1 / len(legs)) if weights is None else weights
    return Contributions.weighted(legs.normalised(normalise), weights)


fusion = Fusion("weighted", "weighted sum of the legs' normalised scores", contribute)


def alpha_weights(alpha: float) -> tuple[float, float]:
    """The weights of a hybrid's two legs, dense and sparse.

    >>> alpha_weights(0.75)
    (0.75, 0.25)
    """
    if isinstance(alpha, bool) or not isinstance(alpha, int | float) or not 0 <= alpha <= 1:
        raise UsageError(f"alpha={alpha!r} is not between 0 (sparse only) and 1 (dense only).")
    return float(alpha), 1.0 - alpha
