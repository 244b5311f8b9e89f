"""Words: how a number, a p value, a count of things, the text of others and reasons are written, wherever shown."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

NONE = "–"
NOT_DIFFERENT = "not significantly different (paired permutation test, Holm-adjusted)"
# control characters, line and paragraph separators, marks that turn the writing direction, lone surrogates
_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")
NO_REASON = "no reason given"
FEWEST_UNITS = 6  # questions, or conversations, that must differ so that a permutation test can have p <= .05
SHOWN = 3  # causes before the rest are only counted
_QUOTED = re.compile(r"\"[^\"]*\"|(?<!\w)'[^']*'|`[^`]*`")
_HEX = re.compile(r"\b(?:0x)?(?=[a-f-]{0,40}\d)[0-9a-f]{6,}(?:-[0-9a-f]{4,})*\b")
_NUMBER = re.compile(r"((?:http|status|code|errno)\W{0,3})?\d+(?:[.,:]\d+)*")
_SEQUENCE = re.compile("\x1b(?:\\[[0-?]*[ -/]*[@-~]|[@-Z\\\\-_])")  # what terminals take for commands


def clean(text: str, limit: int | None = None) -> str:
    """One printable line: control characters become spaces, long text is cut.

    >>> clean("a\\tb\\x1b[31mred\\x1b[0m")
    'a bred'
    """
    line = _UNSEEN.sub(" ", _SEQUENCE.sub("", text)).strip()
    return line if limit is None or len(line) <= limit else line[: limit - 1] + "…"


def excerpt(text: str | None, most: int = 60) -> str:
    """A text on one printable line, cut where it is long.

    >>> excerpt("How high\\n is it?", 10)
    'How high …'
    """
    start = (text or "").lstrip()[: 20 * most]  # a text may be huge
    return clean(" ".join(clean(start).split()), most)


def plural(count: int, noun: str) -> str:
    """A count of things.

    >>> plural(1, "hit"), plural(7000, "hit")
    ('1 hit', '7,000 hits')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def conversations_note(numbers: Sequence[int] | None) -> str | None:
    """What is resampled where questions are turns of conversations; None where each is one of its own.

    >>> conversations_note([0, 0, 1, 1, 2, 2, 3, 4, 5])
    '9 questions in 6 conversations: intervals and tests resample conversations.'
    """
    many = 0 if numbers is None else len(set(numbers))
    if numbers is None or many == len(numbers):
        return None
    if many == 1:
        return f"{plural(len(numbers), 'question')} in 1 conversation: no intervals, and no difference is significant."
    counts = f"{plural(len(numbers), 'question')} in {plural(many, 'conversation')}: intervals and tests resample"
    few = "" if many >= FEWEST_UNITS else f" With fewer than {FEWEST_UNITS} no difference has a p of .05 or less."
    return f"{counts} conversations.{few}"


def names(
    several: Sequence[str] | Mapping[str, str], most: int = 4, *, conjunction: str = "", width: int | None = 40
) -> str:
    """The first of some names, each cut to `width` characters, and how many more there are.

    What a mapping has for a name stands behind it and is never cut.

    >>> names(["a", "b"]), names(["a", "b", "c"], most=2), names(["a", "b", "c"], conjunction="and")
    ('a, b', 'a, b and 1 more', 'a, b and c')
    >>> names({"a long name": "90%", "b": "10%"}, width=6)
    'a lon… 90%, b 10%'
    """
    figures = several if isinstance(several, Mapping) else {}
    first = list(several)[:most]
    shown = [clean(name, width) + (f" {figures[name]}" if name in figures else "") for name in first]
    if len(several) > most:
        return f"{', '.join(shown)} and {len(several) - most:,} more"
    if conjunction and len(shown) > 1:
        return f"{', '.join(shown[:-1])} {conjunction} {shown[-1]}"
    return ", ".join(shown)


def percent(share: float | None, digits: int = 1) -> str:
    """A share in percent, which rounds to 0 or 100 only when it is.

    >>> percent(0.7123), percent(0.9999), percent(1), percent(None)
    ('71.2%', '>99.9%', '100%', '–')
    >>> percent(0.304, 0), percent(0.004, 0), percent(0.9999, 0)
    ('30%', '<1%', '>99%')
    """
    if share is None or not math.isfinite(share):
        return NONE
    if share in (0, 1):
        return f"{100 * share:.0f}%"
    text, least = f"{100 * share:.{digits}f}", 0.1**digits
    if share > 0 and float(text) == 0:
        return f"<{least:.{digits}f}%"
    return f">{100 - least:.{digits}f}%" if share < 1 and float(text) == 100 else f"{text}%"


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


Unit = Literal["", "share", "count"]  # of a measure's values; a score has none


def figure(value: float | None, unit: Unit = "", digits: int = 4) -> str:
    """A figure in its measure's own unit.

    >>> figure(0.5), figure(0.304, "share", 2), figure(2.5, "count")
    ('.5000', '30%', '2.50')
    """
    if unit == "share":
        return percent(value, 0 if digits < 3 else 1)
    return average_count(value) if unit == "count" else number(value, digits)


def ends(low: float | None, high: float | None, unit: Unit = "", digits: int = 4) -> str:
    """The interval of such a figure, or nothing."""
    return "" if low is None or high is None else f"[{figure(low, unit, digits)}, {figure(high, unit, digits)}]"


def estimate(value: float | None, low: float | None, high: float | None, digits: int = 3, unit: Unit = "") -> str:
    """A mean with its interval, where it has one: at most `digits` decimals, two where the interval is wide.

    >>> estimate(0.7342, 0.6401, 0.8203), estimate(0.5, None, None)
    ('.73 [.64, .82]', '.500')
    """
    digits = min(digits, digits_of(low, high))
    return f"{figure(value, unit, digits)} {ends(low, high, unit, digits)}".rstrip()


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


def probability(p: float | None) -> str:
    """A p value: three decimals, and neither 0 nor 1 unless it is.

    >>> probability(0.0312), probability(0.00002), probability(0.9998), probability(1.0), probability(None)
    ('.031', '< .001', '> .999', '1.000', '–')
    """
    if p is None or not 0.9995 <= p < 1:
        return "< .001" if p is not None and p < 0.001 else number(p, 3)
    return "> .999"


@dataclass(frozen=True)
class Cause:
    """One way to fail: the reason as the first row gives it, how many rows give it, and which is the first."""

    reason: str
    count: int
    first: str


def causes(reasons: Mapping[str, str]) -> list[Cause]:
    """Reasons by question as causes, the commonest first.

    Reasons that differ in numbers, ids, quoted texts or the question's own id are one cause; HTTP codes tell causes
    apart.
    """
    groups: dict[str, list[str]] = {}
    for question, reason in reasons.items():
        groups.setdefault(_key(question, reason), []).append(question)
    counted = [Cause(_line(reasons[alike[0]]), len(alike), alike[0]) for alike in groups.values()]
    return sorted(counted, key=lambda cause: -cause.count)


def in_words(reasons: Mapping[str, str]) -> str:
    """The commonest causes with their counts, in one line.

    >>> in_words({"q1": "timed out after 3 s", "q2": "timed out after 4 s", "q3": "no reply"})
    'timed out after 3 s (2 times, first q1); no reply (q3)'
    """
    commonest = causes(reasons)
    rest = commonest[SHOWN:]
    parts = [
        f"{c.reason} ({c.first if c.count == 1 else f'{c.count:,} times, first {c.first}'})" for c in commonest[:SHOWN]
    ]
    if rest:
        parts.append(f"{plural(len(rest), 'more reason')} ({plural(sum(cause.count for cause in rest), 'time')})")
    return "; ".join(parts)


def _line(reason: str) -> str:
    return " ".join(reason.split()).rstrip(".") or NO_REASON


def _key(question: str, reason: str) -> str:
    """What is left of a reason once all that differs from row to row is taken out."""
    text = re.sub(rf"(?<!\w){re.escape(question)}(?!\w)", "#", _line(reason)) if question else _line(reason)
    text = _HEX.sub("#", _QUOTED.sub("#", text).lower())
    return _NUMBER.sub(lambda match: match[0] if match[1] else "#", text)


WIDE = 0.05  # an interval wider than this says nothing about the third digit


def digits_of(low: float | None, high: float | None) -> int:
    """The decimals that a value with this interval is worth: two where it is wide, three where narrow, else four.

    >>> digits_of(0.61, 0.7), digits_of(0.65, 0.66), digits_of(None, None)
    (2, 3, 4)
    """
    if low is None or high is None:
        return 4
    return 2 if high - low > WIDE else 3


def interval(low: float | None, high: float | None, digits: int | None = None) -> str:
    """The ends of an interval, or nothing.

    >>> interval(0.4671, 0.5563), interval(0.4671, 0.4782), interval(None, 0.5)
    ('[.47, .56]', '[.467, .478]', '')
    """
    if low is None or high is None:
        return ""
    digits = digits_of(low, high) if digits is None else digits
    return f"[{number(low, digits)}, {number(high, digits)}]"


def signed(value: float | None, digits: int = 4) -> str:
    """A difference with its sign.

    >>> signed(0.0312), signed(-0.2, 2), signed(0.0), signed(None)
    ('+.0312', '-.20', '.0000', '–')
    """
    text = number(value, digits)
    return f"+{text}" if value is not None and value > 0 and text != number(0, digits) else text


def amount(value: float | None, digits: int = 3) -> str:
    """Seconds, tokens or money: three significant digits, which is more than times are worth; whole ones stay whole.

    >>> amount(0.02431), amount(999.6), amount(1234.5), amount(12), amount(None)
    ('0.0243', '1,000', '1,234', '12', '–')
    >>> amount(0.5015000000000001)  # a mean of numbers that are halfway: as amount(0.5015) is written
    '0.501'
    """
    if value is None or not math.isfinite(value):
        return NONE
    value = float(f"{value:.12g}")
    brief = f"{value:.{digits}g}"
    return f"{value:,.0f}" if abs(float(brief)) >= 1000 else brief


def average_count(value: float | None) -> str:
    """The mean of counts: two decimals, and whole numbers stay whole.

    >>> average_count(2.5), average_count(1200), average_count(None)
    ('2.50', '1,200', '–')
    """
    if value is None or not math.isfinite(value):
        return NONE
    text = f"{value:,.2f}"
    return text.removesuffix(".00") if text != "-0.00" else "0"


Band = tuple[float, str, str]  # from this mean up, its name, what it means

BANDS: dict[str, tuple[Band, ...]] = {
    "MRR": (
        (0.90, "Excellent", "the first relevant hit is almost always at rank 1"),
        (0.70, "Good", "the first relevant hit is typically in the top 2"),
        (0.50, "Moderate", "the first relevant hit is usually in the top 3-4"),
        (0.30, "Fair", "the first relevant hit is often below rank 3"),
        (0.00, "Poor", "the first relevant hit is far down or missing"),
    ),
    "Recall": (
        (0.90, "Excellent", "almost everything relevant is found"),
        (0.70, "Good", "most of what is relevant is found"),
        (0.50, "Moderate", "half or more of what is relevant is found"),
        (0.30, "Fair", "much of what is relevant is missing"),
        (0.00, "Poor", "most of what is relevant is missing"),
    ),
    "TokenF1": (
        (0.80, "Excellent", "the words are almost those of the reference"),
        (0.60, "Good", "most of the reference's words are there"),
        (0.40, "Moderate", "the words overlap in part with the reference"),
        (0.20, "Fair", "some of the reference's words are there"),
        (0.00, "Poor", "hardly any of the reference's words are there"),
    ),
    "SemanticSimilarity": (
        (0.85, "High", "the meaning is close to the reference"),
        (0.80, "Production-grade", "the meaning is as close as production systems bring it"),
    ),
}


def band(measure: str, mean: float | None) -> tuple[str, str] | None:
    """The band of a mean and its meaning; None where the measure has no bands or the mean stands below them all.

    >>> band("MRR", 0.7)
    ('Good', 'the first relevant hit is typically in the top 2')
    """
    floors = () if mean is None else BANDS.get(measure, ())
    return next(((name, meaning) for floor, name, meaning in floors if (mean or 0.0) >= floor - 1e-12), None)


def mean_note(answered: int, missing: int, other: float | None, *, counted: bool, lists_end: int | None) -> str | None:
    """What must stand beside a mean: how many answers are missing, with the other mean, or where all lists end.

    `other` is the mean with missing answers as 0, or, where they are `counted` so already, that of the others alone.

    >>> mean_note(3, 5, 0.125, counted=False, lists_end=None)
    '3 of 8 answered; missing as 0: .125'
    """
    if not missing:
        return None if lists_end is None else f"lists end at {lists_end}"
    which = "those alone" if counted else "missing as 0"
    shown = "no mean" if other is None else number(other, 3)
    return f"{answered:,} of {answered + missing:,} answered; {which}: {shown}"


def money(usd: float | None) -> str:
    """An amount: `unknown` where it is.

    >>> money(None), money(0.0), money(0.00042), money(12.5)
    ('unknown', '0.00 USD', '0.00042 USD', '12.50 USD')
    """
    if usd is None:
        return "unknown"
    return f"{usd:,.2f} USD" if usd == 0 or usd >= 0.01 else f"{usd:.2g} USD"
