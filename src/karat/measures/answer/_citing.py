"""Which sentences of an answer cite which contexts, and which contexts support them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from karat.core.scores import Outcome
from karat.core.text import guess_language, open_blocks, stop_words, tokenise
from karat.core.text.citations import cited_sentences
from karat.measures.answer._support import by_pair

if TYPE_CHECKING:
    from collections.abc import Callable

    from karat.core.answered import Answered

NO_CITATIONS = "the answer cites nothing"


@dataclass(frozen=True)
class Sentence:
    """What a sentence cites and what supports it: numbers of contexts, from 1."""

    cites: tuple[int, ...]
    supported_by: frozenset[int]


def over_sentences(answered: Answered, support: float, score: Callable[[list[Sentence]], float | str]) -> Outcome:
    """A score from the sentences of each answer that cites at all."""

    def of_answer(answer: str, contexts: tuple[str, ...], _: int) -> float | str:
        said = cited_sentences(answer)
        if not any(cites for _, cites in said):
            return NO_CITATIONS
        stops = stop_words(guess_language(answer), "unicode")
        held = [answered.once(("words", text), partial(_words, text)) for text in contexts]
        return score([Sentence(cites, _supporting(sentence, held, stops, support)) for sentence, cites in said])

    return by_pair(answered, of_answer)


def _supporting(sentence: str, contexts: list[frozenset[str]], stops: frozenset[str], support: float) -> frozenset[int]:
    words = set(tokenise(sentence)) - stops
    if not words:
        return frozenset()
    return frozenset(i for i, held in enumerate(contexts, 1) if len(words & held) >= support * len(words))


def _words(context: str) -> frozenset[str]:
    return frozenset(tokenise(open_blocks(context)))
