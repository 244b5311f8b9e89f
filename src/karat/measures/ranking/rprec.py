"""R-precision."""

from __future__ import annotations

from karat.core.measure import Column, Judged, measure


@measure(
    name="Rprec",
    aliases=("R-precision",),
    formula="found@R / R",
    defined_by="TREC, as trec_eval's Rprec",
    best_for="comparing questions with very different numbers of relevant passages",
    prefer="Precision@k when the context holds a fixed number of passages",
)
def rprec(judged: Judged) -> Column:
    """Share of the R relevant units that stand in the top R: precision and recall at rank R, which are one.

    Units are counted, so a slot that holds two of them counts for both.
    """
    return judged.found_within(judged.relevant) / judged.relevant
