"""Correct, a count."""

from __future__ import annotations

import numpy as np

from karat.core.measure import Column, Judged, measure


@measure(
    name="Correct",
    aliases=("correct_docs_count",),
    bounds=(0.0, np.inf),
    direction="none",
    unit="count",
    needs_gold=False,
    formula="found",
    defined_by="LiveRAG (correct_docs_count)",
    best_for="counting what was found",
    prefer="Recall for the share of what there is to find",
)
def correct(judged: Judged) -> Column:
    """Number of relevant units retrieved."""
    return judged.found_within()
