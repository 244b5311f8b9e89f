"""Judge defaults: a judge whose replies could not be read, and which was given .5 for them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

import numpy as np

from karat.diagnose.verify.names import measure_of
from karat.diagnose.verify.rows import MeasureValues, QuestionRows
from karat.results.verification import Figure, FigureStatus

DEFAULT = 0.5
FEWEST = 5  # values of exactly .5
SHARE = 0.1  # of all values
TIMES = 3  # as many as of any other value between 0 and 1
OTHERS = 5  # different values beside 0, .5 and 1: with fewer, .5 is a step of the scale


def check(rows: QuestionRows, computed: Mapping[str, MeasureValues]) -> Iterator[Figure]:
    """A figure for each column in which .5 stands out.

    Where the rows that hold it say that they failed, or have no reply, it is a mismatch; else a suspicion.
    """
    lost = rows.failed | rows.unanswered
    for column in rows.measured:
        measure = measure_of(column, rows.k or 1)
        if measure is not None and measure.spec.stage == "retrieval":
            continue
        values = rows.values(column)
        known = values[np.isfinite(values)]
        half = values == DEFAULT
        many = int(half.sum())
        counts = Counter(value for value in known.tolist() if 0 < value < 1 and value != DEFAULT)
        most = max(counts.values(), default=0)
        verdict: FigureStatus | None = None
        if many >= FEWEST and lost.any() and half[lost].all():
            verdict, many = "mismatch", int((half & lost).sum())
            detail = f"{many} rows that failed, or have no reply, hold exactly .5"
        elif len(counts) >= OTHERS and many >= max(FEWEST, SHARE * len(known), TIMES * most):
            verdict = "suspect"
            detail = f"{many} of {len(known)} values are exactly .5; no other between 0 and 1 has more than {most}"
        if verdict is not None:
            yield rows.figure(
                column, verdict, detail, cause="default of .5", printed=DEFAULT, cells=len(known), apart=many
            )
