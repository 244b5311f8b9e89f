"""Citation marks like [1], [2, 3], [1-3], (source 2) and [handbook-7], as answers make them of their contexts.

A number is the place of a context, from 1. A name in brackets is a citation only where a context has it for an id.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from karat.core.text.blocks import drop_blocks
from karat.core.text.normalise import VERBATIM, Norm
from karat.core.text.sentences import sentences

_NUMBER = r"\^?\d{1,3}"
_NUMBERS = rf"\s?{_NUMBER}(?:\s?[,;–-]\s?{_NUMBER})*\s?"
_MARK = rf"(?:\[(?:sources?:?)?{_NUMBERS}\]|\(sources?:?{_NUMBERS}\))"
_CITATION = re.compile(_MARK, re.IGNORECASE)
_MARKS = re.compile(rf"(?:\s{{0,3}}{_MARK})++(?P<before_word>\s{{0,3}}(?=\w))?", re.IGNORECASE)
_STOP = "[.!?…।॥。！？]{1,3}[\"'»”’」』)]{0,2}"
_AFTER_STOP = re.compile(rf"({_STOP})(\s{{0,3}}{_MARK}(?:\s{{0,3}}{_MARK})*)", re.IGNORECASE)
_SPAN = re.compile(r"(\d+)(?:\s?[–-]\s?\^?(\d+))?")
_LONGEST = 400  # characters in brackets that may be ids
_BRACKETS = re.compile(rf"\[([^\[\]]{{1,{_LONGEST}}})\]")
_BETWEEN = re.compile(r"[,;|]")
_LAST_PLACE = 999  # no mark has a longer number: it is a year or a quantity


def citations(text: str) -> tuple[int, ...]:
    """The numbers of the contexts a text cites, each once, in order.

    >>> citations("Paris [2][1, 2], they say (source 3) [4-6].")
    (2, 1, 3, 4, 5, 6)
    """
    cited: dict[int, None] = {}
    for mark in _CITATION.finditer(text):
        for span in _SPAN.finditer(mark[0]):
            first, last = int(span[1]), int(span[2] or span[1])
            cited.update(dict.fromkeys(range(first, last + 1) if first <= last else (first, last)))
    return tuple(cited)


def without_citations(text: str) -> str:
    """The text as it would stand without its citation marks.

    >>> without_citations("It is Paris [1], not Lyon (source 2).[3] It rains[1] there.")
    'It is Paris, not Lyon. It rains there.'
    """
    return _MARKS.sub(lambda marks: "" if marks["before_word"] is None else " ", text)


def spoken(answer: str | None) -> str:
    """What an answer says: without its thoughts, its quoted sources and its citation marks."""
    return without_citations(drop_blocks(answer or ""))


def comparable(texts: Iterable[str], norm: Norm) -> list[str]:
    """Texts as measures of words compare them under a normaliser: without citation marks.

    A text that is nothing but marks keeps them. The scripts of other tools strip nothing, so under their normalisers
    marks are words.
    """
    if norm in VERBATIM:
        return list(texts)
    return [_bare(text) if "[" in text or "(" in text else text for text in texts]


def _bare(text: str) -> str:
    bare = without_citations(text)
    return bare if any(c.isalnum() for c in bare) else text


def with_places(text: str, ids: Sequence[str]) -> str:
    """The text with the place of a context in each mark that names its id; `ids` are those of the contexts, in order.

    A number is a place; only one past the last context may be an id. Brackets that hold anything else stay as they are.

    >>> with_places("It is Paris [geo-7; geo-1]. See [the map].", ["geo-1", "geo-7"])
    'It is Paris [2,1]. See [the map].'
    """
    places = {id_: place for place, id_ in reversed(list(enumerate(ids[:_LAST_PLACE], 1)))}
    if not places or "[" not in text:
        return text

    def numbered(mark: re.Match[str]) -> str:
        names = [mark[1].strip()] if mark[1].strip() in places else _BETWEEN.split(mark[1])
        numbers = [_place_of(name.strip().removeprefix("^"), places, len(ids)) for name in names]
        return mark[0] if None in numbers else f"[{','.join(map(str, numbers))}]"

    return _BRACKETS.sub(numbered, text)


def _place_of(name: str, places: Mapping[str, int], last: int) -> int | None:
    is_number = name.isdecimal() and name.isascii() and len(name) <= len(str(_LAST_PLACE))
    if is_number and (int(name) <= last or name not in places):
        return int(name)
    return places.get(name)


def cited_sentences(text: str, ids: Sequence[str] = ()) -> list[tuple[str, tuple[int, ...]]]:
    """Each sentence without its citations, and what it cites; a citation after the full stop belongs before it.

    `ids` are those of the contexts, where they are known: a mark may name them.

    >>> cited_sentences("It is Paris.[1] It rains. [2]")
    [('It is Paris.', (1,)), ('It rains.', (2,))]
    """
    inside = _AFTER_STOP.sub(r"\2\1", with_places(text, ids))
    parts = ((" ".join(without_citations(sentence).split()), citations(sentence)) for sentence in sentences(inside))
    return [(sentence, cited) for sentence, cited in parts if any(c.isalnum() for c in sentence)]
