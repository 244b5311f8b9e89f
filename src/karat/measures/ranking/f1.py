"""F1 of retrieval."""

from __future__ import annotations

from karat.core.measure import Column, Cut, Judged, measure
from karat.measures.ranking._arithmetic import share
from karat.measures.ranking.precision import precision
from karat.measures.ranking.recall import recall


@measure(
    name="F1",
    aliases=("f1_score", "context_f1", "avg_context_f1", "set_F"),
    formula="2 P R / (P + R), P = Precision@k and R = Recall@k",
    defined_by="van Rijsbergen (1979)",
    best_for="one number to compare retrievers by",
    prefer="Recall@k and Precision@k side by side when their balance matters; TokenF1 for answers",
)
def f1(judged: Judged, k: Cut = None) -> Column:
    """Harmonic mean of Precision and Recall at the same cut; 0 when both are 0.

    With one gold unit F1@5 cannot pass .333: read it beside the highest value the gold allows.
    """
    p, r = precision(judged, k), recall(judged, k)
    return share(2 * p * r, p + r)
