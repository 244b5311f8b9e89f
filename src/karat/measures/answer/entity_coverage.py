"""EntityCoverage."""

from __future__ import annotations

from functools import partial

from karat.core.measure import AnswerTable, MeasureResult, measure
from karat.core.text import normalise, open_blocks
from karat.core.text.citations import without_citations
from karat.core.text.names import named_terms, plain_words, without_possessives
from karat.measures.answer._support import by_pair


@measure(
    name="EntityCoverage",
    aliases=("entity_coverage", "entity_support"),
    needs_gold=False,
    needs_contexts=True,
    formula="distinct named terms that a context holds / distinct named terms of the answer",
    defined_by="karat",
    best_for="invented people, places and products, with no model",
    prefer="Faithfulness (a judge) for German, where every noun has a capital, and for scripts without capitals",
)
def entity_coverage(answered: AnswerTable) -> MeasureResult:
    """Share of the answer's distinct named terms that its contexts hold.

    Named terms are runs of words with capitals ("Bank of Japan", "GPT-4"), held if one context has the same words in
    the same order. Inflected names (Russian cases) count as other words. An answer without named terms is undefined.
    """

    def score(answer: str, contexts: tuple[str, ...], pair: int) -> float | str:
        uncited = without_citations(answer)
        common = plain_words(f"{uncited} {answered.texts[pair]}").union(
            *(answered.once(("plain words", text), partial(plain_words, text)) for text in contexts)
        )
        terms = named_terms(uncited, common)
        if not terms:
            return "the answer has no named terms"
        texts = [answered.once(("padded", text), partial(_padded, text)) for text in contexts]
        return sum(any(f" {term} " in text for text in texts) for term in terms) / len(terms)

    return by_pair(answered, score)


def _padded(text: str) -> str:
    return f" {normalise(without_possessives(open_blocks(text)))} "
