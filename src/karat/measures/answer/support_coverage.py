"""SupportCoverage."""

from __future__ import annotations

from karat.core.measure import AnswerTable, MeasureResult, Norm, measure
from karat.measures.answer._support import support


@measure(
    name="SupportCoverage",
    aliases=("support_coverage",),
    needs_gold=False,
    needs_contexts=True,
    formula="distinct content words that the contexts hold / distinct content words of the answer",
    defined_by="karat",
    best_for="whether what an answer says stands in its contexts, with no model",
    prefer="Faithfulness (a judge) when answers paraphrase their contexts",
)
def support_coverage(answered: AnswerTable, *, norm: Norm = "unicode") -> MeasureResult:
    """Share of the answer's distinct content words that its contexts hold.

    Content words are all but the stop words of the answer's language; numbers always count. An empty answer is not
    faithful but undefined.
    """
    held = support(answered, norm)
    return held.share(held.content(answered) & held.distinct(), "the answer has no content words")
