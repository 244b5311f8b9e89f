"""Inferred average precision."""

from __future__ import annotations

import numpy as np

from karat.core.measure import Column, Judged, measure

EPSILON = 1e-5
"""What trec_eval adds so that nothing judged above a unit is no division by 0."""


@measure(
    name="infAP",
    formula="1/R sum over relevant units found of (1 + pooled above x share of relevant among judged above) / rank",
    defined_by="Yilmaz and Aslam (2006), as trec_eval computes it",
    best_for="judgements of a random sample of a pool: what was not sampled is estimated",
    prefer="MAP with complete judgements, bpref when the judged were not drawn at random",
)
def infap(judged: Judged) -> Column:
    """Average precision with the share of relevant units among the pooled above each estimated from the judged ones.

    trec_eval's definition. A negative grade marks a unit that is in the pool and was not judged; a hit without any
    judgement is outside the pool and taken as not relevant.
    """
    hits = judged.hits
    relevant = judged.hit_number - 1
    against = judged.above(judged.new & (judged.grade >= 0) & (judged.grade < judged.rel))
    unjudged = judged.above(judged.new & (judged.grade < 0))
    pooled = np.minimum(relevant + against + unjudged, hits.rank - 1)
    share = (relevant + EPSILON) / (relevant + against + 2 * EPSILON)
    worth = (1 + pooled * share) / hits.rank
    return judged.per_pair(hits.pair, worth * hits.units) / judged.relevant
