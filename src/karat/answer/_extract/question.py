"""What a question asks for: its parts, the kind of each, and the words that say what it is about."""

from __future__ import annotations

import re
from dataclasses import dataclass

from karat.answer._extract.kinds import ACRONYM, Kind, kind_of
from karat.answer._extract.words import Word, words_of
from karat.core.text import guess_language
from karat.core.text.sentences import sentences

_SHAPING_WORDS = """
mean means meaning stand stands called call name named many much long far often soon old kind sort type happen happens
please tell know say one ones get got give difference exactly actually really else anybody anyone somebody someone
something anything everything there surely number amount
сколько какой какая какое какие каком какого какую каких каким какова каков называется называют зовут означает значит
такое расшифровывается долго далеко часто скажите расскажите нужно надо
wieviel viele heißt bedeutet combien appelle signifie cuánto cuántos cuántas cómo llama significa dónde
"""
_SHAPING = frozenset(_SHAPING_WORDS.split())  # they shape a question rather than say what it is about
_LEADING_WORDS = """
which what many much whose какой какая какое какие какого какую каких каком сколько welche quel quelle quels
"""
_LEADING = frozenset(_LEADING_WORDS.split())
_ASKS = re.compile(
    r"\b(?:what|which|who|whom|whose|when|where|why|how)\b"
    r"|\b(?:что|как\w*|кто|кого|кому|кем|где|куда|откуда|когда|почему|зачем|сколько)\b",
    re.I,
)
_JOINED = re.compile(
    r",? (?:and|but|or) (?=(?:(?:in|on|at|by|for|from|to|under|into) )?(?:what|which|who|when|where|why|how)\b"
    r"|(?:does|do|is|are|must|can|may|should|will|has|have) )"
    r"|,? (?:и|а) (?=(?:(?:в|на|по|до|с|из) )?(?:что|как\w*|кто|где|куда|когда|почему|сколько)\b)",
    re.I,
)
_MEANS = re.compile(r"\bmeans?\b|\bзначит|\bозначает|\bbedeutet|\bsignifi", re.I)
_SPACE = re.compile(r"\s+")
_MOST_CHARACTERS = 2000  # of a question that are read
_MOST_PARTS = 3


@dataclass(frozen=True)
class Part:
    """One thing that is asked. `heads` are the stems of the nouns behind "which" and "how many"."""

    text: str
    kind: Kind
    words: tuple[Word, ...]
    heads: tuple[str, ...]
    acronym: str = ""


@dataclass(frozen=True)
class Wanted:
    """A question as it is answered. `stems` are those of its content words, in order."""

    text: str
    language: str | None
    stems: tuple[str, ...]
    parts: tuple[Part, ...]


def wanted_of(question: str) -> Wanted:
    """What a question asks for."""
    text = _SPACE.sub(" ", question[:_MOST_CHARACTERS]).strip()
    language = guess_language(text)
    words = words_of(text, language)
    content = [word.stem for word in words if not word.stop and word.lower not in _SHAPING]
    content = content or [word.stem for word in words if not word.stop] or [word.stem for word in words]
    parts = tuple(_part(piece, text, language) for piece in _pieces(text))
    return Wanted(text, language, tuple(dict.fromkeys(content)), parts)


def _pieces(text: str) -> list[str]:
    """The questions in a question: its sentences that ask, parted at "and how", "and where"."""
    told = sentences(text)
    asking = [one for one in told if one.rstrip("\"'»”").endswith(("?", "？"))]
    asking = asking or [one for one in told if _ASKS.search(one)] or [text]
    # A second sentence that merely doubts ("Surely not from the shop?") asks nothing new.
    asking = [asking[0], *(one for one in asking[1:] if _ASKS.search(one))]
    pieces = [piece for one in asking for piece in _JOINED.split(one) if piece.strip(" ?.")]
    return pieces[:_MOST_PARTS] or [text]


def _part(text: str, whole: str, language: str | None) -> Part:
    kind = kind_of(text)
    words = tuple(words_of(text, language))
    if kind == "expansion" or _MEANS.search(text):
        found = re.search(rf"\b{ACRONYM}\b", text) or re.search(rf"\b{ACRONYM}\b", whole)
        return Part(text, "expansion" if found else "other", words, (), found[0] if found else "")
    return Part(text, kind, words, _heads(words))


def _heads(words: tuple[Word, ...]) -> tuple[str, ...]:
    for i, word in enumerate(words):
        if word.lower in _LEADING:
            heads: list[str] = []
            for after in words[i + 1 : i + 4]:
                if after.stop:
                    break
                heads.append(after.stem)
            if heads:
                return tuple(heads)
    return ()
