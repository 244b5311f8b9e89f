"""Words: how a number, a count of things and the text of others are written, the same wherever they are shown."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

NONE = "–"
NOT_DIFFERENT = "not significantly different (paired permutation test, Holm-adjusted)"
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


def estimate(value: float | None, low: float | None, high: float | None, digits: int = 3) -> str:
    """A mean with its interval, where it has one.

    >>> estimate(0.7342, 0.6401, 0.8203, digits=2), estimate(0.5, None, None)
    ('.73 [.64, .82]', '.500')
    """
    ends = "" if low is None or high is None else f" [{number(low, digits)}, {number(high, digits)}]"
    return number(value, digits) + ends


def not_different(equal: int, others: int, best: str = "it") -> str:
    """How many of the others do not differ significantly from the best.

    >>> not_different(11, 11), not_different(1, 1, "the best")
    ('none of the 11 others differs significantly from it', 'the other does not differ significantly from the best')
    >>> not_different(1, 3), not_different(2, 3)
    ('1 of 3 others does not differ significantly from it', '2 of 3 others do not differ significantly from it')
    """
    if equal == others > 1:
        return f"none of the {others:,} others differs significantly from {best}"
    which = "the other" if others == 1 else f"{equal:,} of {others:,} others"
    return f"{which} {'does' if equal == 1 else 'do'} not differ significantly from {best}"


def probability(p: float) -> str:
    """A p value: three decimals, and never zero.

    >>> probability(0.0312), probability(0.00002), probability(1.0)
    ('.031', '< .001', '1.000')
    """
    return "< .001" if p < 0.001 else number(p, 3)
