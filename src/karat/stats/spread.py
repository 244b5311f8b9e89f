"""Spread: one sentence on how the values of a measure lie, read off the values themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from karat.core.measure import Measure

FEW = 5  # below this a shape is an accident
PILED = 0.10  # share of the questions at an end of the range that is worth naming
SKEWED = 0.15  # distance of mean and median, in standard deviations


def spread(measure: Measure, values: NDArray[np.float64], mean: float, std: float) -> str | None:
    """A sentence on spread and skew; `values` are sorted. None where there is no value.

    >>> from types import SimpleNamespace as Has
    >>> recall = Has(bounds=(0.0, 1.0))
    >>> spread(recall, np.array([0, 0, 0, 0, 0.5, 1]), 0.25, 0.418)[:38]
    '67% of questions score 0, 17% score 1;'
    """
    n = len(values)
    if n == 0:
        return None
    if values[0] == values[-1]:
        return "the only question scores " + _short(values[0]) if n == 1 else f"all {n} questions score " + _short(mean)
    if n < FEW:
        return f"too few questions to tell a shape: {n}, from {_short(values[0])} to {_short(values[-1])}"
    ends = [end for end in measure.bounds if np.isfinite(end)]
    shares = [(end, np.count_nonzero(np.abs(values - end) <= 1e-12) / n) for end in ends]
    piled = [f"{_percent(share)} score {_short(end)}" for end, share in shares if share >= PILED]
    if piled:
        piled[0] = piled[0].replace(" score", " of questions score", 1)
    if any(share == 1 for _, share in shares):
        return f"all {n} questions score " + _short(mean)
    if len(shares) == 2 and sum(share for _, share in shares) > 1 - 1e-12:
        (low, at_low), (high, at_high) = shares
        at_ends = f"{_percent(at_low)} of questions score {_short(low)}, {_percent(at_high)} score {_short(high)}"
        return at_ends + ", none between"
    parts = [", ".join(piled)] if piled else []
    quarter, median, three = (_linear(values, share) for share in (0.25, 0.5, 0.75))
    if not piled:
        parts.append(f"the middle half of the questions lies between {_short(quarter)} and {_short(three)}")
    lean = (mean - median) / std if std > 0 else 0.0
    stated = f"the mean ({thousandths(mean)}) is {{}} the median ({thousandths(median)})"
    if lean > SKEWED:
        reach = np.count_nonzero(values >= mean - 1e-12) / n
        parts.append(stated.format("above") + f": {_percent(reach)} of questions reach it and carry the rest")
    elif lean < -SKEWED:
        miss = np.count_nonzero(values < mean - 1e-12) / n
        parts.append(stated.format("below") + f": the {_percent(miss)} of questions under it pull it down")
    else:
        parts.append("mean and median agree")
    return "; ".join(parts)


def _linear(values: NDArray[np.float64], share: float) -> float:
    place = share * (len(values) - 1)
    before = int(place)
    after = min(before + 1, len(values) - 1)
    return float(values[before] + (values[after] - values[before]) * (place - before))


def _percent(share: float) -> str:
    """A share in whole percent that never rounds to all or nothing."""
    return f"{min(max(round(100 * share), 1), 99)}%" if 0 < share < 1 else f"{100 * share:.0f}%"


def _short(value: float) -> str:
    return f"{value:.3g}".replace("-0.", "-.").removeprefix("0") or "0"


def thousandths(value: float) -> str:
    """Three decimals, no zero before the point.

    >>> thousandths(0.6667), thousandths(-0.25), thousandths(-0.0001), thousandths(1)
    ('.667', '-.250', '.000', '1.000')
    """
    text = f"{value:.3f}"
    sign, digits = ("-", text[1:]) if text.startswith("-") else ("", text)
    return ("" if float(text) == 0 else sign) + digits.removeprefix("0")
