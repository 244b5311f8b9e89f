"""Words: how a number, a count of things and the text of others are written, the same wherever they are shown."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

NONE = "–"
# control characters, line and paragraph separators, marks that turn the writing direction, lone surrogates
_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")
_SEQUENCE = re.compile("\x1b(?:\\[[0-?]*[ -/]*[@-~]|[@-Z\\\\-_])")  # what terminals take for commands


def clean(text: str, limit: int | None = None) -> str:
    """One printable line: control characters become spaces, long text is cut.

    >>> clean("a\\tb\\x1b[31mred\\x1b[0m")
    'a bred'
    """
    line = _UNSEEN.sub(" ", _SEQUENCE.sub("", text)).strip()
    return line if limit is None or len(line) <= limit else line[: limit - 1] + "…"


def plural(count: int, noun: str) -> str:
    """A count of things.

    >>> plural(1, "hit"), plural(7000, "hit")
    ('1 hit', '7,000 hits')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def names(several: Sequence[str], most: int = 4) -> str:
    """The first of some names, and how many more there are.

    >>> names(["a", "b"]), names(["a", "b", "c"], most=2)
    ('a, b', 'a, b and 1 more')
    """
    more = f" and {len(several) - most:,} more" if len(several) > most else ""
    return ", ".join(clean(name, 40) for name in several[:most]) + more


def number(value: float | None, digits: int = 4) -> str:
    """A value with fixed decimals and no zero before its point: tables of scores are full of them.

    >>> number(0.5), number(-0.25), number(1), number(-0.00001), number(None), number(float("nan"))
    ('.5000', '-.2500', '1.0000', '.0000', '–', '–')
    """
    if value is None or not math.isfinite(value):
        return NONE
    text = f"{value:.{digits}f}"
    sign, digits_ = ("-", text[1:]) if text.startswith("-") else ("", text)
    return ("" if float(text) == 0 else sign) + (digits_[1:] if digits_.startswith("0.") else digits_)
