"""Eleven-point average precision."""

from __future__ import annotations

import numpy as np

from karat.core.measure import Column, Judged, measure
from karat.measures.ranking.iprec import iprec


@measure(
    name="IPrec11",
    aliases=("11pt_avg", "11pt"),
    formula="mean of IPrec@r over r = 0, .1, ... 1",
    defined_by="TREC, as trec_eval's 11pt_avg",
    best_for="comparing with older TREC papers",
    prefer="MAP, which looks at every relevant unit",
)
def iprec11(judged: Judged) -> Column:
    """Mean of the interpolated precision at recall 0, .1, ... 1; trec_eval calls it 11pt_avg."""
    levels = (np.arange(11) / 10).tolist()
    total: Column = np.sum([iprec(judged, recall=level) for level in levels], axis=0)
    return total / len(levels)
