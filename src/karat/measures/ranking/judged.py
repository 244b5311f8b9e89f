"""Share of judged hits."""

from __future__ import annotations

import numpy as np

from karat.core.measure import Column, Cut, Judged, measure
from karat.measures.ranking._arithmetic import share


@measure(
    name="Judged",
    needs_gold=False,
    follows_rel=False,
    direction="none",
    formula="judged hits in the top k / min(k, hits)",
    defined_by="ir-measures",
    best_for="whether the judgements cover this system at all",
    prefer="bpref or a condensed measure, such as nDCG(condensed)@10, to score a system that is judged too little",
)
def judged_share(judged: Judged, k: Cut = None) -> Column:
    """Share of the top k hits that anybody judged, relevant or not; below .8 other measures mislead.

    A list shorter than k is divided by its length, as ir-measures does; undefined when nothing was retrieved.
    """
    slots = judged.slots if k is None else np.minimum(judged.slots, k)
    fresh = judged.slot_starts & judged.within(judged.pair, judged.rank, k)
    counted = judged.per_pair(judged.pair[fresh])
    return np.where(slots > 0, share(counted, slots), np.nan)
