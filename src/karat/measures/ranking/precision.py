"""Precision."""

from __future__ import annotations

from karat.core.measure import Column, Cut, Judged, measure
from karat.measures.ranking._arithmetic import share


@measure(
    name="Precision",
    aliases=("P", "context_precision", "avg_context_precision", "set_P"),
    formula="hits@k / k; without a cut found / distinct units retrieved",
    defined_by="TREC, as trec_eval's P; without a cut LiveRAG's context precision",
    best_for="keeping noise out of the context",
    prefer="Recall@k when missing a passage costs more than reading a useless one",
)
def precision(judged: Judged, k: Cut = None) -> Column:
    """Share of the top k slots that are relevant; without a cut, of the distinct units retrieved.

    A list shorter than k is still divided by k, as trec_eval does. LiveRAG's context precision is `Precision`.
    """
    if k is None:
        return share(judged.found_within(), judged.distinct)
    return share(judged.hits_within(k), k)
