"""Content words of a text by their stems, so that a word is met in whatever form it stands."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

from karat.core.text import guess_language, stop_words, tokenise

_STEMMERS = {"en": "english", "ru": "russian", "hi": "hindi", "de": "german", "fr": "french", "es": "spanish"}
_JOINED = re.compile(r"[-–—/_]")


@cache
def stemmer(language: str | None) -> Callable[[str], str]:
    """What gives the stem of a word, each worked out once; the word itself in a language without a stemmer here."""
    if language not in _STEMMERS:
        return str
    import Stemmer

    return cache(Stemmer.Stemmer(_STEMMERS[language], 0).stemWord)


def terms(text: str, language: str | None = None) -> frozenset[str]:
    """The stems of the content words of a text; numbers count. The language is guessed where it is not given.

    >>> sorted(terms("How long are the night-watches?"))
    ['long', 'night', 'watch']
    """
    language = language or guess_language(text)
    words = set(tokenise(_JOINED.sub(" ", text), "words")) - stop_words(language, "words")
    return frozenset(map(stemmer(language), words))
