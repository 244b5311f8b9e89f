"""Typography: what print adds to words and a quote may leave out."""

from __future__ import annotations

import re
import unicodedata

_LIGATURES = {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"}
_RAISED = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789", strict=True))
_PLAIN = str.maketrans(_LIGATURES | _RAISED)
_RAISED_AFTER_DIGIT = re.compile(f"(?<=[0-9])[{''.join(_RAISED)}]+")
_LINE_END = re.compile(r"(?<=\w)[-\u2010\u00ad]\s+(?=\w)")
_MARKED = re.compile(r"([^\W\d_]{3,})\d{1,3}")


def without_typography(text: str) -> str:
    """The text with ligatures taken apart, words joined over line ends and raised digits as plain ones.

    A raised digit behind a digit is dropped: in "1998²" it can only be the mark of a footnote, or an exponent that
    plain text loses too.

    >>> without_typography("the ﬁrst infor-\\nmation of 1998² and m²")
    'the first information of 1998 and m2'
    """
    if not text.isascii():
        text = _RAISED_AFTER_DIGIT.sub("", unicodedata.normalize("NFC", text)).translate(_PLAIN)
    return _LINE_END.sub("", text)


def line_ends_filled(text: str) -> str:
    """The text, as long as it was, with words that a line end parts in one piece.

    >>> line_ends_filled("infor-\\nmation")
    'infor--mation'
    """
    return _LINE_END.sub(lambda end: "-" * len(end[0]), text)


def without_footnote(word: str) -> str:
    """A word without the number of a footnote that print puts behind it.

    >>> [without_footnote(w) for w in ("stores12", "stores", "co2", "2024")]
    ['stores', 'stores', 'co2', '2024']
    """
    marked = _MARKED.fullmatch(word) if word[-1:].isdigit() else None
    return marked[1] if marked else word
