"""Whether a text supports a sentence: it holds enough of its content words, and every figure."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from karat.core.text.blocks import open_blocks
from karat.core.text.detect import VERDICTS
from karat.core.text.normalise import tokenise
from karat.core.text.numbers import figures, readings, without_figures
from karat.core.text.sentences import sentences

SUPPORTED = 0.5
"""Share of the content words and figures of a sentence that a text which supports it holds."""

Words = Callable[[str, str | None], Collection[str]]
"""Content words of a text in a language, in a form in which they can be compared (`karat.models.terms.terms`)."""

_SPELLED = (
    "zero ноль", "one one's once один одна одно", "two twice два две двух", "three три трёх", "four четыре",
    "five пять", "six шесть", "seven семь", "eight восемь", "nine девять", "ten десять", "eleven одиннадцать",
    "twelve двенадцать", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
    "twenty двадцать",
)  # fmt: skip
_TENS = {"thirty": "30", "forty": "40", "fifty": "50", "sixty": "60", "seventy": "70", "eighty": "80", "ninety": "90"}
NUMBER_WORDS = (
    {word: str(value) for value, words in enumerate(_SPELLED) for word in words.split()} | _TENS | {"half": "0.5"}
)
"""Numbers in letters and what they are in digits."""
# "one" may be no number: in a text it counts as one, in a claim it does not.
_UNSURE = frozenset(("zero", "half", "ноль", *_SPELLED[1].split()))
_AROUND = "\"'`.,;:!?…।()[]{}«»“”„‘’"
COUNT_WORDS = tuple(word for word in NUMBER_WORDS if word not in _UNSURE)
"""Words that are numbers wherever they stand."""
_CLAIMING = re.compile(rf"\b(?:{'|'.join(COUNT_WORDS)})\b", re.IGNORECASE)


@dataclass(frozen=True)
class Support:
    """The share of a claim that a text holds, and the words and figures that it does not."""

    share: float
    words: list[str]
    figures: list[str]

    def enough(self, threshold: float = SUPPORTED) -> bool:
        """Whether the text supports the claim: it holds this share of it, and every figure."""
        return self.share > 0 and self.share >= threshold and not self.figures


@dataclass(frozen=True)
class Claim:
    """A sentence by its content words (as they are compared: as they stand) and its figures, as sets of readings."""

    text: str
    words: Mapping[str, str]
    figures: tuple[frozenset[str], ...] = ()

    @classmethod
    def of(cls, sentence: str, language: str | None, words: Words) -> Claim:
        """What a sentence claims; 1,000, "ten" and "5 May 2020" are figures, yes and no are nothing."""
        spelled = [frozenset((NUMBER_WORDS[word.lower()],)) for word in _CLAIMING.findall(sentence)]
        tokens = dict.fromkeys(_CLAIMING.sub(" ", without_figures(sentence)).lower().split())
        forms = {
            form: token.strip(_AROUND)
            for token in tokens
            for form in sorted(words(token, language))
            if form not in VERDICTS
        }
        return cls(sentence, forms, tuple(dict.fromkeys([*figures(sentence), *spelled])))

    def __len__(self) -> int:
        return len(self.words) + len(self.figures)

    def without(self, words: Collection[str]) -> Claim:
        """The claim without these words."""
        return replace(self, words={form: token for form, token in self.words.items() if form not in words})

    def against(self, held: SupportText, weight: Callable[[str], float] = lambda term: 1.0) -> Support:
        """How far a text supports the claim. `weight`: how much a word or figure counts, where a corpus tells."""
        words = {form: token for form, token in self.words.items() if form not in held.words}
        lacking = [_shown(figure) for figure in self.figures if held.readings.isdisjoint(figure)]
        whole = sum(map(weight, self.words)) + sum(weight(_shown(figure)) for figure in self.figures)
        missing = sum(map(weight, words)) + sum(map(weight, lacking))
        return Support(1 - missing / whole if whole else 0.0, list(words.values()), lacking)


@dataclass(frozen=True)
class SupportText:
    """A text by all its words and every reading of its figures, those in letters among them."""

    text: str
    words: frozenset[str]
    readings: frozenset[str]

    @classmethod
    def of(cls, text: str, language: str | None, words: Words) -> SupportText:
        tokens = frozenset(tokenise(text))
        spelled = {NUMBER_WORDS[word] for word in tokens if word in NUMBER_WORDS}
        return cls(text, tokens.union(words(text, language)), frozenset(readings(text) | spelled))

    @classmethod
    def together(cls, texts: Iterable[SupportText]) -> SupportText:
        """Several texts as one."""
        parts = list(texts)
        return cls(
            "\n".join(part.text for part in parts),
            frozenset[str]().union(*(part.words for part in parts)),
            frozenset[str]().union(*(part.readings for part in parts)),
        )


def held_sentences(context: str, language: str | None, words: Words) -> list[SupportText]:
    """The sentences of a context."""
    return [SupportText.of(" ".join(sentence.split()), language, words) for sentence in sentences(open_blocks(context))]


def nearest(
    claim: Claim, candidates: Iterable[tuple[int, SupportText]], enough: float
) -> tuple[Support, int, SupportText] | None:
    """The candidate that holds most of a claim: how far it supports it, its number and itself.

    One that supports the claim goes before all others; of the best the first. None: all hold nothing.
    """
    best = None
    for number, held in candidates:
        support = claim.against(held)
        order = (support.enough(enough), support.share)
        if support.share > 0 and (best is None or order > best[0]):
            best = order, (support, number, held)
            if support.share == 1:
                break
    return None if best is None else best[1]


def _shown(figure: frozenset[str]) -> str:
    return min(figure, key=lambda reading: ("." in reading, reading))
