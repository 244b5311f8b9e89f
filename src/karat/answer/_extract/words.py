"""Words of a text with their places and stems."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from karat.core.text import stop_words

_STEMMERS = {"en": "english", "ru": "russian", "hi": "hindi", "de": "german", "fr": "french", "es": "spanish"}
# A number with its marks, a word with its combining marks, or a sign of money or share that stands for a word.
_WORD = re.compile(r"\d+(?:[.,:/]\d+)*|[^\W\d_][\w\u0300-\u036f\u0900-\u0963'’]*|[%‰€$£₽¥₹°]")
_LONGEST = 40  # letters of a word that are looked at
_CYRILLIC = re.compile("[\u0400-\u052f]")
_DEVANAGARI = re.compile("[\u0900-\u097f]")


class Word(NamedTuple):
    """A word: where it stands, in small letters, its stem, and whether it is a mere function word."""

    start: int
    end: int
    lower: str
    stem: str
    stop: bool


def words_of(text: str, language: str | None) -> list[Word]:
    """The words of a text. Cyrillic and Devanagari are read as Russian and Hindi whatever the language."""
    found = []
    for match in _WORD.finditer(text):
        start, end = match.span()
        found.append(Word(start, end, *_known(text[start : min(end, start + _LONGEST)], language)))
    return found


@lru_cache(maxsize=65_536)
def _known(written: str, language: str | None) -> tuple[str, str, bool]:
    """A word in small letters, its stem, and whether it is a function word."""
    lower = written.lower().replace("’", "'").removesuffix("'s").rstrip("'")
    if _CYRILLIC.search(lower):
        language = "ru"
    elif _DEVANAGARI.search(lower):
        language = "hi"
    if language not in _STEMMERS or not lower[:1].isalpha():
        return lower, lower, lower in stop_words(language, "plain")
    plain = lower.replace("'", "")
    stop = lower in stop_words(language, "plain") or len(plain) == 1
    stem = str(_stemmer(language).stemWord(plain.encode("utf-8", "replace").decode()))
    return lower, stem or plain, stop


@lru_cache(maxsize=8)
def _stemmer(language: str):  # type: ignore[no-untyped-def]
    import Stemmer

    return Stemmer.Stemmer(_STEMMERS[language], 0)
