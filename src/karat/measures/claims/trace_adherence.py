"""TraceAdherence."""

from __future__ import annotations

from karat.core.measure import AnswerTable, MeasureResult, measure
from karat.measures.claims._sentences import JudgedSentence, over_all_passages
from karat.measures.claims._trace import RAGBENCH


@measure(
    name="TraceAdherence",
    aliases=("trace_adherence",),
    needs_gold=False,
    relations=("sentence by passages",),
    formula="1 if all passages together entail every sentence of the answer, else 0",
    defined_by=RAGBENCH,
    best_for="the share of answers that say nothing beyond their passages",
    prefer="Faithfulness for how much of an answer they support",
)
def trace_adherence(answered: AnswerTable) -> MeasureResult:
    """Whether the passages support every sentence of the answer: 1 or 0.

    TRACe's adherence of an answer; others call it groundedness. A sentence is held against all passages together. An
    answer without sentences is undefined.
    """

    def score(sentences: list[JudgedSentence]) -> float:
        return float(min(sentence.entailed(sentence.there) for sentence in sentences))

    return over_all_passages(answered, "TraceAdherence", score)
