"""Mean reciprocal rank."""

from __future__ import annotations

from karat.core.measure import Column, Cut, Judged, measure


@measure(
    name="MRR",
    aliases=("RR", "recip_rank"),
    formula="1 / rank of the first relevant slot, 0 without one",
    defined_by="TREC-8's question answering track (Voorhees, 1999)",
    best_for="how soon a reader meets the first useful passage",
    prefer="nDCG@k or MAP when there are several relevant passages",
)
def mrr(judged: Judged, k: Cut = None) -> Column:
    """1 / rank of the first relevant slot, 0 if there is none in the top k.

    The mean over questions is the mean reciprocal rank; trec_eval calls it recip_rank.
    """
    hits = judged.hits
    first = (judged.hit_number == 1) & judged.within(hits.pair, hits.rank, k)
    return judged.per_pair(hits.pair[first], 1 / hits.rank[first])
