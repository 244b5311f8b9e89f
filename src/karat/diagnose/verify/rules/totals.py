"""Totals: the mean over all questions lies among the means of its slices, unless they leave questions out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from karat.diagnose.verify.lines import Line, SummaryTable
from karat.diagnose.verify.names import is_slice
from karat.results.verification import Figure


def check(table: SummaryTable) -> Iterator[Figure]:
    """Totals that lie outside the means of their parts."""
    slices: dict[frozenset[tuple[str, str]], dict[str, list[Line]]] = defaultdict(lambda: defaultdict(list))
    for line in table.lines:
        for label in () if line.total else line.labels:
            slices[frozenset(line.labels) - {label}][label[0]].append(line)
    for line in table.lines:
        for dimension, parts in slices.get(frozenset(line.labels), {}).items():
            if line.total or is_slice(dimension):
                yield from _outside(line, parts, is_slice(dimension))


def _outside(line: Line, parts: list[Line], sliced: bool) -> Iterator[Figure]:
    for measure, one in line.means.items():
        numbers = [number for part in parts if (number := part.mean(measure)) is not None]
        sizes = [size for part in parts if (size := part.size(measure)) is not None]
        whole = line.size(measure)
        incomplete = sliced and whole is not None and len(sizes) == len(parts) and sum(sizes) != whole
        if len(numbers) < 2 or len(numbers) < len(parts) or incomplete:
            continue
        low, high = (pick(numbers, key=lambda number: number.value) for pick in (min, max))
        if not low.value - low.half - one.number.half <= one.value <= high.value + high.half + one.number.half:
            detail = f"{one.value:g} is not between {low.value:g} and {high.value:g}"
            yield one.figure("impossible", detail, cause="total")
