"""Normalised discounted cumulative gain."""

from __future__ import annotations

from typing import Literal

import numpy as np

from karat.core.judged import Cut, Judged, discount
from karat.core.measure import Column, measure
from karat.measures.ranking._arithmetic import GAINS, Gain, share


@measure(
    name="nDCG",
    aliases=("ndcg_cut",),
    follows_rel=False,
    variants=("nDCG(gain=exp)@10", "nDCG(gain=binary)@10", "nDCG(ideal=retrieved)@10", "nDCG(condensed)@10"),
    formula="sum over i <= k of g_i / log2(i + 1), divided by the same sum of the ideal order",
    defined_by="Järvelin and Kekäläinen (2002), with trec_eval's gain and discount",
    best_for="the quality of the whole ranking, with graded relevance",
    prefer="MRR when only the first relevant passage matters",
)
def ndcg(
    judged: Judged,
    k: Cut = None,
    *,
    gain: Gain = "linear",
    ideal: Literal["gold", "retrieved"] = "gold",
) -> Column:
    """Discounted gain of the top k over that of the ideal order; gain = grade, discount = log2(rank + 1).

    Linear gain is trec_eval's; `gain=exp` (2^grade - 1) is what many learning-to-rank papers use. `ideal=retrieved`
    compares with the best order of what was retrieved, so nothing that was missed lowers it; some LiveRAG code has it.
    """
    worth = GAINS[gain]
    hits = judged.hits
    top = judged.within(hits.pair, hits.rank, k)
    reached = judged.per_pair(hits.pair[top], worth(hits.gain[top]) * judged.hit_discount[top])
    if ideal == "gold" and judged.one_unit_a_slot and not isinstance(k, np.ndarray):
        question, grade, place = judged.ideal_by_question
        top = place <= k if k is not None else np.ones(len(place), bool)
        best = np.bincount(question[top], worth(grade[top]) * judged.ideal_discount[top], len(judged.questions))
        return reached / np.tile(best, len(judged.systems))
    pair, grade, place = judged.ideal_by_pair(k) if ideal == "gold" else judged.retrieved_by_pair
    top = judged.within(pair, place, k)
    return share(reached, judged.per_pair(pair[top], worth(grade[top]) * discount(place[top])))
