"""Ranges: means lie in the range of their measure, counts are whole, spreads are not negative, p is a share."""

from __future__ import annotations

from collections.abc import Iterator

from karat.diagnose.verify.lines import SummaryTable, bounds_of, in_range
from karat.diagnose.verify.printed import PrintedFigure
from karat.results.verification import Figure


def check(table: SummaryTable) -> Iterator[Figure]:
    """Every figure that lies outside what it can be."""
    with_mean = {(one.labels, name) for one in table.figures if one.statistic == "mean" for name in ("", one.name)}
    for one in table.figures:
        measure = one.measure(table.k)
        if measure is not None and one.statistic == "mean":
            low, high = bounds_of(measure)
            problem = "" if in_range(measure, one.number) else f"{one.value:g} is not in [{low:g}, {high:g}]"
        else:
            problem = _problem(one, (one.labels, one.name) in with_mean)
        if problem:
            yield one.figure("impossible", problem, cause="range")


def _problem(one: PrintedFigure, has_mean: bool) -> str:
    if one.statistic == "n" and (one.value < 0 or one.value != int(one.value)):
        return "a number of questions is whole and at least 0"
    if one.statistic == "n" and one.value == 0 and has_mean:
        return "a mean over no question is none"
    if one.statistic in ("std", "var", "sem", "F", "p") and one.value < 0:
        return f"{one.statistic} cannot be negative"
    return "p is at most 1" if one.statistic == "p" and one.value > 1 else ""
