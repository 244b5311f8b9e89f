"""Recall gained per call."""

from __future__ import annotations

import numpy as np

from karat.core.measure import Column, Judged, MeasureResult, measure
from karat.core.steps import JudgedSteps
from karat.measures.steps._over_steps import Unmet, over_steps, where, without_gold


@measure(
    name="RecallGain",
    needs_steps=True,
    formula="(UnionRecall - UnionRecall(steps=1)) / (calls - 1)",
    defined_by="karat",
    best_for="what searching again brings, on average per call",
    prefer="UnionRecall where only the end counts",
)
def recall_gain(judged: Judged) -> MeasureResult:
    """Mean recall gained per retrieval call after the first; undefined without such a call."""

    def gained(steps: JudgedSteps) -> Column:
        more = steps.recall(judged.rel) - steps.recall(judged.rel, steps.end_of(1))
        return more / np.maximum(steps.calls - 1, 1)

    def lacks(steps: JudgedSteps) -> list[Unmet]:
        return [where(steps.calls < 2, "no retrieval call after the first"), without_gold(judged), steps.unmatchable]

    return over_steps(judged, gained, lacks)
