"""TokenF1."""

from __future__ import annotations

from typing import TYPE_CHECKING

from karat.core.measure import measure
from karat.core.text import Norm
from karat.measures.answer._compared import Bag, Stopwords, compared, overlap

if TYPE_CHECKING:
    from karat.core.answered import Answered
    from karat.core.scores import Outcome


@measure(
    name="TokenF1",
    aliases=("F1_token", "answer_f1", "token_f1", "squad_f1"),
    needs_gold=False,
    best_for="short answers whose wording may vary",
    prefer="ROUGE-L when word order matters, a judge or SemanticSimilarity when paraphrase is expected",
    variants=("TokenF1(bag=set)", "TokenF1(stopwords=drop)", "TokenF1(norm=technical)"),
)
def token_f1(
    answered: Answered, *, bag: Bag = "multiset", stopwords: Stopwords = "keep", norm: Norm = "squad"
) -> Outcome:
    """F1 of the tokens that the answer shares with a reference, the best of several.

    Agrees with the SQuAD v1.1 script where punctuation is ASCII. `bag=set` counts each token once, as some RAG code
    does. An empty answer scores 0; a reference of nothing but dropped words is no reference.
    """
    beside = compared(answered, norm, stopwords)
    return beside.best(overlap(beside, bag))
