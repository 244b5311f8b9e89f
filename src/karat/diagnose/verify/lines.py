"""Lines: a table of printed figures, row by row, as the rules of arithmetic read it.

Printed digits are taken for what they are: a rule is broken only where no values that round to them keep it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from karat.core.measure import Measure
from karat.diagnose.contradictions import UNKNOWN_K
from karat.diagnose.verify.names import SURE_COUNTS, Labels, is_name, is_slice, is_total, spelled
from karat.diagnose.verify.numbers import Number
from karat.diagnose.verify.printed import PrintedFigure

WHOLE = ("Hit", "EM", "AnyGold", "AllGold")  # 0 or 1 for each question
WIDER = {"Faithfulness": (-1.0, 1.0), "Relevance": (-1.0, 2.0)}  # as LiveRAG's judges score


@dataclass(frozen=True, kw_only=True)
class Line:
    """One row of a table: the statistics of each measure, and the number of questions where it is known."""

    labels: Labels  # without those that say "total"
    where: str
    statistics: Mapping[tuple[Measure, str], PrintedFigure]
    n: int | None
    total: bool = False  # it is over other rows
    over_systems: bool = False  # and those are systems: of its figures no n is known

    @cached_property
    def means(self) -> dict[Measure, PrintedFigure]:
        return {measure: one for (measure, statistic), one in self.statistics.items() if statistic == "mean"}

    @property
    def of_a_system(self) -> bool:
        """Whether it is about one system and all questions."""
        return not self.total and not any(is_slice(name) for name, _ in self.labels)

    def mean(self, measure: Measure) -> Number | None:
        """The printed mean of a measure."""
        one = self.statistics.get((measure, "mean"))
        return None if one is None else one.number

    def size(self, measure: Measure) -> int | None:
        """How many questions its mean is over."""
        own = self.statistics.get((measure, "n"))
        return self.n if own is None else int(own.value)


@dataclass(frozen=True, kw_only=True)
class SummaryTable:
    """A table of means with what is said of it; `settings` are headings of counts that count no questions."""

    figures: Sequence[PrintedFigure]
    lines: Sequence[Line]
    settings: set[str]
    k: int | None
    one_gold: bool

    @property
    def systems(self) -> list[Line]:
        """The lines that are about one system and all questions."""
        return [line for line in self.lines if line.of_a_system]


def bounds_of(measure: Measure) -> tuple[float, float]:
    """The range that a printed mean of a measure may have."""
    return WIDER.get(measure.spec.name, measure.bounds)


def in_range(measure: Measure, number: Number) -> bool:
    """Whether a printed mean, or what was rounded to it, lies in the range of its measure."""
    low, high = bounds_of(measure)
    return low - number.half <= number.value <= high + number.half


def steps_of(measure: Measure) -> int:
    """Of how many equal steps a value of one question is made; 0 where that is not known."""
    if measure.spec.name in WHOLE:
        return 1
    return measure.k if measure.spec.name == "Precision" and measure.k and measure.k != UNKNOWN_K else 0


def summary_table(
    figures: Sequence[PrintedFigure], *, n: int | None = None, k: int | None = None, one_gold: bool = False
) -> SummaryTable:
    """The rows of a table, by their labels; `n` is of those that are about all questions."""
    grouped: dict[Labels, list[PrintedFigure]] = defaultdict(list)
    for one in figures:
        grouped[one.labels].append(one)
    settings = _settings_among_counts(figures, n, k)
    keyed = {labels[:-1] for labels in grouped if labels and not labels[-1][0] and not is_total(labels[-1])}
    lines = []
    for labels, every in grouped.items():
        figures_of_line = [one for one in every if one.heading not in settings]
        whole = tuple(label for label in labels if not is_total(label))
        totals = [name for name, value in labels if is_total((name, value))]
        counts = (int(one.value) for one in figures_of_line if one.statistic == "n" and not one.name and one.value >= 1)
        line = Line(
            labels=whole, where=every[0].where,
            statistics={(m, one.statistic): one for one in figures_of_line if (m := one.measure(k)) is not None},
            n=next(counts, None if any(is_slice(name) for name, _ in whole) else n),
            total=whole != labels,
            over_systems=any(is_name(name) or (not name and whole in keyed) for name in totals),
        )  # fmt: skip
        lines.append(line)
    return SummaryTable(figures=figures, lines=lines, settings=settings, k=k, one_gold=one_gold)


def _settings_among_counts(figures: Sequence[PrintedFigure], n: int | None, k: int | None) -> set[str]:
    """Headings such as n_queries under which no numbers of questions stand.

    So it is where `n` is said to be another, or where the figures that can tell speak against it: one that no such
    number gives weighs twice as much as one that it gives and not by chance.
    """
    counts = {
        (one.labels, one.name): one for one in figures
        if one.heading and spelled(one.heading) not in SURE_COUNTS and one.value >= 1
    }  # fmt: skip
    votes: dict[str, float] = defaultdict(float)
    for one in figures:
        count = counts.get((one.labels, one.name)) or counts.get((one.labels, ""))
        measure = one.measure(k)
        if count is None or measure is None or one.statistic != "mean":
            continue
        total = steps_of(measure) * int(count.value)
        if 0 < one.value < 1 and total:
            possible = one.number.agrees(round(one.value * total) / total)
            votes[count.heading] += max(0.0, 1 - total / 10**one.number.decimals) if possible else -2
    sliced = {one.heading for one in counts.values() if any(is_slice(name) for name, _ in one.labels)}
    other = {one.heading for one in counts.values() if n is not None and one.value != n} - sliced
    return {heading for heading, vote in votes.items() if vote < 0} | other
