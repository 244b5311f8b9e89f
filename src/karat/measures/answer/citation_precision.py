"""CitationPrecision."""

from __future__ import annotations

from karat.core.measure import AnswerTable, MeasureResult, measure
from karat.measures.answer._citing import NO_CITATIONS, Sentence, over_sentences


@measure(
    name="CitationPrecision",
    aliases=("citation_precision",),
    needs_gold=False,
    needs_contexts=True,
    formula="citations whose context supports their sentence / citations",
    defined_by="karat, by shared words",
    best_for="whether the contexts an answer cites say what it says",
    prefer="SupportCoverage for answers that do not cite",
)
def citation_precision(answered: AnswerTable, *, support: float = 0.5) -> MeasureResult:
    """Share of the answer's citations whose context supports the sentence that cites it.

    Citations look like [1], [2,3] or [1-3] and count the contexts from 1; one of a context that is not there supports
    nothing. A context supports a sentence if it holds at least half (`support`) of its distinct content words. An
    answer that cites nothing is undefined.
    """

    def score(sentences: list[Sentence]) -> float | str:
        total = sum(len(sentence.cites) for sentence in sentences)
        held = sum(len(sentence.supported_by.intersection(sentence.cites)) for sentence in sentences)
        return held / total if total else NO_CITATIONS

    return over_sentences(answered, support, score)
