"""Hit rate."""

from __future__ import annotations

import numpy as np

from karat.core.measure import Column, Cut, Judged, measure


@measure(
    name="Hit",
    aliases=("HitRate", "hit_rate", "Success"),
    formula="1 if hits@k > 0, else 0",
    defined_by="TREC, as trec_eval's success",
    best_for="questions that one good passage answers",
    prefer="Recall@k when several passages are needed",
)
def hit(judged: Judged, k: Cut = None) -> Column:
    """1 if at least one of the top k slots is relevant, else 0.

    trec_eval calls it success; the rag-benchmark tools print its mean as "Recall@k".
    """
    return (judged.hits_within(k) > 0).astype(np.float64)
