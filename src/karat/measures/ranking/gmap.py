"""Geometric mean average precision."""

from __future__ import annotations

import numpy as np

from karat.core.measure import Column, Judged, measure
from karat.measures.ranking.map import average_precision

LEAST = 1e-5
"""trec_eval's MIN_GEO_MEAN: what a question counts for that found nothing, since the product would be 0."""


@measure(
    name="GMAP",
    aliases=("gm_map",),
    bounds=(LEAST, 1.0),
    scale="log",
    formula="exp of the mean over questions of ln max(AP, .00001)",
    defined_by="TREC's Robust track (2004), as trec_eval's gm_map",
    best_for="the questions a system fails on: going from .01 to .02 weighs as much as from .4 to .8",
    prefer="MAP for the gain of a typical question, and wherever systems are tested against each other",
)
def gmap(judged: Judged) -> Column:
    """Average precision of each question, at least .00001; over questions the geometric mean is taken.

    trec_eval's gm_map, which keeps the logarithm of the same values. The interval is that of the mean logarithm.
    """
    return np.maximum(average_precision(judged), LEAST)
