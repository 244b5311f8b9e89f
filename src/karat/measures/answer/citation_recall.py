"""CitationRecall."""

from __future__ import annotations

from karat.core.measure import AnswerTable, MeasureResult, measure
from karat.measures.answer._citing import Sentence, over_sentences


@measure(
    name="CitationRecall",
    aliases=("citation_recall",),
    needs_gold=False,
    needs_contexts=True,
    formula="supported sentences that cite / supported sentences",
    defined_by="karat, by shared words",
    best_for="whether an answer cites wherever it could",
    prefer="CitationPrecision for whether the citations are right",
)
def citation_recall(answered: AnswerTable, *, support: float = 0.5) -> MeasureResult:
    """Share of the answer's supported sentences that carry a citation.

    A sentence is supported if some context holds at least half (`support`) of its distinct content words. Whether the
    citation is the right one is for CitationPrecision. Undefined where the answer cites nothing, or nothing in it is
    supported.
    """

    def score(sentences: list[Sentence]) -> float | str:
        supported = [sentence for sentence in sentences if sentence.supported_by]
        if not supported:
            return "no sentence of the answer is supported by a context"
        return sum(bool(sentence.cites) for sentence in supported) / len(supported)

    return over_sentences(answered, support, score)
