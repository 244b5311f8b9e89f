"""Recall."""

from __future__ import annotations

from karat.core.measure import Column, Cut, Judged, measure


@measure(
    name="Recall",
    aliases=("R", "context_recall", "avg_context_recall", "set_recall"),
    formula="found@k / R",
    defined_by="TREC, as trec_eval's recall, over gold units",
    best_for="not missing anything the answer needs",
    prefer="Hit@k when one good passage is enough",
)
def recall(judged: Judged, k: Cut = None) -> Column:
    """Share of the relevant units that appear in the top k.

    Some papers call hit rate "Recall@k"; that is `Hit@k` here.
    """
    return judged.found_within(k) / judged.relevant
