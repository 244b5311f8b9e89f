"""Rank-biased precision."""

from __future__ import annotations

import numpy as np

from karat.core.errors import UsageError
from karat.core.measure import Column, Cut, Judged, measure
from karat.measures.ranking._arithmetic import GAINS, Gain


@measure(
    name="RBP",
    shown=("p",),
    variants=("RBP(p=0.8, gain=linear, max_rel=3)", "RBP(p=0.8, gain=exp, max_rel=3)"),
    formula="(1 - p) sum over i <= k of rel_i p^(i - 1)",
    defined_by="Moffat and Zobel (2008)",
    best_for="a reader who stops at each passage with probability 1 - p",
    prefer="nDCG@k to compare across questions: RBP of a perfect list depends on how much gold there is",
)
def rbp(judged: Judged, k: Cut = None, *, p: float = 0.8, gain: Gain = "binary", max_rel: int | None = None) -> Column:
    """Expected share of relevant slots seen by a reader who goes on to the next with probability p.

    With `gain=linear` a slot counts for grade / max_rel, as ir-measures scales the gains of its graded measures, with
    `gain=exp` for (2^grade - 1) / (2^max_rel - 1). `max_rel` is the highest grade of the scale, whether or not a unit
    has it; a higher grade counts as that.
    """
    if not 0 < p < 1:
        raise UsageError(f"RBP: p={p:g} is not a probability between 0 and 1.")
    if gain != "binary" and (max_rel is None or max_rel < 1):
        raise UsageError(f"RBP: gain={gain} needs the highest grade of the scale, for example max_rel=3.")
    hits = judged.hits
    top = judged.within(hits.pair, hits.rank, k)
    highest = max_rel or 1
    worth = GAINS[gain](np.minimum(hits.gain[top], highest)) / GAINS[gain](np.array([highest]))
    chance_of_reading = np.power(p, hits.rank[top] - 1, dtype=np.float64)
    return judged.per_pair(hits.pair[top], worth * (1 - p) * chance_of_reading)
