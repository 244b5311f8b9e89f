"""NumberSupport."""

from __future__ import annotations

from functools import partial

from karat.core.measure import AnswerTable, MeasureResult, measure
from karat.core.text.citations import without_citations
from karat.core.text.numbers import figures, readings
from karat.measures.answer._support import by_pair


@measure(
    name="NumberSupport",
    aliases=("number_support",),
    needs_gold=False,
    needs_contexts=True,
    formula="distinct numbers and dates that the contexts hold / distinct numbers and dates of the answer",
    defined_by="karat",
    best_for="answers with amounts, dates and doses, where an invented figure is worst",
    prefer="SupportCoverage for answers without figures",
)
def number_support(answered: AnswerTable) -> MeasureResult:
    """Share of the answer's distinct numbers and dates that its contexts hold.

    1,000 and 1000, 3.50 and 3,5, "5 May 2020" and 2020-05-05 are the same. Numbers spelled as words are not seen. An
    answer without figures is undefined.
    """

    def score(answer: str, contexts: tuple[str, ...], _: int) -> float | str:
        claimed = figures(without_citations(answer))
        if not claimed:
            return "the answer has no numbers or dates"
        held = set().union(*(answered.once(("readings", text), partial(readings, text)) for text in contexts))
        return sum(not held.isdisjoint(figure) for figure in claimed) / len(claimed)

    return by_pair(answered, score)
