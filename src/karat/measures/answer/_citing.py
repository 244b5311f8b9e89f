"""Which sentences of an answer cite which contexts, and which contexts support them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from karat.core.measure import AnswerTable, MeasureResult
from karat.core.text import guess_language, open_blocks
from karat.core.text.citations import cited_sentences
from karat.core.text.support import Claim, SupportText
from karat.measures.answer._support import by_pair
from karat.models.terms import terms

NO_CITATIONS = "the answer cites nothing"
NO_SENTENCE = "the answer has no sentence beside its citations"


@dataclass(frozen=True)
class Sentence:
    """What a sentence cites and what supports it: numbers of contexts, from 1."""

    cites: tuple[int, ...]
    supported_by: frozenset[int]


def over_sentences(
    answered: AnswerTable, support: float, score: Callable[[list[Sentence]], float | str]
) -> MeasureResult:
    """A score from the sentences of each answer that cites at all."""

    def of_answer(answer: str, contexts: tuple[str, ...], pair: int) -> float | str:
        cited = cited_sentences(answer, answered.ids_of(pair))
        if not cited:
            return NO_SENTENCE
        if not any(cites for _, cites in cited):
            return NO_CITATIONS
        language = guess_language(answer)
        held = [
            answered.once(("held", text, language), partial(SupportText.of, open_blocks(text), language, terms))
            for text in contexts
        ]
        return score([Sentence(cites, _supporting(text, language, held, support)) for text, cites in cited])

    return by_pair(answered, of_answer, cited=True)


def _supporting(sentence: str, language: str | None, contexts: list[SupportText], support: float) -> frozenset[int]:
    claim = Claim.of(sentence, language, terms)
    return frozenset(number for number, held in enumerate(contexts, 1) if claim.against(held).enough(support))
