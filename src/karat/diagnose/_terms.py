"""Content words of a text by their stems, so that a word is met in whatever form it stands."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from karat.core.text import guess_language, stop_words, tokenise

_STEMMERS = {"en": "english", "ru": "russian", "hi": "hindi", "de": "german", "fr": "french", "es": "spanish"}
_JOINED = re.compile(r"[-–—/_]")


@lru_cache(maxsize=8)
def _stemmer(language: str | None) -> Any:
    import Stemmer

    return Stemmer.Stemmer(_STEMMERS[language]) if language in _STEMMERS else None


def terms(text: str, language: str | None = None) -> frozenset[str]:
    """The stems of the content words of a text; numbers count. The language is guessed where it is not given.

    >>> sorted(terms("How long are the night-watches?"))
    ['long', 'night', 'watch']
    """
    language = language or guess_language(text)
    words = set(tokenise(_JOINED.sub(" ", text), "words")) - stop_words(language, "words")
    stemmer = _stemmer(language)
    return frozenset(words if stemmer is None else stemmer.stemWords(sorted(words)))
