"""Words of questions and chunks by their stems, and how much each of them tells."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache

from karat.core.text import guess_language, stop_words, tokenise
from karat.models.terms import stemmer

LATIN = ("en", "de", "fr", "es")
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_JOINING = str.maketrans(dict.fromkeys("-–—/_'’", " "))
# Words by which people ask, whatever they ask about.
_ASKED_BY = """
many please tell know explain describe kindly say think want wonder ask question answer exactly actually
hello hi hey thanks thank nowadays currently really здравствуйте привет спасибо сейчас
s t d ll re ve m don doesn didn isn aren wasn won couldn shouldn wouldn
сколько какова каков каково каковы каким какими каких какую какому чему кем назовите скажите подскажите укажите
пожалуйста расскажите зачем отчего знать хочу хотел
bitte sagen wieviel viele viel welche dites combien quel quelle cuál cuántos cuántas cuánto por favor
"""
_ASKING = frozenset(_ASKED_BY.split())


class _Stems(dict[str, str]):
    """The stem of each word; "" of a word that says nothing about what is asked."""

    def __init__(self, language: str | None) -> None:
        self._stop = stop_words(language, "words") | _ASKING
        self._stem = stemmer(language)

    def __missing__(self, word: str) -> str:
        stem = self[word] = "" if word in self._stop else self._stem(word)
        return stem


@cache
def _stems(language: str | None) -> _Stems:
    return _Stems(language)


def words_of(text: str) -> list[str]:
    """The words of a text in small letters, parts of joined ones apart; of writing without spaces each character.

    >>> words_of("Night-watch in 東京")
    ['night', 'watch', 'in', '東', '京']
    """
    if not text.isascii():
        text = _UNSPACED.sub(r" \g<0> ", text)
    return tokenise(text.translate(_JOINING), "words")


def content_of(text: str, language: str | None) -> list[str]:
    """The stems of the content words of a text, in order; numbers count.

    >>> content_of("How long are the night-watches?", "en")
    ['long', 'night', 'watch']
    """
    stems = _stems(language)
    return [stem for word in words_of(text) if (stem := stems[word])]


def spoken(text: str, beside: str | None) -> str | None:
    """The language to read a short text in that belongs to a longer one: of words in one script the longer tells."""
    own = guess_language(text)
    return beside if own in LATIN and beside in LATIN else own


class Weights(dict[str, float]):
    """How much a stem tells: the logarithm of how few chunks hold it. An unknown one tells most."""

    def __init__(self, texts: Iterable[frozenset[str]]) -> None:
        self.held: Counter[str] = Counter()
        self.size = 0
        for stems in texts:
            self.held.update(stems)
            self.size += 1

    def __missing__(self, stem: str) -> float:
        weight = self[stem] = math.log(1 + (self.size + 1) / (self.held.get(stem, 0) + 1))
        return weight

    def of(self, stems: Iterable[str]) -> float:
        """The weight of several together, whatever their order."""
        return math.fsum(map(self.__getitem__, stems))

    def share(self, wanted: frozenset[str], held: frozenset[str] | set[str]) -> float:
        """How much of what is wanted is held, by weight; 0 where nothing is wanted."""
        whole = self.of(wanted)
        return self.of(wanted & held) / whole if whole else 0.0


def longest_run(ours: Sequence[str], theirs: Sequence[str]) -> int:
    """The most neighbouring words that stand in both, in the same order.

    >>> longest_run("a b c d".split(), "x b c d a".split())
    3
    """
    places: dict[str, list[int]] = {}
    for place, word in enumerate(theirs):
        places.setdefault(word, []).append(place)
    best = 0
    before: dict[int, int] = {}
    for word in ours:
        now = {place: before.get(place - 1, 0) + 1 for place in places.get(word, ())}
        best = max(best, max(now.values(), default=0))
        before = now
    return best
