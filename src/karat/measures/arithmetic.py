"""The arithmetic of a ranking measure for one question, written out with its numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import log2
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from karat.core.judged import Judged
    from karat.core.measure import Measure

    Sum = tuple[str, float]


@dataclass(frozen=True)
class _Seen:
    """What the formulas need of one question: the relevant slots of the top k and the ideal order."""

    k: int | None
    slots: list[tuple[int, int, int]]  # rank, gain, units newly credited
    relevant: int
    distinct: int
    ideal: list[int]

    @property
    def found(self) -> int:
        return sum(units for _, _, units in self.slots)


def arithmetic(measure: Measure, judged: Judged, pair: int, value: float) -> str | None:
    """How the value of a measure comes about, for example `2 / 5 = .4`; None for a measure without such a line.

    The line is worked out apart from the measure's own code, so it is shown only where both agree.
    """
    write = _WRITTEN.get(measure.spec.name)
    if write is None or measure.given or measure.tokens is not None or judged.repeats == "count":
        return None
    text, result = write(_seen(judged, pair, measure.k))
    if abs(result - value) > 1e-9:
        raise AssertionError(f"{measure.name} of {judged.questions[pair % len(judged.questions)]}: {result} != {value}")
    return f"{text} = {_shown(value)}"


def _seen(judged: Judged, pair: int, k: int | None) -> _Seen:
    hits = judged.hits
    mine = judged.within(hits.pair, hits.rank, k) & (hits.pair == pair)
    slots = list(zip(hits.rank[mine].tolist(), hits.gain[mine].tolist(), hits.units[mine].tolist(), strict=True))
    pairs, gain, _ = judged.ideal_by_pair(k)
    ideal = gain[pairs == pair].tolist()[: k or None]
    return _Seen(k, slots, int(judged.relevant[pair]), int(judged.distinct[pair]), ideal)


def _precision(seen: _Seen) -> Sum:
    if seen.k is None:
        return _fraction(seen.found, seen.distinct)
    return _fraction(len(seen.slots), seen.k)


def _recall(seen: _Seen) -> Sum:
    return _fraction(seen.found, seen.relevant)


def _f1(seen: _Seen) -> Sum:
    (_, p), (_, r) = _precision(seen), _recall(seen)
    if p + r == 0:
        return "0, since precision and recall are 0", 0.0
    return f"2 x {_shown(p)} x {_shown(r)} / ({_shown(p)} + {_shown(r)})", 2 * p * r / (p + r)


def _hit(seen: _Seen) -> Sum:
    return f"{len(seen.slots)} relevant in the top {seen.k or 'of all'}", float(bool(seen.slots))


def _mrr(seen: _Seen) -> Sum:
    return _fraction(1, seen.slots[0][0]) if seen.slots else ("nothing relevant", 0.0)


def _ndcg(seen: _Seen) -> Sum:
    reached = [(gain, rank) for rank, gain, _ in seen.slots]
    best = list(zip(seen.ideal, range(1, len(seen.ideal) + 1), strict=True))
    total, ideal = _discounted(reached), _discounted(best)
    if not total:
        return f"0 / ({_terms(best)})", 0.0
    return f"({_terms(reached)}) / ({_terms(best)}) = {_shown(total)} / {_shown(ideal)}", total / ideal


def _map(seen: _Seen) -> Sum:
    terms, total = [], 0.0
    for number, (rank, _, units) in enumerate(seen.slots, 1):
        terms.append(f"{number}/{rank}" + (f" x {units}" if units > 1 else ""))
        total += number / rank * units
    return f"({_joined(terms)}) / {seen.relevant}", total / seen.relevant


_WRITTEN: dict[str, Callable[[_Seen], Sum]] = {
    "Precision": _precision,
    "Recall": _recall,
    "F1": _f1,
    "Hit": _hit,
    "MRR": _mrr,
    "nDCG": _ndcg,
    "MAP": _map,
}


def _fraction(above: int, below: int) -> Sum:
    return f"{above} / {below}", above / below if below else 0.0


def _discounted(gains: list[tuple[int, int]]) -> float:
    return sum(gain / log2(rank + 1) for gain, rank in gains)


def _terms(gains: list[tuple[int, int]]) -> str:
    return _joined([f"{gain}/log2({rank + 1})" for gain, rank in gains])


def _joined(terms: list[str], most: int = 6) -> str:
    shown = terms if len(terms) <= most else [*terms[: most - 1], f"... {len(terms) - most + 1} more"]
    return " + ".join(shown) or "0"


def _shown(value: float) -> str:
    """
    >>> _shown(0.4), _shown(2 / 3), _shown(1.0), _shown(12.5)
    ('.4', '.6667', '1', '12.5')
    """
    text = f"{value:.4f}".rstrip("0").rstrip(".")
    return text.removeprefix("0") if text.startswith("0.") else text
