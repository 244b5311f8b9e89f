"""Sentences of a text."""

from __future__ import annotations

import re

_STOPS, _WIDE_STOPS = ".!?…।॥", "。！？"
# The first character stands alone in front, so that the search runs from one candidate to the next.
_END = re.compile(
    rf"[{_STOPS}{_WIDE_STOPS}\n]"
    rf"(?:(?<=[{_STOPS}])(?<![{_STOPS}]{{2}})[{_STOPS}]*+[\"'»”’)\]]*+(?=\s|$)"
    rf"|(?<=[{_WIDE_STOPS}])(?<![{_WIDE_STOPS}]{{2}})[{_WIDE_STOPS}]*[」』”’]*"
    r"|(?<=\n)[^\S\n]*+\n|(?<=\n)(?=[^\S\n]*+(?:[-*•–—]|\d{1,3}[.)])\s))"
)
_LAST_WORD = re.compile(r"[^\s(\[«“\"']+$")
_LIST_MARK = re.compile(r"\s*\d{1,3}")
_SHORTENED = """
al approx art ca cf ch chap co corp dept dr ed eds e.g eg est etc fig figs gen gov i.e ie inc jr lt ltd max min mr
mrs ms no nos nr op p pp prof ref rep rev sec sen sr st tab u.s u.k univ v vol vs bzw bspw d.h evtl ggf hrsg inkl
sog usw vgl z.b zzgl av bd mlle mm mme p.ex sra srta ud uds ej pág págs акад букв вв г гг гл гр др им ин итал кв коп
лат млн млрд мин напр нем обл пер пл пр проф просп р рис руб с см св соч ср стр сут т т.д т.е т.к т.н т.п табл тел
тыс ул франц цит ч экз डॉ प्रो श्री श्रीमती सु पं ई.पू कृ क्र सं पृ
"""
_LEADING = re.compile(r"(?<!\w)(?:т\.\s[екн]|e\.\sg|i\.\se|z\.\sb|d\.\sh)$", re.I)
_ABBREVIATIONS = frozenset(_SHORTENED.split())


def sentences(text: str) -> list[str]:
    """The sentences of a text, in order, without the white space around them.

    A full stop ends a sentence unless it stands in a number, after an initial or a common abbreviation (English,
    Russian, Hindi, German, French, Spanish), or before a small letter. A danda always ends one; so do blank lines and
    list items.

    >>> sentences("Dr. Rao paid 3.5 lakh. Why? See fig. 2.")
    ['Dr. Rao paid 3.5 lakh.', 'Why?', 'See fig. 2.']
    """
    return [text[start:end] for start, end in sentence_spans(text)]


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Where each sentence of a text begins and ends."""
    spans: list[tuple[int, int]] = []
    start = 0
    for stop in _END.finditer(text):
        mark = stop[0]
        if mark[0] == "." and mark.strip("\"'»”’)]") == "." and not _ends(text, start, stop):
            continue
        _add_stripped(spans, text, start, stop.end())
        start = stop.end()
    _add_stripped(spans, text, start, len(text))
    return spans


def _add_stripped(spans: list[tuple[int, int]], text: str, start: int, end: int) -> None:
    sentence = text[start:end]
    size = len(sentence.lstrip())
    if size:
        spans.append((end - size, start + len(sentence.rstrip())))


def _ends(text: str, start: int, stop: re.Match[str]) -> bool:
    """Whether the full stop ends the sentence that began at `start`."""
    following = text[stop.end() : stop.end() + 40].lstrip()
    if not following:
        return True
    if following[0].islower():
        return False
    before = _LAST_WORD.search(text[max(start, stop.start() - 40) : stop.start()])
    if before is None:
        return True
    word = before[0]
    if word.lower() in _ABBREVIATIONS or _LEADING.search(text, max(start, stop.start() - 8), stop.start()):
        return False
    if _LIST_MARK.fullmatch(text, start, stop.start()):
        return False
    return not (word[0].isupper() and all(len(part) == 1 and part.isalpha() for part in word.split(".")))
