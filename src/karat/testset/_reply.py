"""Replies of a chat model that is to write questions: their schemas, and what is left when labels are gone."""

from __future__ import annotations

import re

from pydantic import BaseModel, ConfigDict, Field

from karat.core.text.sentences import sentence_spans

_LEAST_WORDS = 5  # of a quote, below which it stands in too many places: it is widened to its sentence
_LONG = 2000  # characters of a question or an answer
_LABEL = re.compile(
    r"(?:the\s+)?(?:question|answer|q|a|вопрос|ответ|frage|antwort|réponse|pregunta|respuesta|प्रश्न|उत्तर)"
    r"(?:\s*+(?:№|#|no\.?)?\s*+\d{1,3})?\s*+[:：]\s*+|(?:question|q|вопрос|frage|pregunta)\s*+(?:№|#)?\s*+\d{1,3}\s*+[.)]\s++",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"(?:\(\d{1,3}\)|\[\d{1,3}\]|\d{1,3}\s*[.)]|№\s*\d{1,3}[.)]?)\s+(?=\S)|[-*•–—]\s+|#{1,6}\s+")
_PAIRS = (('"', '"'), ("'", "'"), ("«", "»"), ("“", "”"), ("„", "“"), ("‘", "’"), ("`", "`"), ("**", "**"), ("*", "*"))


class _Reply(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)

    question: str = Field(max_length=_LONG)


class OnlyQuestion(_Reply):
    """A question that has no answer."""


class OneFragment(_Reply):
    """A question about one fragment, its answer and what holds it."""

    answer: str = Field(max_length=_LONG)
    quote: str = Field(max_length=10 * _LONG)


class TwoFragments(_Reply):
    """A question about two fragments, its answer and what each gives to it."""

    answer: str = Field(max_length=_LONG)
    quote_1: str = Field(max_length=10 * _LONG)
    quote_2: str = Field(max_length=10 * _LONG)


def quotes_of(reply: BaseModel) -> tuple[str, ...]:
    """The quotes of a reply, in the order of its fragments."""
    if isinstance(reply, TwoFragments):
        return (reply.quote_1, reply.quote_2)
    return (reply.quote,) if isinstance(reply, OneFragment) else ()


def clean(text: str, *, numbered: bool = True) -> str:
    """A question or an answer on one line, without numbering, label, list mark and the quotes around it.

    `numbered` False leaves numbers in front alone: an answer may begin with one. Of several numbered lines the first
    is taken.

    >>> clean('1) **Question:** "Who keeps the log?"'), clean("Answer: 10. Mai", numbered=False)
    ('Who keeps the log?', '10. Mai')
    """
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if numbered and len(lines) > 1 and all(_NUMBER.match(line) for line in lines):
        lines = lines[:1]
    line = " ".join(" ".join(lines).split())
    while True:
        before = line
        line = line.strip()
        for pattern in (_LABEL, _NUMBER) if numbered else (_LABEL,):
            line = pattern.sub("", line, count=1) if pattern.match(line) else line
        line = _unwrapped(line)
        if line == before:
            return line


def _unwrapped(line: str) -> str:
    """Without the marks around the whole, or around a label in front of it."""
    for opening, closing in _PAIRS:
        inner = line[len(opening) : len(line) - len(closing)]
        whole = len(line) > len(opening) + len(closing) and line.startswith(opening) and line.endswith(closing)
        if whole and opening not in inner and closing not in inner:
            return inner
    marked = re.match(r"(\*\*|__)(.{1,40}?)\1\s*", line)
    if marked and _LABEL.fullmatch(f"{marked[2]} "):
        return line[marked.end() :]
    if marked and line[marked.end() :].startswith(":") and _LABEL.fullmatch(f"{marked[2]}: "):
        return line[marked.end() + 1 :]
    return line


def standing(quote: str, text: str) -> str:
    """A quote as it stands in the text, whatever it changed in case, spaces and punctuation; a short one with its
    sentence. One that does not stand there comes back as it is.

    >>> standing("“the fuel  book”", "Sign it. The Fuel-Book lies in the mess room.")
    'The Fuel-Book lies in the mess room.'
    """
    place = _place(quote, text)
    if place is None:
        return quote
    start, end = place
    if len(text[start:end].split()) < _LEAST_WORDS:
        for low, high in sentence_spans(text):
            if low < end and high > start:
                start, end = min(start, low), max(end, high)
    return text[start:end]


def _place(quote: str, text: str) -> tuple[int, int] | None:
    """Where the letters and digits of a quote stand in a text, from a word's beginning to a word's end."""
    letters, places = _letters(text)
    wanted, _ = _letters(quote)
    at = letters.find(wanted) if wanted else -1
    while at >= 0:
        start, end = places[at], places[at + len(wanted) - 1] + 1
        if not text[max(0, start - 1) : start].isalnum() and not text[end : end + 1].isalnum():
            while end < len(text) and text[end] in ".!?…।。»”\"')":
                end += 1
            return start, end
        at = letters.find(wanted, at + 1)
    return None


def _letters(text: str) -> tuple[str, list[int]]:
    """The letters and digits of a text in lower case, and where each stands."""
    letters, places = [], []
    for at, character in enumerate(text):
        if character.isalnum():
            for one in character.lower():
                letters.append(one)
                places.append(at)
    return "".join(letters), places
