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
    *,
    counts_nothing: bool = False,
) -> MeasureResult:
    """The values of pairs with steps that lack nothing; of several reasons the first counts.

    With `counts_nothing` a pair without steps and without a hit counts too, where its system has steps elsewhere:
    nothing was found for it.
    """
    steps = judged.steps
    if steps is None:
        return MeasureResult(np.full(judged.pairs, np.nan), dict.fromkeys(range(judged.pairs), NO_STEPS))
    known = steps.known
    if counts_nothing:
        has_steps = known.reshape(len(judged.systems), -1).any(axis=1)
        known = known | ((judged.slots == 0) & np.repeat(has_steps, len(judged.questions)))
    undefined: dict[int, str] = {}
    for unmet in reversed((where(~known, NO_STEPS), *lacks(steps))):
        undefined |= unmet
    return MeasureResult(values(steps), undefined)


def where(pairs: Bools, reason: str) -> Unmet:
    """These pairs, all for one reason."""
    return dict.fromkeys(np.flatnonzero(pairs).tolist(), reason)


def without_gold(judged: Judged) -> Unmet:
    """Pairs whose question has no relevant gold, whatever a dialect makes of them elsewhere."""
    return where(judged.relevant == 0, NO_GOLD)
