"""Terms: what an engine of words counts, made of the words of a text.

| name    | what it does                                                                                       |
|---------|----------------------------------------------------------------------------------------------------|
| `plain` | lower case, split at white space, nothing else                                                     |
| `words` | lower case, split at white space and punctuation; "don't" is one word and so is "3.5"              |
| `stem`  | `words` without stop words, each reduced to its stem by Snowball                                   |

Every word is stemmed by the language of its script, in the corpus and in a query alike: a Cyrillic word as Russian,
a Devanagari one as Hindi, a Latin one as the language that the texts in Latin script are in. So a corpus of several
languages and a question in one of them meet.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import accumulate
from typing import Any, Literal, get_args

import numpy as np

from karat.core.errors import UsageError, did_you_mean
from karat.core.text.characters import OTHER, PUNCTUATION, SPACE, TECHNICAL, kinds_of, points_of, text_of
from karat.core.text.codes import TokenIds, Vocabulary
from karat.core.text.languages import stop_words

Kind = Literal["plain", "words", "stem"]
KINDS: tuple[Kind, ...] = get_args(Kind)
AUTO = "auto"

# Language code: the Snowball algorithm, and the scripts it is for.
STEMMERS: dict[str, tuple[str, tuple[str, ...]]] = {
    "ar": ("arabic", ("arabic",)),
    "ca": ("catalan", ("latin",)),
    "cs": ("czech", ("latin",)),
    "da": ("danish", ("latin",)),
    "de": ("german", ("latin",)),
    "el": ("greek", ("greek",)),
    "en": ("english", ("latin",)),
    "eo": ("esperanto", ("latin",)),
    "es": ("spanish", ("latin",)),
    "et": ("estonian", ("latin",)),
    "eu": ("basque", ("latin",)),
    "fa": ("persian", ("arabic",)),
    "fi": ("finnish", ("latin",)),
    "fr": ("french", ("latin",)),
    "ga": ("irish", ("latin",)),
    "hi": ("hindi", ("devanagari",)),
    "hu": ("hungarian", ("latin",)),
    "hy": ("armenian", ("armenian",)),
    "id": ("indonesian", ("latin",)),
    "it": ("italian", ("latin",)),
    "lt": ("lithuanian", ("latin",)),
    "ne": ("nepali", ("devanagari",)),
    "nl": ("dutch", ("latin",)),
    "no": ("norwegian", ("latin",)),
    "pl": ("polish", ("latin",)),
    "pt": ("portuguese", ("latin",)),
    "ro": ("romanian", ("latin",)),
    "ru": ("russian", ("cyrillic",)),
    "sr": ("serbian", ("cyrillic", "latin")),
    "st": ("sesotho", ("latin",)),
    "sv": ("swedish", ("latin",)),
    "ta": ("tamil", ("tamil",)),
    "tr": ("turkish", ("latin",)),
    "yi": ("yiddish", ("hebrew",)),
}
_USUAL = {
    "arabic": "ar",
    "armenian": "hy",
    "cyrillic": "ru",
    "devanagari": "hi",
    "greek": "el",
    "latin": "en",
    "tamil": "ta",
}
_SCRIPTS = (
    ("latin", 0x0041, 0x024F),
    ("greek", 0x0370, 0x03FF),
    ("cyrillic", 0x0400, 0x052F),
    ("armenian", 0x0530, 0x058F),
    ("hebrew", 0x0590, 0x05FF),
    ("arabic", 0x0600, 0x06FF),
    ("devanagari", 0x0900, 0x097F),
    ("tamil", 0x0B80, 0x0BFF),
    ("latin", 0x1E00, 0x1EFF),
    ("greek", 0x1F00, 0x1FFF),
)
_ELIDING = ("ca", "fr", "it")

_APOSTROPHES = "'’ʼ"
# What a typesetter puts inside words: soft hyphens, zero-width joiners and marks.
_INVISIBLE = "\u00ad\u200b\u200c\u200d\u2060\ufeff"
_IN_NUMBER = re.compile(r"(?<=\d)[.,](?=\d)")
_ASCII_BREAKS = {c: " " for c in range(128) if not chr(c).isalnum() and chr(c) not in _APOSTROPHES}
_ASCII_TABLE = "".join(_ASCII_BREAKS.get(c, chr(c)) for c in range(128))


@dataclass(frozen=True)
class Terms:
    """How texts become terms. `language` is a code, "auto" once `fitted` has looked at the texts."""

    kind: Kind = "stem"
    language: str = AUTO

    @classmethod
    def asked(cls, kind: Any, language: Any) -> Terms:
        """From settings; what cannot be is a UsageError."""
        if kind not in KINDS:
            raise UsageError(
                f"terms = {kind!r} is unknown.{did_you_mean(str(kind), KINDS)} There are {', '.join(KINDS)}."
            )
        names = {algorithm: code for code, (algorithm, _) in STEMMERS.items()}
        code = names.get(language, language)
        if code != AUTO and code not in STEMMERS:
            near = did_you_mean(str(language), [AUTO, *STEMMERS, *names])
            raise UsageError(f"language = {language!r} has no stemmer.{near} There are {', '.join([AUTO, *STEMMERS])}.")
        if kind == "stem" and code != AUTO and STEMMERS[code][0] not in _algorithms():
            raise UsageError(f"this PyStemmer has no stemmer for {STEMMERS[code][0]}. Upgrade PyStemmer, or use words.")
        return cls(kind, code)

    def fitted(self, counts: Mapping[Any, int]) -> Terms:
        """The same for texts of these languages: an automatic one is the commonest of those in Latin script."""
        if self.language != AUTO or self.kind != "stem":
            return self
        latin = [(count, code) for code, count in counts.items() if code and "latin" in STEMMERS[code][1]]
        return Terms(self.kind, max(latin)[1] if latin else "en")

    @cached_property
    def language_of(self) -> dict[str, str]:
        """The language that words of a script are taken to be in."""
        chosen = STEMMERS[self.language][1] if self.language in STEMMERS else ()
        return {**_USUAL, **dict.fromkeys(chosen, self.language)}

    def vocabulary(self) -> Vocabulary:
        """An empty vocabulary that `encode` fills with words, not yet terms."""
        return Vocabulary("plain")

    def encode(self, texts: Sequence[str], vocabulary: Vocabulary) -> TokenIds:
        """The words of each text as numbers of the vocabulary."""
        return vocabulary.encode(texts if self.kind == "plain" else self._parted(texts))

    def of_words(self, words: Sequence[str]) -> list[str]:
        """The term of each word, empty where it has none because it is a stop word."""
        if self.kind != "stem":
            return list(words)
        terms = list(words)
        by_language: dict[str, list[int]] = {}
        for i, word in enumerate(words):
            language = self.language_of.get(_script(word))
            if language is not None:
                by_language.setdefault(language, []).append(i)
        for language, places in by_language.items():
            stop = stop_words(language, "words")
            stemmed = stems(language, [words[i] for i in places])
            for i, stem in zip(places, stemmed, strict=True):
                terms[i] = "" if words[i] in stop else stem
        return terms

    def of(self, text: str) -> list[str]:
        """The terms of one text, in order.

        >>> Terms("stem", "en").of("The night watches, 3.5 hours each")
        ['night', 'watch', '35', 'hour']
        """
        (terms,) = self.of_each([text])
        return terms

    def of_each(self, texts: Sequence[str]) -> list[list[str]]:
        """The terms of each text, in order: many at once are quicker than one by one."""
        vocabulary = self.vocabulary()
        coded = self.encode(texts, vocabulary)
        terms = self.of_words(vocabulary.words())
        return [[terms[code] for code in coded[i].tolist() if terms[code]] for i in range(len(texts))]

    def _parted(self, texts: Sequence[str]) -> list[str]:
        """The texts with white space where one word ends and another begins, and no other punctuation."""
        apostrophe = " " if self.language in _ELIDING else ""
        table = str.maketrans(dict(zip(map(chr, range(128)), _ASCII_TABLE, strict=True)) | {"'": apostrophe})
        plain = [_IN_NUMBER.sub("", text).translate(table) if text.isascii() else "" for text in texts]
        wide = [i for i, text in enumerate(texts) if not text.isascii()]
        for i, text in zip(wide, _parted_wide([texts[i] for i in wide], apostrophe), strict=True):
            plain[i] = text
        return plain


def _parted_wide(texts: Iterable[str], apostrophe: str) -> list[str]:
    """The same for texts that are not all ASCII: composed and folded (NFKC), marks of letters kept."""
    composed = [_IN_NUMBER.sub("", unicodedata.normalize("NFKC", text)) for text in texts]
    if not composed:
        return []
    points = points_of("\n".join([*composed, ""])).copy()
    ends = np.fromiter(accumulate(len(text) + 1 for text in composed), np.int64, len(composed)) - 1
    kinds = kinds_of(points)
    keep = ~np.isin(points, points_of(_INVISIBLE + ("" if apostrophe else _APOSTROPHES)))
    points[np.isin(kinds, (SPACE, PUNCTUATION, TECHNICAL, OTHER))] = 32
    points[np.isin(points, points_of(_APOSTROPHES))] = 32
    points[ends] = 10
    return text_of(points[keep]).split("\n")[:-1]


def _script(word: str) -> str:
    """The script of a word, by its first letter or mark; "" where it begins with a digit or is of another script."""
    point = ord(word[0]) if word else 0
    return next((name for name, first, last in _SCRIPTS if first <= point <= last), "")


@cache
def _algorithms() -> frozenset[str]:
    import Stemmer

    return frozenset(Stemmer.algorithms())


def stems(language: str, words: list[str]) -> list[str]:
    """The stem of each word of a language."""
    import Stemmer

    sound = [word.encode("utf-8", "replace").decode() for word in words]
    stemmed: list[str] = Stemmer.Stemmer(STEMMERS[language][0], 0).stemWords(sound)
    return [stem or word for stem, word in zip(stemmed, words, strict=True)]
