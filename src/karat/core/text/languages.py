"""Which language a text is in, guessed from its script and its function words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Literal, get_args

from karat.core.text.normalise import tokenise
from karat.core.text.stopwords import stop_words

Language = Literal["en", "ru", "hi", "de", "fr", "es"]
LANGUAGES: tuple[Language, ...] = get_args(Language)
NAMES: dict[str, str] = {
    "en": "English", "ru": "Russian", "hi": "Hindi", "de": "German", "fr": "French", "es": "Spanish",
}  # fmt: skip

_SCRIPTS = {
    "latin": re.compile("[A-Za-z\u00c0-\u024f]+"),
    "cyrillic": re.compile("[\u0400-\u052f]+"),
    "devanagari": re.compile("[\u0900-\u097f]+"),
}
_LATIN: tuple[Language, ...] = ("en", "de", "fr", "es")
_ENOUGH = 4000
_SAMPLE = 200  # texts of many that are looked at


def guess_language(text: str) -> Language | None:
    """The language of a text, or None when it is in a script that karat has no stop words for.

    Cyrillic counts as Russian and Devanagari as Hindi. Latin script goes to the language most of whose function words
    it holds; English when none or several do equally.

    >>> guess_language("Wo liegt die Stadt?"), guess_language("Где находится город?"), guess_language("東京")
    ('de', 'ru', None)
    """
    text = text[:_ENOUGH]
    size = {script: sum(map(len, letters.findall(text))) for script, letters in _SCRIPTS.items()}
    script = max(size, key=lambda name: size[name])
    if size[script] == 0:
        return None if any(c.isalpha() for c in text) else "en"
    if script == "cyrillic":
        return "ru"
    if script == "devanagari":
        return "hi"
    words = tokenise(text, "words")
    hits = {language: sum(map(stop_words(language, "words").__contains__, words)) for language in _LATIN}
    best = max(hits.values())
    return "en" if hits["en"] == best else next(language for language in _LATIN if hits[language] == best)


def count_languages(texts: Sequence[str]) -> Counter[Language | None]:
    """How many of some texts are in each language: of many, some 200 are looked at. Those without letters are none."""
    some = texts[:: max(1, len(texts) // _SAMPLE)]
    return Counter(guess_language(text) for text in some if any(c.isalpha() for c in text[:_SAMPLE]))


def main_language(texts: Sequence[str]) -> Language | None:
    """The language that most of some texts are in; English where none has letters.

    >>> main_language(["Паром уходит утром.", "Маяк погас.", "The end."])
    'ru'
    """
    found = count_languages(texts).most_common(1)
    return found[0][0] if found else "en"
