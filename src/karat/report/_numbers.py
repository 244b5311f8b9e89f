"""How numbers are written, in one place: four decimals, no zero before the point, a dash where there is none."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from karat.core.text.words import NONE as NONE
from karat.core.text.words import number as number

if TYPE_CHECKING:
    from karat.core.measure import Measure


def short(value: float | None) -> str:
    """Three decimals, for intervals and sentences.

    >>> short(0.6667), short(-0.25), short(1)
    ('.667', '-.250', '1.000')
    """
    return number(value, 3)


def figure(measure: Measure, value: float | None) -> str:
    """A mean in its measure's own unit: shares in percent, counts with two decimals."""
    if measure.spec.unit == "share":
        return percent(value)
    return count(value) if measure.spec.unit == "count" else number(value)


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
