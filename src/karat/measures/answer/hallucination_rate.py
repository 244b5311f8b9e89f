"""HallucinationRate."""

from __future__ import annotations

from dataclasses import replace

from karat.core.measure import AnswerTable, MeasureResult, Norm, measure
from karat.measures.answer.support_density import support_density


@measure(
    name="HallucinationRate",
    aliases=("hallucination_rate", "hallucination"),
    needs_gold=False,
    needs_contexts=True,
    direction="lower",
    formula="1 - SupportDensity",
    defined_by="karat",
    best_for="spotting answers with much that no context holds, with no model",
    prefer="NumberSupport and EntityCoverage, which look at what is worst to invent",
)
def hallucination_rate(answered: AnswerTable, *, norm: Norm = "unicode") -> MeasureResult:
    """1 - SupportDensity: the share of the answer's tokens that its contexts do not hold.

    It counts words, not claims: a right answer in other words than the contexts' is "hallucinated" here.
    """
    held = support_density(answered, norm=norm)
    return replace(held, values=1.0 - held.values)
