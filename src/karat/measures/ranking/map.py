"""Mean average precision."""

from __future__ import annotations

from karat.core.measure import Column, Cut, Judged, measure


@measure(
    name="MAP",
    aliases=("AP", "map_cut"),
    formula="sum over relevant slots of (hits@rank / rank x units credited) / R",
    defined_by="TREC, as trec_eval's map and map_cut",
    best_for="questions with several relevant passages, all of them wanted early",
    prefer="nDCG@k with graded relevance",
)
def average_precision(judged: Judged, k: Cut = None) -> Column:
    """Mean over the relevant units of the precision at the rank where each is found; 0 for one not found.

    A slot that credits several units counts once for each. Divided by all relevant units, also at a cut, as
    trec_eval's map_cut does; some tools divide by what was found, which hides every miss.
    """
    hits = judged.hits
    top = judged.within(hits.pair, hits.rank, k)
    at_rank = judged.hit_number[top] / hits.rank[top] * hits.units[top]
    return judged.per_pair(hits.pair[top], at_rank) / judged.relevant
