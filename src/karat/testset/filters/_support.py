"""What of an answer a text bears out: its content words and its numbers, in figures or in words."""

from __future__ import annotations

import re

from karat.core.text import tokenise
from karat.core.text.numbers import figures, readings
from karat.testset.filters._surroundings import Surroundings

_POLAR = re.compile(r"^\s*(?:yes|no|да|нет)\b[\s,.:;—–-]*", re.IGNORECASE)
_WORDS_EN = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
_WORDS_RU = "ноль один два три четыре пять шесть семь восемь девять десять одиннадцать двенадцать"
_TENS = {"twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90}
_NUMBER_WORDS: dict[str, str] = {
    **{word: str(number) for words in (_WORDS_EN, _WORDS_RU) for number, word in enumerate(words.split())},
    **{word: str(number) for word, number in _TENS.items()},
    **{
        "once": "1",
        "twice": "2",
        "a": "1",
        "an": "1",
        "одна": "1",
        "две": "2",
        "трёх": "3",
        "двух": "2",
        "half": "0.5",
    },
}


def content(answer: str, surroundings: Surroundings) -> frozenset[str]:
    """The stems of an answer, a leading yes or no aside; numbers in words as figures."""
    told = _POLAR.sub("", answer)
    return surroundings.stems(told if told.strip() else answer)


def missing_figures(answer: str, text: str) -> list[str]:
    """The numbers and dates of an answer that a text holds neither in figures nor in words.

    >>> missing_figures("6 of 40 litres", "six of them, four hundred litres")
    ['40']
    """
    held = readings(text) | {_NUMBER_WORDS[word] for word in tokenise(text, "words") if word in _NUMBER_WORDS}
    return [min(sorted(one), key=len) for one in figures(answer) if one.isdisjoint(held)]


def with_figures(stems: frozenset[str], text: str) -> frozenset[str]:
    """The stems of a text and, for its numbers in words, the figures that mean the same."""
    return stems | {_NUMBER_WORDS[word] for word in tokenise(text, "words") if word in _NUMBER_WORDS}
