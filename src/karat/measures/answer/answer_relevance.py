"""AnswerRelevance."""

from __future__ import annotations

from karat.core.measure import AnswerTable, MeasureResult, Norm, measure
from karat.measures.answer._compared import Bag, Stopwords, compared, overlap


@measure(
    name="AnswerRelevance",
    aliases=("answer_relevance", "answer_relevancy_lexical", "query_f1"),
    needs_gold=False,
    formula="2 x shared tokens / (answer tokens + question tokens)",
    defined_by="karat; RAGAS calls a model's verdict answer relevancy",
    best_for="noticing answers that left the subject, where there are no references",
    prefer="TokenF1 when there are references: a right answer need not repeat the question",
)
def answer_relevance(
    answered: AnswerTable, *, bag: Bag = "multiset", stopwords: Stopwords = "keep", norm: Norm = "unicode"
) -> MeasureResult:
    """F1 of the tokens that the answer shares with the question.

    Others use the name for a language model's verdict; this one only counts words. An empty answer scores 0.
    """
    beside = compared(answered, norm, stopwords, to="question")
    return beside.best(overlap(beside, bag))
