"""SupportDensity."""

from __future__ import annotations

import numpy as np

from karat.core.measure import AnswerTable, MeasureResult, Norm, measure
from karat.measures.answer._support import support


@measure(
    name="SupportDensity",
    aliases=("support_density",),
    needs_gold=False,
    needs_contexts=True,
    formula="answer tokens that the contexts hold / answer tokens",
    defined_by="karat",
    best_for="how much of an answer is taken from its contexts, with no model",
    prefer="SupportCoverage, which the function words that stand in any text do not raise",
)
def support_density(answered: AnswerTable, *, norm: Norm = "unicode") -> MeasureResult:
    """Share of the answer's tokens that its contexts hold.

    An empty answer is not faithful but undefined; contexts known to be none support nothing.
    """
    held = support(answered, norm)
    return held.share(np.ones(len(held.found), bool))
