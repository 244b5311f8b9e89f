"""What of an answer its contexts hold: tokens once for all support measures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from karat.core.measure import EMPTY_ANSWER, AnswerTable, Bools, Ints, MeasureResult
from karat.core.text import Norm, drop_blocks, guess_language, open_blocks
from karat.core.text.citations import spoken
from karat.core.text.codes import TokenIds, Vocabulary, first_alike
from karat.measures.answer._compared import stops

NO_CONTEXTS = "no context texts are known"
BLANK_CONTEXTS = "the contexts hold no text"


@dataclass(frozen=True)
class TokenSupport:
    """Tokens of the answers, whether the contexts of each hold them, and why some pairs have no support to measure.

    Contexts given but none in number support nothing; contexts that are not known leave support undefined.
    """

    vocabulary: Vocabulary
    answers: TokenIds
    contexts: TokenIds  # each distinct context, or text of an earlier turn, once
    used: list[list[int]]  # those of each pair
    found: Bools  # of each answer token
    undefined: dict[int, str]

    def share(self, of: Bools, reason: str = EMPTY_ANSWER) -> MeasureResult:
        """Share of the marked answer tokens that the contexts hold; undefined for `reason` where none is marked."""
        owners, pairs = self.answers.owners, len(self.answers)
        total = np.bincount(owners[of], minlength=pairs)
        held = np.bincount(owners[of & self.found], minlength=pairs)
        return self.ratio(held, total, reason)

    def ratio(self, held: Ints, total: Ints, reason: str) -> MeasureResult:
        """held / total for each pair; undefined for `reason` where the total is 0."""
        undefined = dict.fromkeys(np.flatnonzero(total == 0).tolist(), reason) | self.undefined
        values = np.divide(held, total, out=np.full(len(total), np.nan), where=total > 0)
        values[list(undefined)] = np.nan
        return MeasureResult(values, undefined)

    def distinct(self) -> Bools:
        """One True for each distinct token of an answer."""
        keys = self.answers.owners * len(self.vocabulary) + self.answers.codes
        distinct: Bools = first_alike(keys.view(np.uint64)) == np.arange(len(keys))
        return distinct

    def content(self, answered: AnswerTable) -> Bools:
        """Which answer tokens are no stop words of the language of the answer and its question."""
        texts = zip(answered.answers, answered.texts, strict=True)
        languages = [guess_language(f"{answer or ''} {question}") for answer, question in texts]
        return ~stops(self.answers, languages, self.vocabulary)


def support(answered: AnswerTable, norm: Norm) -> TokenSupport:
    """The answers beside their contexts, as tokens of a normaliser; citations are no part of an answer here."""
    return answered.once(("support", norm), lambda: _support(answered, norm))


def _support(answered: AnswerTable, norm: Norm) -> TokenSupport:
    vocabulary = Vocabulary(norm)
    answers = vocabulary.encode([spoken(text) for text in answered.answers])
    place: dict[str, int] = {}
    used = [[place.setdefault(text, len(place)) for text in texts or ()] for texts in answered.evidence]
    contexts = vocabulary.encode([open_blocks(text) for text in place])
    undefined: dict[int, str] = {}
    supported = np.zeros(len(answers.codes), bool)
    present = np.zeros(len(vocabulary), bool)
    for pair, chosen in enumerate(used):
        here = slice(answers.offsets[pair], answers.offsets[pair + 1])
        if answered.contexts[pair] is None:
            undefined[pair] = NO_CONTEXTS
        elif here.start == here.stop:
            undefined[pair] = EMPTY_ANSWER
        elif chosen and not contexts.sizes[chosen].any():
            undefined[pair] = BLANK_CONTEXTS
        else:
            for context in chosen:
                present[contexts[context]] = True
            supported[here] = present[answers.codes[here]]
            for context in chosen:
                present[contexts[context]] = False
    return TokenSupport(vocabulary, answers, contexts, used, supported, undefined)


def by_pair(
    answered: AnswerTable, score: Callable[[str, tuple[str, ...], int], float | str], *, cited: bool = False
) -> MeasureResult:
    """A score for each answer with known contexts: `score(answer, texts, pair)` is a value or why there is none.

    The texts are what may support the answer: its contexts and the earlier turns; `cited`: its contexts alone.
    """
    values = np.full(len(answered), np.nan)
    undefined: dict[int, str] = {}
    texts_by_pair = answered.contexts if cited else answered.evidence
    for pair, (answer, contexts) in enumerate(zip(answered.answers, texts_by_pair, strict=True)):
        answer_text = drop_blocks(answer or "")
        result: float | str
        if contexts is None:
            result = NO_CONTEXTS
        elif not answer_text.strip():
            result = EMPTY_ANSWER
        elif contexts and not any(text.strip() for text in contexts):
            result = BLANK_CONTEXTS
        else:
            result = score(answer_text, contexts, pair)
        if isinstance(result, str):
            undefined[pair] = result
        else:
            values[pair] = result
    return MeasureResult(values, undefined)
