"""CitationPrecision."""

from __future__ import annotations

import math

from karat.core.measure import AnswerTable, MeasureResult, measure
from karat.measures.answer._citing import NO_CITATIONS, Sentence, over_sentences
from karat.measures.claims._sentences import JudgedSentence, Past, Rule, needed, over_cited
from karat.measures.claims._table import Empty


@measure(
    name="CitationPrecision",
    aliases=("citation_precision",),
    needs_gold=False,
    needs_contexts=True,
    relations=needed,
    formula="citations that are right / citations",
    defined_by="karat (by=words); ALCE, Gao et al. 2023 (by=alce); TREC RAG, Thakur et al. 2025 (by=trec)",
    best_for="whether the contexts an answer cites say what it says",
    prefer="SupportCoverage for answers that do not cite",
    variants=("CitationPrecision(by=alce)", "CitationPrecision(by=trec)"),
)
def citation_precision(
    answered: AnswerTable,
    *,
    by: Rule = "words",
    support: float = 0.5,
    most: int = 0,
    past: Past = "wrong",
    empty: Empty = "undefined",
) -> MeasureResult:
    """Share of the answer's citations whose context supports the sentence that cites it.

    Citations look like [1], [2,3], [1-3] or, where the ids of the contexts are known, [handbook-7]; numbers count the
    contexts from 1, and a citation of a context that is not there is wrong. An answer that cites nothing is undefined.

    `by=words`: a context supports a sentence if it holds at least half (`support`) of its distinct content words.
    `by=alce` asks the claims table: a citation is wrong if the cited contexts together do not entail the sentence, or
    if it does not entail it alone and the others together do without it. `by=trec`: each cited context alone gives 1
    for full support, 0.5 for partial support, 0 for none, and the mean over the citations is taken.

    TREC's assessors judged the first citation of a sentence only; here all count, and the first `most` where that is
    given (dialect trec-rag: 1). ALCE's code counts the first three, leaves the citations of a sentence that cites past
    the last passage out (`past=void`), and scores an answer without citations 0 (`empty=zero`): dialect alce. That code
    counts a citation that a sentence repeats each time, and reads one number in each pair of brackets; here a sentence
    cites a context once, and [1,2] cites both.
    """
    if by == "words":
        return over_sentences(answered, support, _by_words)
    right = _right if by == "alce" else _supporting

    def score(sentences: list[JudgedSentence]) -> float:
        total = sum(len(sentence.cites) for sentence in sentences)
        held = math.fsum(map(right, sentences))
        return held / total if total else 0.0 if empty == "zero" else math.nan

    return over_cited(answered, "CitationPrecision", score, most=most, past=past, nothing=NO_CITATIONS)


def _by_words(sentences: list[Sentence]) -> float | str:
    total = sum(len(sentence.cites) for sentence in sentences)
    held = sum(len(sentence.supported_by.intersection(sentence.cites)) for sentence in sentences)
    return held / total if total else NO_CITATIONS


def _right(sentence: JudgedSentence) -> float:
    """How many citations are right by ALCE's rule."""
    there = sentence.there
    if not there or not sentence.entailed(there):
        return 0.0
    return float(
        sum(sentence.entailed([n]) or not sentence.entailed(there - {n}) for n in sentence.cites if n in there)
    )


def _supporting(sentence: JudgedSentence) -> float:
    return math.fsum(sentence.supports)
