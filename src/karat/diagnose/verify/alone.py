"""Alone: what a table of means cannot be, whatever the rows behind it.

Printed digits are taken for what they are: a rule is broken only where no values that round to them keep it.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from karat.core.verification import Figure, Verdict
from karat.diagnose.verify._causes import because
from karat.diagnose.verify._digits import Number

if TYPE_CHECKING:
    from karat.core.measure import Measure
    from karat.diagnose.verify.figures import Labels, Printed

WHOLE = ("Hit", "EM", "AnyGold", "AllGold")  # 0 or 1 for each question
WIDER = {"Faithfulness": (-1.0, 1.0), "Relevance": (-1.0, 2.0)}  # as LiveRAG's judges score
ROWS = 3  # systems or measures before two that are the same say anything
GUARDS = {
    "F1 above its parts": "order",
    "Recall above Hit": "order",
    "value out of range": "range",
    "equal n": "unequal n",
}


@dataclass(frozen=True)
class Line:
    """One row of a table: the statistics of each measure, and the number of questions where it is known."""

    labels: Labels
    where: str
    of: Mapping[tuple[Measure, str], Printed]
    n: int | None
    total: bool = False  # it is over the other rows: of its figures no n is known

    def number(self, measure: Measure | None, statistic: str = "mean") -> Number | None:
        found = self.of.get((measure, statistic)) if measure is not None else None
        return None if found is None else found.number

    def size(self, measure: Measure) -> int | None:
        """How many questions its mean is over."""
        own = self.of.get((measure, "n"))
        return self.n if own is None else int(own.value)

    def named(self, name: str, k: int | None = None) -> Measure | None:
        """The measure of that name at that cut, without parameters."""
        return next((m for m, s in self.of if s == "mean" and m.spec.name == name and m.k == k and not m.given), None)


def lines_of(figures: Sequence[Printed], n: int | None = None, k: int | None = None) -> list[Line]:
    """The rows of a table, by their labels."""
    grouped: dict[Labels, list[Printed]] = defaultdict(list)
    for one in figures:
        grouped[one.labels].append(one)
    made = []
    for labels, some in grouped.items():
        count = next((int(one.value) for one in some if one.statistic == "n" and not one.name and one.value >= 1), n)
        of = {(m, one.statistic): one for one in some if one.name and (m := one.measure(k)) is not None}
        made.append(Line(labels, some[0].where, of, count, some[0].total))
    return made


def check_alone(
    figures: Sequence[Printed], *, n: int | None = None, k: int | None = None, one_gold: bool = False
) -> list[Figure]:
    """Every printed figure of a registered measure, checked by arithmetic; the others are listed as unchecked."""
    lines = lines_of(figures, n, k)
    broken: list[Figure] = []
    for line in lines:
        broken.extend(_of_line(line, one_gold))
    broken.extend(_ranges(figures))
    broken.extend(_guards(lines))
    broken.extend(_identical(lines, one_gold))
    wrong = {(f.where, f.name, f.what) for f in broken}
    found = list(broken)
    for one in figures:
        if (one.where, one.name or one.statistic, one.statistic) in wrong:
            continue
        if one.name and one.measure(k) is None:
            found.append(_figure(one, "unchecked", "", "no registered measure has this name, and there are no rows."))
        elif one.statistic in ("F", "t", "p"):
            found.append(_figure(one, "unchecked", "", "there are no rows to compute it from."))
        else:
            found.append(_figure(one, "ok", "", "nothing speaks against it."))
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
        if line.total:
            continue
        if statistic == "mean":
            yield from _granular(line, measure, one)
        elif statistic == "std":
            yield from _spread(line, measure, one)
    yield from _quantiles(line)
    yield from _orders(line)
    yield from _one_gold(line, one_gold)


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
    """Means of values that are whole numbers of 1/parts: the GRIM test."""
    parts = 1 if measure.spec.name in WHOLE else measure.k if measure.spec.name == "Precision" and measure.k else 0
    n = line.size(measure)
    if not parts or not n or not 0 <= one.value <= 1:
        return
    total = n * parts
    nearest = round(one.value * total) / total
    if not one.number.agrees(nearest):
        cause = "not 0/1 over n" if parts == 1 else "not a share of k over n"
        more = f"with n {n} the nearest is {nearest:.{max(4, one.number.decimals)}f}"
        yield _impossible(one, cause, more, nearest)


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
        yield _impossible(one, "spread", f"at most {most:.4f} with mean {mean.value:g}", most)
    elif measure.spec.name in WHOLE:
        spreads = [math.sqrt(max(0.0, (m - low) * (high - m))) for m in around]
        least = min(spreads)
        if one.value < least - one.number.half - 1e-9:
            exact = math.sqrt(mean.value * (1 - mean.value) * (correction if n else 1.0))
            yield _impossible(one, "spread", f"values of 0 and 1 with mean {mean.value:g} spread by {exact:.4f}", exact)


def _quantiles(line: Line) -> Iterator[Figure]:
    """min <= 25% <= 50% <= 75% <= max, and the mean and its interval among them."""
    for measure in dict.fromkeys(m for m, _ in line.of):
        for chain in (("min", "25%", "50%", "75%", "max"), ("min", "mean", "max"), ("low", "mean", "high")):
            there = [(s, line.of[measure, s]) for s in chain if (measure, s) in line.of]
            for (first, small), (second, large) in combinations(there, 2):
                if small.value > large.value + small.number.half + large.number.half:
                    yield _impossible(large, "order", f"{first} {small.value:g} is above {second} {large.value:g}")


def _orders(line: Line) -> Iterator[Figure]:
    """Pairs of measures of which one can never be the larger, beyond what the guards look at."""
    means = [(m, one) for (m, s), one in line.of.items() if s == "mean" and not m.given]
    for small, one in means:
        for large, other in means:
            reason = _never_above(small, large)
            if reason and one.value > other.value + one.number.half + other.number.half:
                more = f"{one.name} {one.value:g} is above {other.name} {other.value:g}, and {reason}"
                yield _impossible(one, "order", more)


def _never_above(small: Measure, large: Measure) -> str:
    pair, same = (small.spec.name, large.spec.name), small.k == large.k and small.tokens == large.tokens
    if small is large or small.tokens is not None or large.tokens is not None:
        return ""
    if pair in (("MRR", "MRR"), ("MAP", "MAP")) and small.k is not None and (large.k is None or small.k < large.k):
        return "looking further down can only find more"
    if (
        pair in (("MRR", "Hit"), ("nDCG", "Hit"), ("Precision", "Hit"), ("F1", "Hit"), ("MAP", "Recall"))
        and same
        and small.k
    ):
        return "a question without a hit scores 0 in both"
    if pair == ("Hit", "MRR") and small.k == 1 and not same:
        return "a first hit that is gold gives 1"
    return "the two are the same at 1" if set(pair) == {"Hit", "MRR"} and same and small.k == 1 else ""


def _one_gold(line: Line, told: bool) -> Iterator[Figure]:
    """With one gold unit a question MAP is MRR, Recall is Hit, and Precision is Hit / k."""
    if not told:
        return
    cuts = dict.fromkeys(m.k for m, s in line.of if s == "mean")
    for k in cuts:
        pairs = [
            ("MAP", "MRR", 1.0, "MAP is not MRR"),
            ("Recall", "Hit", 1.0, "order"),
            ("Precision", "Hit", float(k or 0), "order"),
        ]
        for first, second, factor, cause in pairs:
            a, b = line.named(first, k), line.named(second, k)
            mine, theirs = line.number(a), line.number(b)
            if a is None or mine is None or theirs is None or not factor:
                continue
            if abs(mine.value * factor - theirs.value) > factor * mine.half + theirs.half:
                yield _impossible(line.of[a, "mean"], cause, f"{second} is {theirs.value:g}", theirs.value / factor)


def _guards(lines: Sequence[Line]) -> Iterator[Figure]:
    """The guards of karat's own tables, with the room that printed digits need."""
    from karat.diagnose.guards import check_table

    names = {f"{i}": line for i, line in enumerate(lines)}
    for key, line in names.items():
        means = {m.name: one for (m, s), one in line.of.items() if s == "mean" and m.spec.name not in WIDER}
        slack = 2 * max((one.number.half for one in means.values()), default=0.0)
        for note in check_table({key: {name: one.value for name, one in means.items()}}, slack=slack):
            text = note.text.removeprefix(f"{key}: ")
            named = [(text.index(name), -len(name), name) for name in means if name in text]
            if not named:
                continue
            one = means[min(named)[2]]
            if note.guard == "zero overlap":
                yield _figure(one, "suspect", "", text)
            else:
                yield _figure(one, "impossible", GUARDS.get(str(note.guard), "order"), text)
    fewest = min((len(line.labels) for line in lines), default=0)
    counted = {
        line.where: line.n
        for line in lines
        if line.n is not None and line.of and len(line.labels) == fewest and not line.total
    }
    if len(set(counted.values())) > 1:
        said = ", ".join(f"{where} {n}" for where, n in list(counted.items())[:6])
        yield Figure("", "n", "n", "suspect", cause="unequal n", why=because("unequal n", said))


def _alike(a: Measure, b: Measure, one_gold: bool) -> bool:
    """Whether two measures may well be the same: at the first hit, with one gold unit, or at two cuts."""
    names = {a.spec.name, b.spec.name}
    first = a.k == b.k == 1 and names <= {"Precision", "Hit", "MRR", "nDCG", "Recall"}
    return len(names) == 1 or first or (one_gold and names in ({"Recall", "Hit"}, {"MAP", "MRR"}))


def _identical(lines: Sequence[Line], one_gold: bool) -> Iterator[Figure]:
    """Two measures that are the same for every system, or two systems that are in every measure; slices aside."""
    fewest = min((len(line.labels) for line in lines), default=0)
    lines = [line for line in lines if len(line.labels) == fewest and not line.total]
    measures = list(dict.fromkeys(m for line in lines for m, s in line.of if s == "mean"))
    columns = {m: [line.of[m, "mean"].value for line in lines if (m, "mean") in line.of] for m in measures}
    for a, b in combinations(measures, 2):
        both = columns[a], columns[b]
        same = len(both[0]) == len(lines) and both[0] == both[1] and not _alike(a, b, one_gold)
        if same and len(lines) >= ROWS and len(set(both[0])) >= ROWS:
            what = {a.spec.name, b.spec.name}
            copied = "Recall is a hit rate" if what == {"Recall", "Hit"} else "one column was copied"
            hint = f"each question has one gold unit, or {copied}"
            cause = "hit rate" if what == {"Recall", "Hit"} else "identical columns"
            more = f"{a.name} and {b.name} are the same in all {len(lines)} rows; {hint}"
            yield Figure(
                "", b.name, "mean", "suspect", cause=cause, why=because("identical columns", more), cells=len(lines)
            )
    for first, second in combinations(lines, 2):
        shared = [m for m in measures if (m, "mean") in first.of and (m, "mean") in second.of]
        values = [first.of[m, "mean"].value for m in shared]
        if (
            len(shared) >= ROWS
            and values == [second.of[m, "mean"].value for m in shared]
            and not set(values) <= {0.0, 1.0}
        ):
            more = f"{first.where} and {second.where}, in {len(shared)} measures"
            yield Figure(
                second.where, "", "mean", "suspect", cause="identical rows", why=because("identical rows", more)
            )
