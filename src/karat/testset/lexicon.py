"""Lexicon: the words of questions and chunks by their stems, how much each tells, and the words that ask."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

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
_ASKING_WORD = re.compile(
    r"\b(?:how (?:many|much|long|often|far|old|soon|high|deep|big|large|fast|heavy|late|early|wide|cold|warm)"
    r"|what|which|who|whom|whose|when|where|why|how)\b"
    r"|\b(?:сколько|когда|где|куда|откуда|почему|зачем|кто|кого|кому|кем|чей|как(?:ой|ая|ое|ие|ого|ую|их|ими?|ому?)?"
    r"|что|чего|чему|чем)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class ChunkSentence:
    """A sentence of a chunk, and the stems of its content words."""

    text: str
    stems: frozenset[str]


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
    stop, stem = stop_words(language, "words"), stemmer(language)
    return [stem(word) for word in words_of(text) if word not in stop and word not in _ASKING]


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
    return SequenceMatcher(None, ours, theirs, autojunk=False).find_longest_match().size


def one_line(text: str) -> str:
    """A text with every white space as one space.

    >>> one_line(" two\\n words ")
    'two words'
    """
    return " ".join(text.split())


def without_asking(text: str) -> str:
    """A question without the words that ask in it: no sentence that answers it has to hold them.

    >>> without_asking("In the galley, how many cook?")
    'In the galley,   cook?'
    """
    return _ASKING_WORD.sub(" ", text)


def asking_word(text: str) -> str:
    """The word by which a question asks, in small letters; "" where none does.

    >>> asking_word("In the galley, how many cook?"), asking_word("Is it open?")
    ('how many', '')
    """
    match = _ASKING_WORD.search(text)
    return one_line(match[0]).lower() if match else ""
