"""Citations like [1], [2, 3] and [1-3], as answers make them of their contexts."""

from __future__ import annotations

import re

from karat.core.text.sentences import sentences

_NUMBER = r"\^?\d{1,3}"
_MARK = rf"\[\s?{_NUMBER}(?:\s?[,;–-]\s?{_NUMBER})*\s?\]"
_CITATION = re.compile(_MARK)
_AFTER_STOP = re.compile(rf"([.!?…।॥]{{1,3}})(\s{{0,3}}{_MARK}(?:\s{{0,3}}{_MARK})*)")
_SPAN = re.compile(r"(\d+)(?:\s?[–-]\s?\^?(\d+))?")


def citations(text: str) -> tuple[int, ...]:
    """The numbers of the contexts a text cites, each once, in order.

    >>> citations("Paris [2][1, 2], they say [4-6].")
    (2, 1, 4, 5, 6)
    """
    cited: dict[int, None] = {}
    for mark in _CITATION.finditer(text):
        for span in _SPAN.finditer(mark[0]):
            first, last = int(span[1]), int(span[2] or span[1])
            cited.update(dict.fromkeys(range(first, last + 1) if first <= last else (first, last)))
    return tuple(cited)


def without_citations(text: str) -> str:
    """The text with its citations blanked."""
    return _CITATION.sub(" ", text) if "[" in text else text


def cited_sentences(text: str) -> list[tuple[str, tuple[int, ...]]]:
    """Each sentence without its citations, and what it cites; a citation after the full stop belongs before it.

    >>> cited_sentences("It is Paris.[1] It rains. [2]")
    [('It is Paris .', (1,)), ('It rains .', (2,))]
    """
    inside = _AFTER_STOP.sub(r"\2\1", text)
    found = ((" ".join(without_citations(sentence).split()), citations(sentence)) for sentence in sentences(inside))
    return [(sentence, cited) for sentence, cited in found if any(c.isalnum() for c in sentence)]
