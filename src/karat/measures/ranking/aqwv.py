"""Average query weighted value."""

from __future__ import annotations

from typing import Literal

import numpy as np

from karat.core.errors import UsageError
from karat.core.measure import Column, Cut, Judged, measure
from karat.measures.ranking._arithmetic import share


def _bounds(beta: float, **_: object) -> tuple[float, float]:
    return -beta, 1.0


@measure(
    name="AQWV",
    bounds=_bounds,
    shown=("beta",),
    variants=("AQWV(beta=40, n=100000)@10", "AQWV(beta=40, fa=retrieved)@10"),
    formula="found@k / R - beta FA / (n - R), FA the retrieved that are not relevant",
    defined_by="MATERIAL (IARPA and NIST), without its detection threshold",
    best_for="detection tasks where a false alarm has a price",
    prefer="F1@k when false alarms and misses weigh the same",
)
def aqwv(
    judged: Judged,
    k: Cut = None,
    *,
    beta: float = 40.0,
    n: int | None = None,
    fa: Literal["collection", "retrieved"] = "collection",
) -> Column:
    """1 - share of misses - beta x rate of false alarms; everything retrieved counts as detected.

    A hit that repeats what stands above it is neither a find nor an alarm. n is the number of documents searched; false
    alarms are divided by n - R. With `fa=retrieved` they are divided by what was retrieved, as the momento document
    does, which makes the value far more negative.
    """
    if beta < 0:
        raise UsageError(f"AQWV: beta={beta:g} would reward false alarms. Use 0 or more.")
    retrieved = judged.fresh_within(k)
    alarms = retrieved - judged.once.hits_within(k)
    if fa == "retrieved":
        chances = retrieved
    else:
        size = n if n is not None else judged.collection
        if size is None:
            raise UsageError("AQWV needs the number of documents searched: write AQWV(n=100000) or AQWV(fa=retrieved).")
        chances = (size - judged.relevant).astype(np.float64)
        if (alarms > chances).any():
            raise UsageError(f"AQWV: n={size} is less than what was retrieved and judged. Give the collection's size.")
    return judged.found_within(k) / judged.relevant - beta * share(alarms, chances)
