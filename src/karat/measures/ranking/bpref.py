"""Binary preference."""

from __future__ import annotations

import numpy as np

from karat.core.measure import Column, Judged, measure
from karat.measures.ranking._arithmetic import share


@measure(
    name="bpref",
    formula="1/R sum over relevant units found of 1 - min(n, R) / min(R, N), n of the N judged non-relevant above it",
    defined_by="Buckley and Voorhees (2004), as trec_eval computes it",
    best_for="incomplete judgements: unjudged hits neither help nor hurt",
    prefer="nDCG(condensed)@k with graded relevance",
)
def bpref(judged: Judged) -> Column:
    """How rarely judged non-relevant units stand above relevant ones; unjudged hits are passed over.

    trec_eval's definition: each relevant unit found scores 1 - min(n, R) / min(R, N), with n the judged non-relevant
    units above it, R the relevant and N the judged non-relevant units of the question. A negative grade is unjudged.
    """
    hits = judged.hits
    against = judged.above(judged.new & (judged.grade >= 0) & (judged.grade < judged.rel))
    relevant = judged.relevant[hits.pair]
    above = np.minimum(against, relevant)
    bound = np.minimum(relevant, judged.judged_not_relevant[hits.pair])
    worth = 1 - share(above.astype(np.float64), bound)
    return judged.per_pair(hits.pair, worth * hits.units) / judged.relevant
