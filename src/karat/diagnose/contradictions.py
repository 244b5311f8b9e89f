"""Contradictions: means that no set of questions can give beside each other, however they were come by."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from karat.core.measure import Measure

SLACK = 1e-9
UNKNOWN_K = 10**9 + 7  # stands for the k of a table that does not say it: comparable with itself alone


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
        chain.sort(key=lambda m: (m.tokens if by_tokens else m.k) or float("inf"))
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


def _sibling(row: Iterable[Measure], measure: Measure, name: str) -> Measure | None:
    """The measure of that name at the same cut, with the same parameters."""
    for other in row:
        if (other.spec.name, other.k, other.tokens, other.given) == (name, measure.k, measure.tokens, measure.given):
            return other
    return None
