"""LengthRatio."""

from __future__ import annotations

import numpy as np

from karat.core.measure import AnswerTable, MeasureResult, Norm, measure
from karat.measures.answer._compared import compared


@measure(
    name="LengthRatio",
    aliases=("length_ratio", "verbosity"),
    needs_gold=False,
    needs_reference=True,
    bounds=(0.0, np.inf),
    direction="none",
    formula="answer tokens / reference tokens",
    defined_by="karat",
    best_for="seeing whether low TokenF1 comes from verbose answers",
    prefer="TokenF1 for whether they are right",
)
def length_ratio(answered: AnswerTable, *, norm: Norm = "unicode") -> MeasureResult:
    """Tokens of the answer / tokens of the reference; of several references the one nearest in length.

    1 is as long as the reference, 10 is ten times as long, 0 is an empty answer.
    """
    beside = compared(answered, norm)
    longest = np.full(beside.pairs, np.inf)
    ratio = beside.answers.sizes / beside.others.sizes
    with np.errstate(divide="ignore"):
        distance = np.abs(np.log(ratio))
    np.minimum.at(longest, beside.owners, distance)
    nearest = distance == longest[beside.owners]
    return beside.best(np.where(nearest, ratio, -np.inf))
