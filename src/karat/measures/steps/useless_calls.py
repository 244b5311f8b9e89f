"""Calls that bring nothing."""

from __future__ import annotations

import numpy as np

from karat.core.measure import Column, Judged, MeasureResult, measure
from karat.core.steps import JudgedSteps
from karat.measures.steps._over_steps import NO_CALLS, over_steps, where, without_gold


@measure(
    name="UselessCalls",
    direction="lower",
    unit="share",
    needs_steps=True,
    formula="retrieval calls without a new relevant unit / retrieval calls",
    defined_by="karat",
    best_for="how many searches could have been saved",
    prefer="RecallGain for how much the others bring",
)
def useless_calls(judged: Judged) -> MeasureResult:
    """Share of retrieval calls that bring no relevant unit which earlier calls had not brought."""

    def share(steps: JudgedSteps) -> Column:
        useless = np.bincount(steps.call_pair[steps.gained(judged.rel) == 0], minlength=judged.pairs)
        return useless / np.maximum(steps.calls, 1)

    return over_steps(
        judged, share, lambda steps: [where(steps.calls == 0, NO_CALLS), without_gold(judged), steps.unmatchable]
    )
