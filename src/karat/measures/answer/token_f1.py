"""TokenF1."""

from __future__ import annotations

from karat.core.measure import AnswerTable, MeasureResult, Norm, measure
from karat.measures.answer._compared import Bag, Stopwords, compared_as_script, overlap


@measure(
    name="TokenF1",
    aliases=("F1_token", "answer_f1", "token_f1", "squad_f1"),
    needs_gold=False,
    needs_reference=True,
    formula="2 x shared tokens / (answer tokens + reference tokens)",
    defined_by="SQuAD v1.1 (Rajpurkar et al., 2016)",
    best_for="short answers whose wording may vary",
    prefer="ROUGE-L when word order matters, a judge or SemanticSimilarity when paraphrase is expected",
    variants=("TokenF1(bag=set)", "TokenF1(stopwords=drop)", "TokenF1(norm=technical)"),
)
def token_f1(
    answered: AnswerTable, *, bag: Bag = "multiset", stopwords: Stopwords = "keep", norm: Norm = "unicode"
) -> MeasureResult:
    """F1 of the tokens that the answer shares with a reference, the best of several.

    Under `norm=squad` it is the SQuAD v1.1 script's on any input. `bag=set` counts each token once, as some RAG code
    does. An empty answer scores 0; a reference of nothing but dropped words is no reference, but 0 where a script that
    `norm` follows compares it.
    """
    beside = compared_as_script(answered, norm, stopwords)
    return beside.best(overlap(beside, bag))
