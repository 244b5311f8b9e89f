"""Granularity: the mean of whole numbers of steps over n questions is a multiple of a step / n (the GRIM test)."""

from __future__ import annotations

from collections.abc import Iterator

from karat.diagnose.verify.lines import SummaryTable, in_range, steps_of
from karat.diagnose.verify.printed import PrintedFigure
from karat.results.verification import Figure


def check(table: SummaryTable) -> Iterator[Figure]:
    """Means of 0/1 values and of Precision@k that no such values give over the n of their line."""
    for line in table.lines:
        for measure, one in {} if line.over_systems else line.means.items():
            steps, n = steps_of(measure), line.size(measure)
            if not steps or not n or not in_range(measure, one.number) or _may_be_count(one, n):
                continue
            nearest = round(one.value * n * steps) / (n * steps)
            if not one.number.agrees(nearest):
                cause = "not 0/1 over n" if steps == 1 else "not a share of k over n"
                detail = f"with n {n} the nearest is {nearest:.{max(4, one.number.decimals)}f}"
                yield one.figure("impossible", detail, cause=cause, recomputed=nearest)


def _may_be_count(one: PrintedFigure, n: int) -> bool:
    """Whether whole numbers that were read as percentages can be numbers of questions: `Hits@5` 41 of 97."""
    return one.percent and one.number.decimals <= 2 and round(100 * one.value) <= n
