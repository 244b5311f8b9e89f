"""How numbers are written, in one place: four decimals, a dash where there is none, never "nan"."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from karat.core.measure import Measure

NONE = "–"


def number(value: float | None, digits: int = 4) -> str:
    """A value with fixed decimals.

    >>> number(0.5), number(-0.00001), number(None), number(float("nan"))
    ('0.5000', '0.0000', '–', '–')
    """
    if value is None or not math.isfinite(value):
        return NONE
    text = f"{value:.{digits}f}"
    return text.removeprefix("-") if float(text) == 0 else text


def short(value: float | None) -> str:
    """Three decimals without a leading zero, for intervals and sentences.

    >>> short(0.6667), short(-0.25), short(1)
    ('.667', '-.250', '1.000')
    """
    return _bare(number(value, 3))


def _bare(text: str) -> str:
    """A number without the zero before its point: tables of scores are full of them."""
    return "-" + text[2:] if text.startswith("-0.") else text.removeprefix("0") if text.startswith("0.") else text


def figure(measure: Measure, value: float | None) -> str:
    """A mean in its measure's own unit: shares in percent, counts with two decimals."""
    if measure.spec.unit == "share":
        return percent(value)
    return count(value) if measure.spec.unit == "count" else _bare(number(value))


def deviation(measure: Measure, value: float | None) -> str:
    """A standard deviation in its measure's own unit."""
    if measure.spec.unit == "share":
        return percent(value)
    return count(value) if measure.spec.unit == "count" else short(value)


def interval(measure: Measure, low: float | None, high: float | None) -> str:
    """The ends of an interval in the measure's own unit, or nothing."""
    if low is None or high is None:
        return ""
    ends = [deviation(measure, end) for end in (low, high)]
    return f"[{ends[0]}, {ends[1]}]"


def count(value: float | None) -> str:
    """A count or the mean of counts: whole numbers stay whole."""
    if value is None or not math.isfinite(value):
        return NONE
    text = f"{value:,.2f}"
    return text.removesuffix(".00") if text != "-0.00" else "0"


def percent(value: float | None) -> str:
    """A share in percent, one decimal, which rounds to 0 or 100 only when it is.

    >>> percent(0.7123), percent(0.9999), percent(1)
    ('71.2%', '>99.9%', '100%')
    """
    if value is None or not math.isfinite(value):
        return NONE
    if value in (0, 1):
        return f"{100 * value:.0f}%"
    if 0 < value < 0.0005:
        return "<0.1%"
    return ">99.9%" if 0.9995 <= value < 1 else f"{100 * value:.1f}%"


def amount(value: float | None) -> str:
    """Seconds, tokens or money: four significant digits.

    >>> amount(0.0243), amount(1234.5), amount(12)
    ('0.0243', '1,234', '12')
    """
    if value is None or not math.isfinite(value):
        return NONE
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
