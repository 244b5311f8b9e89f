"""Spread: a standard deviation is at most what its mean and range allow; that of 0/1 values follows from the mean."""

from __future__ import annotations

import math
from collections.abc import Iterator

from karat.core.measure import Measure
from karat.core.text.words import number
from karat.diagnose.verify.lines import WHOLE, Line, SummaryTable, bounds_of
from karat.diagnose.verify.numbers import EXACT
from karat.diagnose.verify.printed import PrintedFigure
from karat.results.verification import Figure

ERRORS = 2.0  # standard errors that a figure after ± may be, if it is no standard deviation: 1.96 for a 95% interval
FEWEST = 16  # questions that a mean with its error is over, where their number is not known


def check(table: SummaryTable) -> Iterator[Figure]:
    """Standard deviations that contradict the mean beside them."""
    for line in table.lines:
        for (measure, statistic), one in line.statistics.items():
            if statistic == "std" and not line.over_systems:
                yield from _of_mean(line, measure, one)


def _of_mean(line: Line, measure: Measure, one: PrintedFigure) -> Iterator[Figure]:
    mean = line.mean(measure)
    low, high = bounds_of(measure)
    if mean is None or not math.isfinite(low + high) or not low <= mean.value <= high:
        return
    n = line.size(measure)
    correction = 2.0 if n is None or n < 2 else n / (n - 1)
    means = [min(max(mean.value + s * mean.half, low), high) for s in (-1, 0, 1)]
    middle = (low + high) / 2
    if means[0] <= middle <= means[2]:
        means.append(middle)
    largest = [math.sqrt(max(0.0, (m - low) * (high - m))) for m in means]  # all values at an end of the range
    most = max(largest) * math.sqrt(correction)
    if one.value > most + one.number.half:
        detail = f"values in [{low:g}, {high:g}] with mean {mean.value:g} have std {number(most)} at most"
        yield one.figure("impossible", detail, cause="spread", recomputed=most)
    elif measure.spec.name in WHOLE and one.value < min(largest) - one.number.half - EXACT:
        exact = math.sqrt(mean.value * (1 - mean.value) * (correction if n else 1.0))
        if one.signed and one.value <= ERRORS * exact / math.sqrt(n or FEWEST) + one.number.half:
            why = "no standard deviation of 0 and 1: a standard error, half of an interval, or a spread over runs."
            yield one.figure("unchecked", why)
            return
        detail = f"0/1 values with mean {number(mean.value, min(mean.decimals, 4))} must have std {number(exact)}"
        yield one.figure("impossible", detail, cause="spread", recomputed=exact)
