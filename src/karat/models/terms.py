"""Content words of a text by their stems, so that a word is met in whatever form it stands."""

from __future__ import annotations

import re
from functools import lru_cache

from karat.core.text import guess_language, stop_words, tokenise

_STEMMERS = {"en": "english", "ru": "russian", "hi": "hindi", "de": "german", "fr": "french", "es": "spanish"}
_JOINED = re.compile(r"[-–—/_]")


class _Stems(dict[str, str]):
    """Words and their stems, each worked out once."""

    def __init__(self, algorithm: str) -> None:
        import Stemmer

        self._stem = Stemmer.Stemmer(algorithm, 0).stemWord

    def __missing__(self, word: str) -> str:
        stem = self[word] = str(self._stem(word))
        return stem


@lru_cache(maxsize=8)
def _stems(language: str | None) -> _Stems | None:
    return _Stems(_STEMMERS[language]) if language in _STEMMERS else None


def terms(text: str, language: str | None = None) -> frozenset[str]:
    """The stems of the content words of a text; numbers count. The language is guessed where it is not given.

    >>> sorted(terms("How long are the night-watches?"))
    ['long', 'night', 'watch']
    """
    language = language or guess_language(text)
    words = set(tokenise(_JOINED.sub(" ", text), "words")) - stop_words(language, "words")
    stems = _stems(language)
    return frozenset(map(stems.__getitem__, words)) if stems is not None else frozenset(words)
