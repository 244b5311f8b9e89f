"""Retrieval calls, a count."""

from __future__ import annotations

import numpy as np

from karat.core.measure import Judged, MeasureResult, measure
from karat.measures.steps._over_steps import over_steps


@measure(
    name="Steps",
    bounds=(0.0, np.inf),
    direction="none",
    unit="count",
    needs_gold=False,
    needs_steps=True,
    follows_rel=False,
    formula="retrieval calls",
    defined_by="karat",
    best_for="seeing how often a system searches before it answers",
    prefer="RecallGain for what the calls bring",
)
def steps(judged: Judged) -> MeasureResult:
    """Number of retrieval calls of a question; calls of other tools are not counted."""
    return over_steps(judged, lambda steps: steps.calls.astype(np.float64))
