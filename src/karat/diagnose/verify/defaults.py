"""Defaults: a judge whose replies could not be read, and which was given .5 for them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from karat.diagnose.verify._causes import because
from karat.diagnose.verify.names import measure_of
from karat.results.verification import Figure

if TYPE_CHECKING:
    from karat.diagnose.verify.rows import Rows

DEFAULT = 0.5
LEAST = 5  # values of exactly .5
SHARE = 0.1  # of all values
TIMES = 3  # as many as of any other value between 0 and 1
OTHERS = 5  # different values beside 0, .5 and 1: with fewer, .5 is a step of the scale


def check_defaults(rows: Rows) -> list[Figure]:
    """A figure for each column in which .5 stands out.

    Where the rows that hold it say that they failed, or have no reply, it is a mismatch; else a suspicion.
    """
    found = []
    for column in rows.measured:
        measure = measure_of(column, rows.k or 1)
        if measure is not None and measure.spec.stage == "retrieval":
            continue
        values = rows.values(column)
        half = values == DEFAULT
        many, known = int(half.sum()), int(np.isfinite(values).sum())
        lost = rows.failed | rows.unanswered
        if many >= LEAST and lost.any() and half[lost].all():
            more = f"{int((half & lost).sum())} rows that failed, or have no reply, hold exactly .5"
            found.append(
                Figure("", column, "rows", "mismatch", DEFAULT, cause="default of .5",
                       why=because("default of .5", more), cells=known, apart=int((half & lost).sum()))
            )  # fmt: skip
            continue
        counts = Counter(value for value in values[np.isfinite(values)].tolist() if 0 < value < 1 and value != DEFAULT)
        if len(counts) >= OTHERS and many >= max(LEAST, SHARE * known, TIMES * max(counts.values())):
            most = max(counts.values())
            more = f"{many} of {known} values are exactly .5; of no other between 0 and 1 there are more than {most}"
            found.append(
                Figure("", column, "rows", "suspect", DEFAULT, cause="default of .5",
                       why=because("default of .5", more), cells=known, apart=many)
            )  # fmt: skip
    return found
