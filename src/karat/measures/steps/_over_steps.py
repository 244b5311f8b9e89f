"""What all measures of steps share: pairs without steps, and without what a measure needs of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from karat.core.measure import Bools, Column, Judged, MeasureResult
from karat.core.steps import JudgedSteps

NO_STEPS = "no steps in the results"
NO_CALLS = "no retrieval call"
NO_GOLD = "no relevant gold"
Unmet = tuple[Bools, str]
"""Pairs that lack something, and what."""


def over_steps(
    judged: Judged,
    values: Callable[[JudgedSteps], Column],
    lacks: Callable[[JudgedSteps], Sequence[Unmet]] | None = None,
) -> MeasureResult:
    """The values of pairs with steps that lack nothing; of several reasons the first counts."""
    steps = judged.steps
    if steps is None:
        return MeasureResult(np.full(judged.pairs, np.nan), dict.fromkeys(range(judged.pairs), NO_STEPS))
    undefined: dict[int, str] = {}
    for unmet, reason in ((~steps.known, NO_STEPS), *(lacks(steps) if lacks is not None else ())):
        for pair in np.flatnonzero(unmet).tolist():
            undefined.setdefault(pair, reason)
    return MeasureResult(values(steps), undefined)


def without_gold(judged: Judged) -> Unmet:
    """Pairs whose question has no relevant gold, whatever a dialect makes of them elsewhere."""
    return judged.relevant == 0, NO_GOLD


def unmatchable(steps: JudgedSteps) -> list[Unmet]:
    """Pairs whose gold the hits of their steps cannot show."""
    return [(np.arange(len(steps.known)) == pair, reason) for pair, reason in steps.unmatchable.items()]
