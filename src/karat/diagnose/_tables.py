"""Guards that read means and values alone: what no set of questions can produce."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from karat.core.scores import Status
from karat.core.text.words import names, plural
from karat.results.evaluation import Note

if TYPE_CHECKING:
    from karat.core.measure import Measure
    from karat.core.scores import Scores

    Table = dict[str, dict[Measure, float]]  # system -> measure -> mean
    ByName = Mapping[str, Measure]
    Counted = Mapping[tuple[str, str], int]  # (system, measure name) -> n

SLACK = 1e-9
UNKNOWN_K = 10**9 + 7  # stands for the k of a table that does not say it: comparable with itself alone
COUNTS_REPEATS = {"healthcare", "liverag"}


def warn(guard: str, text: str) -> Note:
    """A note of a guard that fired."""
    return Note("warning", text, guard)


def values_in_range(scores: Scores, dialect: str = "karat", repeats: str = "once") -> Iterator[Note]:
    """Every value of every question within its measure's declared range."""
    ok = scores.status == Status.ok
    for m, measure in enumerate(scores.measures):
        least, most = measure.bounds
        values = scores.values[:, :, m]
        with np.errstate(invalid="ignore"):
            inside = (values >= least - SLACK) & (values <= most + SLACK)
        for system, question in _firsts(ok[:, :, m] & ~(inside & np.isfinite(values))):
            bad = ok[system, :, m] & ~(inside[system] & np.isfinite(values[system]))
            value = values[system, question]
            text = (
                f"{scores.systems[system]}: {measure.name} leaves its range {_range(measure)} on "
                f"{plural(int(bad.sum()), 'question')} (first: {scores.questions[question]} with "
                f"{_figure(float(value))}){_why(float(value), most, dialect, repeats)}."
            )
            yield warn("value out of range", text)


def means_in_range(table: Table, *, slack: float = SLACK) -> tuple[Note, ...]:
    """Every mean of a table within its measure's declared range."""
    return tuple(
        warn("value out of range", f"{system}: {measure.name} is {_figure(mean)}, outside its range {_range(measure)}.")
        for system, row in table.items()
        for measure, mean in row.items()
        if not measure.bounds[0] - slack <= mean <= measure.bounds[1] + slack
    )


def _firsts(bad: np.ndarray[Any, np.dtype[np.bool_]]) -> Iterator[tuple[int, int]]:
    """The first bad question of each system that has one."""
    for system in np.flatnonzero(bad.any(axis=1)):
        yield int(system), int(np.argmax(bad[system]))


def _why(value: float, most: float, dialect: str, repeats: str) -> str:
    if not value > most:
        return ""
    if repeats == "count":
        return ": with repeats=count a unit retrieved twice is credited twice, so the score passes what is possible"
    if dialect in COUNTS_REPEATS:
        return f": the dialect {dialect} credits a unit each time it is retrieved, so the score passes what is possible"
    return ""


def _figure(value: float) -> str:
    return f"{value:.4f}" if np.isfinite(value) else "no finite number"


def _range(measure: Measure) -> str:
    return "[" + ", ".join(f"{end:g}" for end in measure.bounds) + "]"


@dataclass(frozen=True)
class Contradiction:
    """A mean that no set of questions can give beside another one."""

    guard: str
    measure: Measure
    text: str


def contradictions(
    row: Mapping[Measure, float],
    half: Callable[[Measure], float] = lambda measure: SLACK,
    name: Callable[[Measure], str] = str,
    same_n: Callable[..., bool] = lambda *measures: True,
) -> Iterator[Contradiction]:
    """Means of one system that contradict others, each once; `half` is how far rounding may have moved each of them.

    `name` spells a measure, `same_n` tells whether means are over the same number of questions, as far as is known.
    """
    accused: set[Measure] = set()
    for measure, f1 in row.items():
        parts = parts_of_f1(row, measure) if measure.spec.name == "F1" else None
        if parts is None or not same_n(measure, *parts):
            continue
        if f1 > harmonic(*(row[part] + half(part) for part in parts)) + half(measure):
            precision, recall = parts
            text = (
                f"mean {name(measure)} {f1:.4f} is above 2PR/(P+R) of mean {name(precision)} and mean {name(recall)}, "
                f"{harmonic(row[precision], row[recall]):.4f}, which no set of questions can produce."
            )
            accused.add(measure)
            yield Contradiction("F1 above its parts", measure, text)
    for small, large, reason in (*_grows_with_k(row), *_pairs(row)):
        if row[small] > row[large] + half(small) + half(large) and same_n(small, large):
            falls = small.spec.name == large.spec.name
            first, second, how = (large, small, "below") if falls else (small, large, "above")
            guard = f"{large.spec.name} falls with k" if falls else f"{small.spec.name} above {large.spec.name}"
            if first not in accused:
                accused.add(first)
                text = f"{name(first)} {row[first]:.4f} is {how} {name(second)} {row[second]:.4f}; {reason}."
                yield Contradiction(guard, first, text)


def harmonic(precision: float, recall: float) -> float:
    """2PR/(P+R), 0 when both are 0. It is concave: of means it is at least the mean of it."""
    return 2 * precision * recall / (precision + recall) if precision + recall > 0 else 0.0


def _grows_with_k(row: Iterable[Measure]) -> Iterator[tuple[Measure, Measure, str]]:
    """Hit, Recall and MRR never fall as the cut moves down; without a cut they are highest."""
    chains: dict[tuple[str, tuple[tuple[str, Any], ...], bool], list[Measure]] = {}
    for measure in row:
        if measure.spec.name in ("Hit", "Recall", "MRR"):
            for by_tokens in (False, True):
                if (measure.k if by_tokens else measure.tokens) is None:
                    chains.setdefault((measure.spec.name, measure.given, by_tokens), []).append(measure)
    for (_, _, by_tokens), chain in chains.items():
        chain.sort(key=lambda m: (m.tokens if by_tokens else m.k) or np.inf)
        for shallow, deep in pairwise(m for m in chain if m.k != UNKNOWN_K):
            yield shallow, deep, "looking further down can only find more"


def _pairs(row: Mapping[Measure, float]) -> Iterator[tuple[Measure, Measure, str]]:
    """Measures at one cut of which one can never be the larger, the smaller first."""
    for measure in row:
        if measure.spec.name == "Hit" and not measure.given:
            for name in ("Recall", "MRR", "nDCG", "Precision", "F1"):
                small = _sibling(row, measure, name)
                if small is not None:
                    yield small, measure, "a question without a hit scores 0 in both"
            if measure.k == 1:
                for reciprocal in row:
                    if reciprocal.spec.name == "MRR" and reciprocal.k != UNKNOWN_K and not reciprocal.given:
                        yield measure, reciprocal, "a first hit that is gold gives 1"


def parts_of_f1(row: Iterable[Measure], measure: Measure) -> tuple[Measure, Measure] | None:
    """Precision and Recall at the cut of an F1; of one without a cut, at the only cut there is.

    Beside measures of answers, a bare F1 may be theirs.
    """
    measures = list(row)
    precision, recall = (_sibling(measures, measure, name) for name in ("Precision", "Recall"))
    if measure.name == "F1" and (precision is None or recall is None):
        cuts = {(m.k, m.tokens) for m in measures if m.spec.name in ("Precision", "Recall", "F1") and m.name != "F1"}
        if len(cuts) != 1 or any(m.spec.stage != "retrieval" for m in measures):
            return None
        precision, recall = (
            next((m for m in measures if m.spec.name == name and not m.given), None) for name in ("Precision", "Recall")
        )
    return None if precision is None or recall is None else (precision, recall)


def contradicting(table: Table, counted: Counted | None = None, *, slack: float = SLACK) -> tuple[Note, ...]:
    """The contradictions of every system of a table; `slack` is how far rounding may have moved each mean."""
    return tuple(
        warn(one.guard, f"{system}: {one.text}")
        for system, row in table.items()
        for one in contradictions(row, lambda measure: slack, same_n=partial(_same_n, counted, system))
    )


def all_zero(table: Table) -> Iterator[Note]:
    """A row in which every retrieval measure is 0: nearly always ids that never met."""
    for system, row in table.items():
        measures = [m for m in row if m.spec.stage == "retrieval" and m.spec.direction == "higher" and not m.spec.unit]
        if len(measures) > 1 and all(row[m] == 0 for m in measures):
            zeros = names([m.name for m in measures])
            text = f"{system}: {zeros} are all 0; check that gold and results name the same ids."
            yield warn("zero overlap", text)


def _sibling(row: Iterable[Measure], measure: Measure, name: str) -> Measure | None:
    """The measure of that name at the same cut, with the same parameters."""
    for other in row:
        if (other.spec.name, other.k, other.tokens, other.given) == (name, measure.k, measure.tokens, measure.given):
            return other
    return None


def _same_n(counted: Counted | None, system: str, *measures: Measure) -> bool:
    """Whether means can be set against each other: over the same number of questions, as far as is known."""
    return counted is None or len({counted.get((system, m.name)) for m in measures}) == 1
