"""Interpolated precision."""

from __future__ import annotations

import numpy as np

from karat.core.errors import UsageError
from karat.core.measure import Column, Judged, measure


@measure(
    name="IPrec",
    aliases=("iprec_at_recall",),
    at="recall",
    variants=("IPrec@0", "IPrec@0.5", "IPrec@1"),
    formula="max of hits@i / i over ranks i with found@i / R >= recall",
    defined_by="TREC, as trec_eval's iprec_at_recall",
    best_for="drawing precision over recall",
    prefer="MAP or nDCG@k for one number",
)
def iprec(judged: Judged, *, recall: float = 0.1) -> Column:
    """The highest precision at any rank from which on that share of the relevant units is found; 0 if it never is.

    trec_eval's iprec_at_recall: `IPrec@0.1` is its iprec_at_recall_0.10. The share of R is rounded to units as there,
    up from a tenth of a unit.
    """
    if not 0 <= recall <= 1:
        raise UsageError(f"IPrec: recall={recall:g} is a share from 0 to 1.")
    hits = judged.hits
    wanted = np.floor(recall * judged.relevant + 0.9)
    reached = judged.found_number >= wanted[hits.pair]
    highest = np.zeros(judged.pairs)
    np.maximum.at(highest, hits.pair[reached], judged.hit_number[reached] / hits.rank[reached])
    return highest
