"""Support: whether a chunk says what a question asks and what its reference answers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from karat.core.text import sentences
from karat.testset.audit._lexicon import content_of

if TYPE_CHECKING:
    from karat.testset.audit._view import View

VERDICTS = frozenset(
    "yes no true false correct incorrect да нет верн неверн хорош हाँ हां नहीं ja nein oui non si sí".split()
)
_NUMBERS = {
    word: str(value)
    for value, words in enumerate(
        (
            "zero ноль",
            "one один одна одно",
            "two два две",
            "three три",
            "four четыре",
            "five пять",
            "six шесть",
            "seven семь",
            "eight восемь",
            "nine девять",
            "ten десять",
            "eleven одиннадцать",
            "twelve двенадцать",
            "thirteen",
            "fourteen",
            "fifteen",
            "sixteen",
            "seventeen",
            "eighteen",
            "nineteen",
            "twenty двадцать",
        )
    )  # fmt: skip
    for word in words.split()
} | {"thirty": "30", "forty": "40", "fifty": "50", "sixty": "60", "seventy": "70", "eighty": "80", "ninety": "90"}
_NEAR = 3  # neighbouring sentences that are read together


def claims_of(view: View, q: int) -> tuple[frozenset[str], ...]:
    """What each reference answer of a question claims: its content words but for yes and no; those that claim any."""
    return tuple(claimed for answer in view.answers[q] if (claimed := answer - VERDICTS))


def held_by(view: View, claimed: frozenset[str], held: frozenset[str] | set[str]) -> float:
    """How much of a claim some words hold, by weight; a number may be written in letters or digits."""
    whole = view.weights.of(claimed)
    return view.weights.of(stem for stem in claimed if stem in held or _spelled(stem, held)) / whole if whole else 0.0


@lru_cache(maxsize=4096)
def _stemmed(word: str) -> frozenset[str]:
    language = "en" if word.isascii() else "ru"
    return frozenset(content_of(word, language))


def _spelled(stem: str, held: frozenset[str] | set[str]) -> bool:
    """Whether a number stands among the words in its other spelling."""
    if stem.isdecimal():
        return any(value == stem and not _stemmed(word).isdisjoint(held) for word, value in _NUMBERS.items())
    return any(stem in _stemmed(word) and value in held for word, value in _NUMBERS.items())


@dataclass(frozen=True)
class Window:
    """The best few sentences of a chunk: how much of the question and of the answer they hold, by weight."""

    question: float
    answer: float


def windows(view: View, row: int) -> list[frozenset[str]]:
    """The stems of every few neighbouring sentences of a chunk, its title with each."""
    if row not in view.windows:
        language = view.chunk_languages[row]
        title = content_of(view.chunks[row].title or "", language)
        parts = [content_of(sentence, language) for sentence in sentences(view.chunks.texts[row])]
        view.windows[row] = [
            frozenset((*title, *(stem for part in parts[i : i + _NEAR] for stem in part)))
            for i in range(max(1, len(parts) - _NEAR + 1))
        ]
    return view.windows[row]


def window_of(view: View, q: int, row: int, claims: tuple[frozenset[str], ...]) -> Window:
    """The window that holds most of question and answer together."""
    asked = view.asked_sets[q]
    best = Window(0.0, 0.0)
    for held in windows(view, row):
        made = Window(view.weights.share(asked, held), max((held_by(view, c, held) for c in claims), default=0.0))
        if made.question + made.answer > best.question + best.answer:
            best = made
    return best


def candidates(view: View, q: int, most: int) -> list[int]:
    """Rows that engines find for a question, the first of each first."""
    lists = [ranked.of(q)[0][:most].tolist() for ranked in (*view.ranked.values(), *view.ranked_answers.values())]
    return list(dict.fromkeys(row for place in range(most) for rows in lists for row in rows[place : place + 1]))
