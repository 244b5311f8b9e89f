"""Named terms of a text: what its capitals mark as names, acronyms and product words."""

from __future__ import annotations

import re
from collections.abc import Collection

from karat.core.text.languages import guess_language, stop_words
from karat.core.text.normalise import normalise
from karat.core.text.sentences import sentences

_CONNECTORS = frozenset(("of", "de", "la", "le", "du", "des", "del", "di", "da", "von", "van", "der", "den", "zu"))
_USUAL_OPENINGS = """
according additionally although based besides consequently currently despite due finally first furthermore generally
given hence initially instead later many meanwhile moreover nevertheless next no ok okay overall second several
similarly sorry specifically subsequently sure third today two ultimately unfortunately unlike usually yes zero
согласно кроме например поэтому таким затем первый первая наконец сначала впрочем следовательно вероятно обычно нет
laut gemäß außerdem daher dennoch zunächst schließlich leider nein selon cependant enfin ensuite malheureusement oui
según además finalmente primero lamentablemente
"""
_OPENERS = frozenset(_USUAL_OPENINGS.split())
_OUTSIDE = "\"'«»“”‘’„()[]{}<>,;:!?…।॥*_`—–"
_POSSESSIVE = re.compile(r"['’]s(?=[\s.,;:!?)\]\"”»]|$)")


def named_terms(text: str, common: Collection[str] = ()) -> list[str]:
    """The distinct named terms of a text, normalised: runs of words with capitals.

    The first word of a sentence has a capital anyway: it counts unless it is a stop word, a usual opening
    ("However") or one of `common`, words that are seen elsewhere without capitals. German nouns all count; scripts
    without capitals show no names.

    >>> named_terms("However, the Bank of Japan hired Ada Lovelace in Tokyo.")
    ['bank of japan', 'ada lovelace', 'tokyo']
    """
    stops = stop_words(guess_language(text), "plain")
    terms: dict[str, None] = {}
    for sentence in sentences(text):
        run: list[str] = []
        for i, piece in enumerate([*sentence.split(), ""]):
            word = _POSSESSIVE.sub("", piece).strip(_OUTSIDE).rstrip(".")
            lower = word.lower()
            plain = lower in stops or (i == 0 and (lower in _OPENERS or lower in common))
            named = word != lower and not (plain and (i == 0 or len(word) == 1 or not word.isupper()))
            if named and run and piece[0] in _OUTSIDE:
                _close(run, terms)
            if named or (run and lower in _CONNECTORS):
                run.append(word)
            else:
                _close(run, terms)
            if run and (piece[-1:] in _OUTSIDE or _POSSESSIVE.search(piece)):
                _close(run, terms)
    return list(terms)


def _close(run: list[str], terms: dict[str, None]) -> None:
    while run and run[-1] == run[-1].lower():
        run.pop()
    term = normalise(" ".join(run))
    if term:
        terms[term] = None
    run.clear()


def plain_words(text: str) -> set[str]:
    """Words that a text writes without a capital, outer punctuation aside."""
    return {word for word in (piece.strip(_OUTSIDE + ".") for piece in text.split()) if word == word.lower()}


def without_possessives(text: str) -> str:
    """The text with "Ada's" as "Ada", so that names match."""
    return _POSSESSIVE.sub("", text)
