"""Citation marks like [1], [2, 3], [1-3] and (source 2), as answers make them of their contexts."""

from __future__ import annotations

import re
from collections.abc import Iterable

from karat.core.text.blocks import drop_blocks
from karat.core.text.normalise import VERBATIM, Norm
from karat.core.text.sentences import sentences

_NUMBER = r"\^?\d{1,3}"
_NUMBERS = rf"\s?{_NUMBER}(?:\s?[,;–-]\s?{_NUMBER})*\s?"
_MARK = rf"(?:\[(?:sources?:?)?{_NUMBERS}\]|\(sources?:?{_NUMBERS}\))"
_CITATION = re.compile(_MARK, re.IGNORECASE)
_MARKS = re.compile(rf"(?:\s{{0,3}}{_MARK})++(?P<before_word>\s{{0,3}}(?=\w))?", re.IGNORECASE)
_AFTER_STOP = re.compile(rf"([.!?…।॥]{{1,3}})(\s{{0,3}}{_MARK}(?:\s{{0,3}}{_MARK})*)", re.IGNORECASE)
_SPAN = re.compile(r"(\d+)(?:\s?[–-]\s?\^?(\d+))?")


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


def cited_sentences(text: str) -> list[tuple[str, tuple[int, ...]]]:
    """Each sentence without its citations, and what it cites; a citation after the full stop belongs before it.

    >>> cited_sentences("It is Paris.[1] It rains. [2]")
    [('It is Paris.', (1,)), ('It rains.', (2,))]
    """
    inside = _AFTER_STOP.sub(r"\2\1", text)
    found = ((" ".join(without_citations(sentence).split()), citations(sentence)) for sentence in sentences(inside))
    return [(sentence, cited) for sentence, cited in found if any(c.isalnum() for c in sentence)]
