"""Alone: what a table of means cannot be, whatever the rows behind it.

Printed digits are taken for what they are: a rule is broken only where no values that round to them keep it.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from karat.core.measure import Measure
from karat.diagnose import _tables as tables
from karat.diagnose.verify._causes import because
from karat.diagnose.verify._digits import Number, cut_of
from karat.diagnose.verify.figures import CUTS, is_name, is_slice, is_total
from karat.diagnose.verify.names import SURE_COUNTS, spelled
from karat.results.verification import Figure, Verdict

if TYPE_CHECKING:
    from karat.diagnose.verify.figures import Labels, Printed

WHOLE = ("Hit", "EM", "AnyGold", "AllGold")  # 0 or 1 for each question
WIDER = {"Faithfulness": (-1.0, 1.0), "Relevance": (-1.0, 2.0)}  # as LiveRAG's judges score
ERRORS = 2.0  # standard errors that a figure after ± may be, if it is no standard deviation: 1.96 for a 95% interval
FEWEST = 16  # questions that a mean with its error is over, where their number is not known
ROWS = 3  # systems or measures before two that are the same say anything


@dataclass(frozen=True)
class Line:
    """One row of a table: the statistics of each measure, and the number of questions where it is known."""

    labels: Labels  # without those that say "total"
    where: str
    of: Mapping[tuple[Measure, str], Printed]
    n: int | None
    total: bool = False  # it is over other rows
    over_systems: bool = False  # and those are systems: of its figures no n is known

    @property
    def means(self) -> dict[Measure, Printed]:
        return {measure: one for (measure, statistic), one in self.of.items() if statistic == "mean"}

    @property
    def of_a_system(self) -> bool:
        """Whether it is about one system and all questions."""
        return not self.total and not any(is_slice(name) for name, _ in self.labels)

    def number(self, measure: Measure | None, statistic: str = "mean") -> Number | None:
        found = self.of.get((measure, statistic)) if measure is not None else None
        return None if found is None else found.number

    def size(self, measure: Measure) -> int | None:
        """How many questions its mean is over."""
        own = self.of.get((measure, "n"))
        return self.n if own is None else int(own.value)

    def named(self, name: str, k: int | None = None) -> Measure | None:
        """The measure of that name at that cut, without parameters."""
        return next((m for m in self.means if m.spec.name == name and m.k == k and not m.given), None)


def lines_of(figures: Sequence[Printed], n: int | None = None, k: int | None = None) -> list[Line]:
    """The rows of a table, by their labels; `n` is of those that are about all questions."""
    grouped: dict[Labels, list[Printed]] = defaultdict(list)
    for one in figures:
        grouped[one.labels].append(one)
    settings = settings_among_counts(figures, n, k)
    keyed = {labels[:-1] for labels in grouped if labels and not labels[-1][0] and not is_total(labels[-1])}
    lines = []
    for labels, every in grouped.items():
        some = [one for one in every if one.heading not in settings]
        whole = tuple(label for label in labels if not is_total(label))
        totals = [name for name, value in labels if is_total((name, value))]
        over_systems = any(is_name(name) or (not name and whole in keyed) for name in totals)
        counts = (one for one in some if one.statistic == "n" and not one.name)
        count = next((int(one.value) for one in counts if one.value >= 1), None)
        if count is None and not any(is_slice(name) for name, _ in whole):
            count = n
        of = {(m, one.statistic): one for one in some if one.name and (m := one.measure(k)) is not None}
        lines.append(Line(whole, every[0].where, of, count, whole != labels, over_systems))
    return lines


def settings_among_counts(figures: Sequence[Printed], n: int | None = None, k: int | None = None) -> set[str]:
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
        measure = one.measure(k) if one.name else None
        if count is None or measure is None or one.statistic != "mean":
            continue
        total = _steps(measure) * int(count.value)
        if 0 < one.value < 1 and total:
            given = one.number.agrees(round(one.value * total) / total)
            votes[count.heading] += max(0.0, 1 - total / 10**one.number.decimals) if given else -2
    other = {one.heading for one in counts.values() if n is not None and one.value != n} - _varying(counts.values())
    return {heading for heading, vote in votes.items() if vote < 0} | other


def _varying(counts: Iterable[Printed]) -> set[str]:
    """Headings of counts of slices."""
    return {one.heading for one in counts if any(is_slice(name) for name, _ in one.labels)}


def _steps(measure: Measure) -> int:
    """Of how many equal steps a value of one question is made; 0 where that is not known."""
    if measure.spec.name in WHOLE:
        return 1
    return measure.k if measure.spec.name == "Precision" and measure.k and measure.k != tables.UNKNOWN_K else 0


def check_alone(
    figures: Sequence[Printed], *, n: int | None = None, k: int | None = None, one_gold: bool = False
) -> list[Figure]:
    """Every printed figure of a registered measure, checked by arithmetic; the others are listed as unchecked."""
    lines = lines_of(figures, n, k)
    broken = [figure for line in lines for figure in _of_line(line, one_gold)]
    broken += [*_ranges(figures), *_across_cuts(lines), *_totals(lines), *_unequal(lines)]
    broken += _identical([line for line in lines if line.of_a_system], one_gold)
    found = list({(f.where, f.name, f.what, f.cause): f for f in reversed(broken)}.values())[::-1]
    wrong = {(f.where, f.name, f.what) for f in broken}
    settings = settings_among_counts(figures, n, k)
    for one in figures:
        if (one.where, one.name or one.statistic, one.statistic) in wrong:
            continue
        measure = one.measure(k) if one.name else None
        if one.name and measure is None:
            found.append(_figure(one, "unchecked", "", "not a measure that karat knows, and there are no rows."))
        elif measure is not None and measure.k == tables.UNKNOWN_K:
            found.append(_figure(one, "unchecked", "", "k is unknown: add -k 5."))
        elif one.statistic in ("F", "t", "p"):
            found.append(_figure(one, "unchecked", "", "there are no rows to compute it from."))
        elif one.statistic == "n" and one.heading in settings:
            why = f"read as a setting: the means are not over so many questions ({one.heading}); -n gives their number."
            found.append(_figure(one, "unchecked", "", why))
        else:
            found.append(_figure(one, "ok", "", "no contradiction found."))
    return found


def _figure(one: Printed, verdict: Verdict, cause: str, why: str, recomputed: float | None = None) -> Figure:
    apart = int(verdict in ("mismatch", "impossible"))
    return Figure(
        one.where, one.name or one.statistic, one.statistic, verdict, one.value, recomputed, cause, why, 1, apart
    )


def _impossible(one: Printed, cause: str, more: str, recomputed: float | None = None) -> Figure:
    return _figure(one, "impossible", cause, because(cause, more), recomputed)


def _of_line(line: Line, one_gold: bool) -> Iterator[Figure]:
    for (measure, statistic), one in line.of.items():
        low, high = WIDER.get(measure.spec.name, measure.bounds)
        if statistic == "mean" and not low - one.number.half <= one.value <= high + one.number.half:
            yield _impossible(one, "range", f"{one.value:g} is not in [{low:g}, {high:g}]")
        elif statistic == "mean" and not line.over_systems:
            yield from _granular(line, measure, one)
        elif statistic == "std" and not line.over_systems:
            yield from _spread(line, measure, one)
    yield from _quantiles(line)
    yield from _contradictions(line.means, lambda m: line.means[m].name)
    yield from _one_gold(line, one_gold)
    for note in tables.all_zero({"": {m: one.value for m, one in line.means.items()}} if line.of_a_system else {}):
        yield _figure(next(iter(line.means.values())), "suspect", "", note.text.removeprefix(": "))


def _contradictions(
    means: Mapping[Measure, Printed], name: Callable[[Measure], str], guard: str = "",
    same_n: Callable[..., bool] = lambda *measures: True,
) -> Iterator[Figure]:  # fmt: skip
    values = {m: one.value for m, one in means.items() if m.spec.name not in WIDER}
    for one in tables.contradictions(values, lambda m: means[m].number.half, name, same_n):
        if one.guard.endswith(guard):
            yield _impossible(means[one.measure], "order", one.text.removesuffix("."))


def _across_cuts(lines: Sequence[Line]) -> Iterator[Figure]:
    """Rows that differ in nothing but k: what can only grow with it."""
    families: dict[Labels, list[tuple[int, Line]]] = defaultdict(list)
    for line in lines:
        cut = next((cut_of(value) for name, value in line.labels if spelled(name) in CUTS), None)
        if cut is not None:
            rest = tuple(label for label in line.labels if spelled(label[0]) not in CUTS)
            families[rest].append((cut, line))
    for members in families.values():
        means: dict[Measure, Printed] = {}
        sizes: dict[Measure, int | None] = {}
        for cut, line in members:
            for measure, one in line.means.items():
                if measure.tokens is None and measure.k in (None, cut):
                    at = Measure(measure.spec, cut, None, measure.given)
                    means[at], sizes[at] = one, line.size(measure)

        def same_n(*measures: Measure, sizes: Mapping[Measure, int | None] = sizes) -> bool:
            return len({sizes[measure] for measure in measures}) == 1

        def at_k(measure: Measure, means: Mapping[Measure, Printed] = means) -> str:
            return f"{means[measure].name} at k {measure.k}"

        yield from _contradictions(means, at_k, "falls with k", same_n)


def _totals(lines: Sequence[Line]) -> Iterator[Figure]:
    """The mean over all questions lies among the means of its slices, unless they leave questions out."""
    slices: dict[frozenset[tuple[str, str]], dict[str, list[Line]]] = defaultdict(lambda: defaultdict(list))
    for line in lines:
        if not line.total:
            for label in line.labels:
                slices[frozenset(line.labels) - {label}][label[0]].append(line)
    for line in lines:
        for dimension, parts in slices.get(frozenset(line.labels), {}).items():
            if not line.total and not is_slice(dimension):
                continue
            for measure, one in line.means.items():
                numbers = [number for part in parts if (number := part.number(measure)) is not None]
                sizes = [part.size(measure) for part in parts]
                size = line.size(measure)
                known = [n for n in sizes if n is not None]
                apart = size is not None and len(known) == len(sizes) and sum(known) != size and is_slice(dimension)
                if len(numbers) < 2 or len(numbers) < len(parts) or apart:
                    continue
                low, high = (pick(numbers, key=lambda number: number.value) for pick in (min, max))
                if not low.value - low.half - one.number.half <= one.value <= high.value + high.half + one.number.half:
                    more = f"{one.value:g} is not between {low.value:g} and {high.value:g}"
                    yield _impossible(one, "total", more)


def _ranges(figures: Sequence[Printed]) -> Iterator[Figure]:
    """Numbers of questions are whole, and a mean is over at least one; spreads and F are not negative, p is a share."""
    means = {(one.labels, name) for one in figures if one.statistic == "mean" for name in ("", one.name)}
    for one in figures:
        if one.statistic == "n" and (one.value < 0 or one.value != int(one.value)):
            yield _figure(one, "impossible", "range", "a number of questions is whole and at least 0.")
        elif one.statistic == "n" and one.value == 0 and (one.labels, one.name) in means:
            yield _figure(one, "impossible", "range", "a mean over no question is none.")
        elif one.statistic in ("std", "var", "sem", "F", "p") and one.value < 0:
            yield _figure(one, "impossible", "range", f"{one.statistic} cannot be negative.")
        elif one.statistic == "p" and one.value > 1:
            yield _figure(one, "impossible", "range", "p is at most 1.")


def _granular(line: Line, measure: Measure, one: Printed) -> Iterator[Figure]:
    """Means of values that are whole numbers of steps: the GRIM test."""
    steps, n = _steps(measure), line.size(measure)
    if not steps or not n or _may_be_count(one, n):
        return
    nearest = round(one.value * n * steps) / (n * steps)
    if not one.number.agrees(nearest):
        cause = "not 0/1 over n" if steps == 1 else "not a share of k over n"
        more = f"with n {n} the nearest is {nearest:.{max(4, one.number.decimals)}f}"
        yield _impossible(one, cause, more, nearest)


def _may_be_count(one: Printed, n: int) -> bool:
    """Whether whole numbers that were read as percentages can be numbers of questions: `Hits@5` 41 of 97."""
    return one.percent and one.number.decimals <= 2 and round(100 * one.value) <= n


def _spread(line: Line, measure: Measure, one: Printed) -> Iterator[Figure]:
    mean = line.number(measure)
    low, high = WIDER.get(measure.spec.name, measure.bounds)
    if mean is None or not math.isfinite(low + high) or not low <= mean.value <= high:
        return
    n = line.size(measure)
    correction = 2.0 if n is None or n < 2 else n / (n - 1)
    around = [min(max(mean.value + s * mean.half, low), high) for s in (-1, 0, 1)]
    middle = (low + high) / 2
    if around[0] <= middle <= around[2]:
        around.append(middle)
    most = max(math.sqrt(max(0.0, (m - low) * (high - m)) * correction) for m in around)
    if one.value > most + one.number.half:
        more = f"values in [{low:g}, {high:g}] with mean {mean.value:g} have std {_short(most)} at most"
        yield _impossible(one, "spread", more, most)
    elif measure.spec.name in WHOLE:
        spreads = [math.sqrt(max(0.0, (m - low) * (high - m))) for m in around]
        least = min(spreads)
        if one.value < least - one.number.half - 1e-9:
            exact = math.sqrt(mean.value * (1 - mean.value) * (correction if n else 1.0))
            if one.signed and one.value <= ERRORS * exact / math.sqrt(n or FEWEST) + one.number.half:
                why = "no standard deviation of 0 and 1: a standard error, half of an interval, or a spread over runs."
                yield _figure(one, "unchecked", "", why)
                return
            more = f"0/1 values with mean {_short(mean.value, mean.decimals)} must have std {_short(exact)}"
            yield _impossible(one, "spread", more, exact)


def _short(value: float, decimals: int = 4) -> str:
    """A share as tables print it: .4956."""
    return f"{value:.{min(decimals, 4)}f}".removeprefix("0")


def _quantiles(line: Line) -> Iterator[Figure]:
    """min <= 25% <= 50% <= 75% <= max, and the mean and its interval among them."""
    for measure in dict.fromkeys(m for m, _ in line.of):
        for chain in (("min", "25%", "50%", "75%", "max"), ("min", "mean", "max"), ("low", "mean", "high")):
            there = [(s, line.of[measure, s]) for s in chain if (measure, s) in line.of]
            for (first, small), (second, large) in combinations(there, 2):
                if small.value > large.value + small.number.half + large.number.half:
                    yield _impossible(large, "order", f"{first} {small.value:g} is above {second} {large.value:g}")


def _one_gold(line: Line, told: bool) -> Iterator[Figure]:
    """With one gold unit a question MAP is MRR, Recall is Hit, and Precision is Hit / k."""
    if not told:
        return
    cuts = dict.fromkeys(m.k for m in line.means)
    for k in cuts:
        pairs = [
            ("MAP", "MRR", 1.0, "MAP is not MRR"),
            ("Recall", "Hit", 1.0, "order"),
            ("Precision", "Hit", float(k or 0), "order"),
            ("Precision", "Recall", float(k or 0), "order"),
        ]
        for first, second, factor, cause in pairs:
            a, b = line.named(first, k), line.named(second, k)
            mine, theirs = line.number(a), line.number(b)
            if a is None or mine is None or theirs is None or not factor:
                continue
            if abs(mine.value * factor - theirs.value) > factor * mine.half + theirs.half:
                yield _impossible(line.of[a, "mean"], cause, f"{second} is {theirs.value:g}", theirs.value / factor)


def _unequal(lines: Sequence[Line]) -> Iterator[Figure]:
    """Systems that are compared over different numbers of questions."""
    counted = {line.where: line.n for line in lines if line.n is not None and line.of and line.of_a_system}
    if len(set(counted.values())) > 1:
        said = ", ".join(f"{where} {n}" for where, n in list(counted.items())[:6])
        yield Figure("", "n", "n", "suspect", cause="unequal n", why=because("unequal n", said))


def _alike(a: Measure, b: Measure, one_gold: bool) -> bool:
    """Whether two measures may well be the same: at the first hit, with one gold unit, or at two cuts."""
    names = {a.spec.name, b.spec.name}
    first = a.k == b.k == 1 and names <= {"Precision", "Hit", "MRR", "nDCG", "Recall", "MAP"}
    return len(names) == 1 or first or (one_gold and names in ({"Recall", "Hit"}, {"MAP", "MRR"}))


def _identical(lines: Sequence[Line], one_gold: bool) -> Iterator[Figure]:
    """Two measures that are the same for every system, or two systems that are in every measure."""
    yield from _identical_columns(lines, one_gold)
    yield from _identical_rows(lines)


def _identical_columns(lines: Sequence[Line], one_gold: bool) -> Iterator[Figure]:
    """Each measure that repeats an earlier one it should differ from."""
    first_of: dict[tuple[float, ...], dict[tuple[str, bool], Measure]] = {}  # by the values, then by what is alike
    for b in dict.fromkeys(m for line in lines for m, s in line.of if s == "mean"):
        values = tuple(line.of[b, "mean"].value for line in lines if (b, "mean") in line.of)
        if len(values) < len(lines) or len(values) < ROWS or len(set(values)) < ROWS:
            continue
        earlier = first_of.setdefault(values, {})
        a = next((a for a in earlier.values() if not _alike(a, b, one_gold)), None)
        earlier.setdefault((b.spec.name, b.k == 1), b)
        if a is None:
            continue
        is_hit_rate = {a.spec.name, b.spec.name} == {"Recall", "Hit"}
        copied = "Recall is a hit rate" if is_hit_rate else "one column was copied"
        hint = f"each question has one gold unit, or {copied}"
        more = f"{a.name} and {b.name} are the same in all {len(lines)} rows; {hint}"
        yield Figure(
            "", b.name, "mean", "suspect", cause="hit rate" if is_hit_rate else "identical columns",
            why=because("identical columns", more), cells=len(lines),
        )  # fmt: skip


def _identical_rows(lines: Sequence[Line]) -> Iterator[Figure]:
    """Each system that repeats an earlier one, in the measures that both have."""
    means_of: dict[tuple[Measure, ...], dict[tuple[float, ...], Line]] = {}  # the first line of each row of values
    for second in lines:
        means = {m: figure.value for (m, statistic), figure in second.of.items() if statistic == "mean"}
        measures, values = tuple(means), tuple(means.values())
        for others, earlier in means_of.items():
            shared = measures if measures == others else tuple(m for m in others if m in means)
            if len(shared) < ROWS or {means[m] for m in shared} <= {0.0, 1.0}:
                continue
            first = earlier.get(values) if measures == others else _first_like(means, shared, others, earlier)
            if first is not None:
                more = f"{first.where} and {second.where}, in {len(shared)} measures"
                yield Figure(
                    second.where, "", "mean", "suspect", cause="identical rows", why=because("identical rows", more)
                )
                break
        means_of.setdefault(measures, {}).setdefault(values, second)


def _first_like(
    means: Mapping[Measure, float],
    shared: Collection[Measure],
    others: Sequence[Measure],
    earlier: Mapping[tuple[float, ...], Line],
) -> Line | None:
    """The first line of other measures that agrees with these means in those that both have."""
    for values, line in earlier.items():
        if all(means[m] == value for m, value in zip(others, values, strict=True) if m in shared):
            return line
    return None
