"""Calls that stood before."""

from __future__ import annotations

import numpy as np

from karat.core.measure import Judged, MeasureResult, measure
from karat.measures.steps._over_steps import over_steps, where


@measure(
    name="RepeatedCalls",
    direction="lower",
    unit="share",
    needs_gold=False,
    needs_steps=True,
    follows_rel=False,
    formula="calls whose tool and query stood before / calls with a query",
    defined_by="karat",
    best_for="finding systems that go round in circles",
    prefer="UselessCalls for calls that bring nothing, whatever they ask",
)
def repeated_calls(judged: Judged) -> MeasureResult:
    """Share of calls whose tool and query stood before in the same question, of retrieval and of other tools.

    Letter case and punctuation around the words of queries are left aside. Calls without a query are not counted.
    """
    return over_steps(
        judged,
        lambda steps: steps.repeated / np.maximum(steps.queries, 1),
        lambda steps: [where(steps.queries == 0, "no call with a query")],
    )
