"""Recall of all steps together."""

from __future__ import annotations

from karat.core.errors import UsageError
from karat.core.measure import Judged, MeasureResult, measure
from karat.measures.steps._over_steps import over_steps


@measure(
    name="UnionRecall",
    needs_steps=True,
    variants=("UnionRecall(steps=1)", "UnionRecall(steps=2)"),
    formula="units found by the first calls together / R",
    defined_by="karat",
    best_for="whether all searches together find what the answer needs",
    prefer="Recall@k where the answer reads one ranked list",
)
def union_recall(judged: Judged, *, steps: int | None = None) -> MeasureResult:
    """Share of the relevant units among the hits of all retrieval calls, or of the first `steps` of them.

    A question with fewer calls counts with all it has, and one that is missing beside others with steps counts 0, as
    its Recall does.
    """
    if steps is not None and steps < 1:
        raise UsageError(f"UnionRecall: steps={steps} is no number of calls. Write 1 or more.")
    return over_steps(
        judged,
        lambda table: table.recall(judged.rel, None if steps is None else table.end_of(steps)),
        lambda table: [table.unmatchable],
        counts_nothing=True,
    )
