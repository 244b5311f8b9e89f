"""Boilerplate: chunks that say nothing to ask about: tables of contents, lists of links, repeated headers, figures."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from karat.core.text.sentences import sentence_spans

_LINK = re.compile(
    r"!?\[[^\]\n]{0,300}\]\([^()\s]{1,2000}(?:\([^()\s]{0,300}\)[^()\s]{0,300})?\)|(?:https?://|www\.)\S+"
)
_CONTENTS = re.compile(
    r".{0,200}?(?<!\.)(?<!\.\s)(?:\.\s?){3,}+\s*+\d{1,4}$|(?:\d+(?:\.\d+)*\.?\s+)?\S.{0,120}?\s\d{1,4}$"
)
_INDEXED = re.compile(r"\S.{0,100}?,?\s+\d{1,4}(?:\s?[-–]\s?\d{1,4})?(?:,\s*+\d{1,4}(?:\s?[-–]\s?\d{1,4})?)++$")
# Words between bars, none before the first: a row of a table begins with one, or holds figures.
_MENU = re.compile(
    r"(?:[^|•›»\d\n]{2,30}[|•›»]){3,}[^|•›»\d\n]{2,30}|skip to (?:main )?content|(?:back to )?top of page",
    re.IGNORECASE,
)
_ENDS = re.compile(r"[.!?…।॥。！？][\"'»”’)\]]*$")
_MARKS = re.compile("[\u0900-\u0903\u093a-\u094f]")  # vowel signs, as Hindi writes them
_LETTERS = 0.55  # share of letters among what is not white space, below which a chunk is mostly figures
_LISTED = 0.6  # share of lines or characters from which a chunk is a list of something
_LEAST_LINES = 4
_ENOUGH = 300  # characters in which most texts show whether they are made of sentences
_LEAST_SENTENCES = 2
_LEAST_WORDS = 4  # of a sentence
_LEFT = 25  # words that have to be left once repeated lines are gone
_REPEATED = 4  # chunks that hold a line from which it is a header or a footer
_SHORT_LINE = 120  # characters: what is longer is no header
_BLOCK = 20_000  # texts whose lines are held at a time
_LONGEST_LINE = 500  # characters: what is longer is no line of contents or of an index


def repeated_lines(texts: Sequence[str]) -> frozenset[str]:
    """Short lines that stand in so many of the texts of chunks that they are headers, footers or menus.

    A line that often is as often, for its size, in one of several blocks of texts: only such lines are counted in all.
    """
    size = len(texts)
    least = max(_REPEATED, size // 200)
    frequent: Counter[str] = Counter()
    for start in range(0, size, _BLOCK):
        block = texts[start : start + _BLOCK]
        held = Counter(line for text in block for line in _short_lines(text))
        frequent.update({line: count for line, count in held.items() if count * size >= least * len(block)})
    if size > _BLOCK and frequent:
        frequent = Counter(line for text in texts for line in _short_lines(text) if line in frequent)
    return frozenset(line for line, count in frequent.items() if count >= least)


def _short_lines(text: str) -> set[str]:
    """The lines of a text that may be headers, each once."""
    lines = (line.strip() for line in text.splitlines())
    return {_plain(line) for line in lines if 2 < len(line) <= _SHORT_LINE} - {""}


def _plain(line: str) -> str:
    """A line without its numbers, which count pages."""
    return re.sub(r"\d+", "", line.lower()).strip()


def navigation(text: str) -> str | None:
    """What leads to texts and is none: a table of contents, a back-of-book index, a list of links; None for others.

    >>> navigation("Bears, 3, 15-17\\nBoats, 4, 16\\nCoal, 5, 17, 20\\nIce, 8, 20")
    'a back-of-book index'
    """
    lines = [line for line in text.splitlines() if line.strip()]
    numbered = [line for line in map(str.strip, lines) if line[-1].isdigit() and len(line) <= _LONGEST_LINE]
    if len(lines) >= _LEAST_LINES:
        for pattern, name in ((_INDEXED, "a back-of-book index"), (_CONTENTS, "a table of contents")):
            if sum(1 for line in numbered if pattern.match(line)) >= _LISTED * len(lines):
                return name
    linked = sum(_inked(link[0]) for link in _LINK.finditer(text))
    menus = sum(_inked(line) for line in lines if _MENU.fullmatch(line.strip()))
    return "a list of links" if linked + menus >= _LISTED * _inked(text) > 0 else None


def boilerplate(text: str, repeated: frozenset[str] = frozenset()) -> str | None:
    """Why there is nothing to ask about in a text; None where there is.

    >>> boilerplate("Contents\\n1 Arrival .... 4\\n2 Water ...... 7\\n3 Power ...... 12\\n4 Refuges .... 19")
    'a table of contents'
    """
    lines = [line for line in text.splitlines() if line.strip()]
    inked = _inked(text)
    if not inked:
        return "empty"
    if why := navigation(text):
        return why
    if sum(map(str.isalpha, text)) + len(_MARKS.findall(text)) < _LETTERS * inked:
        return "mostly figures and punctuation"
    remaining = "\n".join(line for line in lines if _plain(line) not in repeated)
    if len(remaining) < len("\n".join(lines)) and len(remaining.split()) < _LEFT:
        return "little but lines that other chunks repeat"
    whole = _sentences(remaining[:_ENOUGH])
    if whole < _LEAST_SENTENCES and len(remaining) > _ENOUGH:
        whole = _sentences(remaining)
    if whole < _LEAST_SENTENCES:
        return "no whole sentence" if whole == 0 else "one sentence only"
    return None


def _inked(text: str) -> int:
    """How many characters are no white space."""
    return sum(map(len, text.split()))


def _sentences(text: str) -> int:
    """How many whole sentences a text has."""
    return sum(1 for start, end in sentence_spans(text) if _is_sentence(text[start:end]))


def _is_sentence(text: str) -> bool:
    if not _ENDS.search(text):
        return False
    words = text.split()
    return len(words) >= _LEAST_WORDS or (len(words) <= 2 and len(text) >= 4 * _LEAST_WORDS)
