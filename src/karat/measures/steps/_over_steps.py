"""What all measures of steps share: pairs without steps, and without what a measure needs of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from karat.core.measure import Bools, Column, Judged, MeasureResult
from karat.core.steps import JudgedSteps

NO_STEPS = "no steps in the results"
NO_CALLS = "no retrieval call"
NO_GOLD = "no relevant gold"
Unmet = Mapping[int, str]
"""Pairs that lack something, and what."""


def over_steps(
    judged: Judged,
    values: Callable[[JudgedSteps], Column],
    lacks: Callable[[JudgedSteps], Sequence[Unmet]] = lambda steps: (),
) -> MeasureResult:
    """The values of pairs with steps that lack nothing; of several reasons the first counts."""
    steps = judged.steps
    if steps is None:
        return MeasureResult(np.full(judged.pairs, np.nan), dict.fromkeys(range(judged.pairs), NO_STEPS))
    undefined: dict[int, str] = {}
    for unmet in reversed((where(~steps.known, NO_STEPS), *lacks(steps))):
        undefined |= unmet
    return MeasureResult(values(steps), undefined)


def where(pairs: Bools, reason: str) -> Unmet:
    """These pairs, all for one reason."""
    return dict.fromkeys(np.flatnonzero(pairs).tolist(), reason)


def without_gold(judged: Judged) -> Unmet:
    """Pairs whose question has no relevant gold, whatever a dialect makes of them elsewhere."""
    return where(judged.relevant == 0, NO_GOLD)
