"""CitationRecall."""

from __future__ import annotations

import math

from karat.core.measure import AnswerTable, MeasureResult, measure
from karat.measures.answer._citing import Sentence, over_sentences
from karat.measures.claims._sentences import JudgedSentence, Past, Rule, needed, over_cited


@measure(
    name="CitationRecall",
    aliases=("citation_recall",),
    needs_gold=False,
    needs_contexts=True,
    relations=needed,
    formula="by=words: supported sentences that cite / supported sentences; else sentences that their citations "
    "support / sentences",
    defined_by="karat (by=words); ALCE, Gao et al. 2023 (by=alce); TREC RAG, Thakur et al. 2025 (by=trec)",
    best_for="whether an answer cites wherever it could",
    prefer="CitationPrecision for whether the citations are right",
    variants=("CitationRecall(by=alce)", "CitationRecall(by=trec)"),
)
def citation_recall(
    answered: AnswerTable, *, by: Rule = "words", support: float = 0.5, most: int = 0, past: Past = "wrong"
) -> MeasureResult:
    """Share of the answer's sentences that citations support.

    `by=words`: of the sentences that some context supports (it holds at least half, `support`, of their distinct
    content words) the share that carries a citation; whether it is the right one is for CitationPrecision. Undefined
    where the answer cites nothing, or nothing in it is supported.

    `by=alce` asks the claims table: of all sentences the share that the contexts they cite entail, taken together; a
    sentence without a citation counts as not entailed. `by=trec`: a sentence has the support of the citation that
    supports it best by itself: 1 in full, 0.5 in part, 0 for none or without a citation; the mean over the sentences.

    TREC's assessors judged the first citation of a sentence only; here all count, and the first `most` where that is
    given (dialect trec-rag: 1). Contexts that are not there entail nothing; in ALCE's code a sentence that cites past
    the last passage scores 0 whatever else it cites (`past=void`), and the first three citations count: dialect alce.
    """
    if by == "words":
        return over_sentences(answered, support, _by_words)
    support_of = _entailed if by == "alce" else _best

    def score(sentences: list[JudgedSentence]) -> float:
        return math.fsum(map(support_of, sentences)) / len(sentences)

    return over_cited(answered, "CitationRecall", score, most=most, past=past)


def _by_words(sentences: list[Sentence]) -> float | str:
    supported = [sentence for sentence in sentences if sentence.supported_by]
    if not supported:
        return "no sentence of the answer is supported by a context"
    return sum(bool(sentence.cites) for sentence in supported) / len(supported)


def _entailed(sentence: JudgedSentence) -> float:
    return float(sentence.entailed(sentence.there))


def _best(sentence: JudgedSentence) -> float:
    return max(sentence.supports, default=0.0)
