"""Order: figures of which one can never be the larger: by k, by measure, by quantile, or with one gold a question."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from itertools import combinations

from karat.core.measure import Measure
from karat.core.text.words import names
from karat.diagnose.contradictions import contradictions
from karat.diagnose.verify.lines import WIDER, Line, SummaryTable
from karat.diagnose.verify.names import CUTS, Labels, spelled
from karat.diagnose.verify.numbers import cut_of
from karat.diagnose.verify.printed import PrintedFigure
from karat.results.verification import Figure

CHAINS = (("min", "25%", "50%", "75%", "max"), ("min", "mean", "max"), ("low", "mean", "high"))
Means = Mapping[Measure, PrintedFigure]


def check(table: SummaryTable) -> Iterator[Figure]:
    """What the figures of one line say of each other."""
    for line in table.lines:
        means = line.means
        yield from _quantiles(line)
        yield from _contradictions(means, lambda m, means=means: means[m].name)  # type: ignore[misc]
        if table.one_gold:
            yield from _one_gold(means)
        if line.of_a_system:
            yield from _all_zero(means)


def check_cuts(table: SummaryTable) -> Iterator[Figure]:
    """Rows that differ in nothing but k: what can only grow with it."""
    families: dict[Labels, list[tuple[int, Line]]] = defaultdict(list)
    for line in table.lines:
        cut = next((cut_of(value) for name, value in line.labels if spelled(name) in CUTS), None)
        if cut is not None:
            families[tuple(label for label in line.labels if spelled(label[0]) not in CUTS)].append((cut, line))
    for members in families.values():
        at_cut = {
            Measure(measure.spec, cut, tokens=None, given=measure.given): (one, line.size(measure))
            for cut, line in members
            for measure, one in line.means.items()
            if measure.tokens is None and measure.k in (None, cut)
        }
        means = {measure: one for measure, (one, _) in at_cut.items()}

        def same_n(*measures: Measure, sizes: Mapping[Measure, tuple[PrintedFigure, int | None]] = at_cut) -> bool:
            return len({sizes[measure][1] for measure in measures}) == 1

        def at_k(measure: Measure, means: Means = means) -> str:
            return f"{means[measure].name} at k {measure.k}"

        yield from _contradictions(means, at_k, "falls with k", same_n)


def _contradictions(
    means: Means, name: Callable[[Measure], str], guard: str = "", same_n: Callable[..., bool] = lambda *measures: True
) -> Iterator[Figure]:
    values = {m: one.value for m, one in means.items() if m.spec.name not in WIDER}
    for one in contradictions(values, lambda m: means[m].number.half, name, same_n):
        if one.guard.endswith(guard):
            yield means[one.measure].figure("impossible", one.text.removesuffix("."), cause="order")


def _all_zero(means: Means) -> Iterator[Figure]:
    """A row in which every measure of retrieval is 0: nearly always ids that never met."""
    higher = [m for m in means if m.spec.stage == "retrieval" and m.spec.direction == "higher" and not m.spec.unit]
    if len(higher) > 1 and all(means[m].value == 0 for m in higher):
        text = f"{names([m.name for m in higher])} are all 0; check that gold and results name the same ids."
        yield next(iter(means.values())).figure("suspect", text)


def _quantiles(line: Line) -> Iterator[Figure]:
    """min <= 25% <= 50% <= 75% <= max, and the mean and its interval among them."""
    for measure in dict.fromkeys(m for m, _ in line.statistics):
        for chain in CHAINS:
            there = [(s, line.statistics[measure, s]) for s in chain if (measure, s) in line.statistics]
            for (first, small), (second, large) in combinations(there, 2):
                if small.value > large.value + small.number.half + large.number.half:
                    detail = f"{first} {small.value:g} is above {second} {large.value:g}"
                    yield large.figure("impossible", detail, cause="order")


def _one_gold(means: Means) -> Iterator[Figure]:
    """With one gold unit a question MAP is MRR, Recall is Hit, and Precision is Hit / k."""
    named = {(m.spec.name, m.k): one for m, one in reversed(list(means.items())) if not m.given}
    for k in dict.fromkeys(m.k for m in means):
        for first, second, factor, cause in (
            ("MAP", "MRR", 1, "MAP is not MRR"), ("Recall", "Hit", 1, "order"),
            ("Precision", "Hit", k, "order"), ("Precision", "Recall", k, "order"),
        ):  # fmt: skip
            one, other = named.get((first, k)), named.get((second, k))
            if one is None or other is None or not factor:
                continue
            if abs(one.value * factor - other.value) > factor * one.number.half + other.number.half:
                detail = f"{second} is {other.value:g}"
                yield one.figure("impossible", detail, cause=cause, recomputed=other.value / factor)
