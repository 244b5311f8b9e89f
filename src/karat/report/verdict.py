"""Verdict: one line per system, computed from its summaries."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from karat.report._numbers import deviation, interval, short

if TYPE_CHECKING:
    from karat.core.measure import Measure
    from karat.results.evaluation import Summary

RETRIEVAL = ("Recall", "nDCG", "MRR", "Hit", "F1", "MAP", "Precision")
ANSWER = ("TokenF1", "ROUGE-L", "EM", "SemanticSimilarity")
DEPTH = {"nDCG": 10}  # the cut a headline stands at, 5 for all others
UNCUT = ("MRR", "MAP")  # known best without a cut
FEWEST = 5  # questions of a slice worth naming
APART = 0.02  # how far below the whole a slice must be, in shares of the range


def headlines(measures: Sequence[Measure], dialect: str = "karat") -> list[Measure]:
    """The measure that speaks for retrieval and the one that speaks for answers.

    A dialect of somebody else's names its main measure first.
    """
    found: list[Measure] = []
    for stage, order in (("retrieval", RETRIEVAL), ("answer", ANSWER)):
        staged = [m for m in measures if m.spec.stage == stage]
        if not staged:
            continue
        if dialect not in ("karat", "trec") and stage == "retrieval":
            found.append(staged[0])
            continue
        known = [m for m in staged if m.spec.name in order]
        fallback = [m for m in staged if m.spec.direction != "none"] or staged
        found.append(min(known, key=lambda m: _rank(m, order)) if known else fallback[0])
    return found


def _rank(measure: Measure, order: Sequence[str]) -> tuple[int, int, float, int]:
    depth = DEPTH.get(measure.spec.name, 5)
    cut = abs(measure.k - depth) if measure.k is not None else 1e9 if measure.tokens is not None else 1e6
    if measure.spec.name in UNCUT and measure.k is None and measure.tokens is None:
        cut = -1
    return order.index(measure.spec.name), len(measure.given), cut, measure.k or 0


def main_measures(measures: Sequence[Measure], dialect: str = "karat") -> list[Measure]:
    """The headlines, then one measure of each kind, the best known first."""
    order = (*RETRIEVAL, *ANSWER)
    chosen = dict.fromkeys(headlines(measures, dialect))
    named = {m.spec.name for m in chosen}
    kinds: dict[str, list[Measure]] = {}
    for measure in measures:
        kinds.setdefault(measure.spec.name, []).append(measure)
    for name in sorted(kinds, key=lambda n: order.index(n) if n in order else len(order)):
        if name not in named:
            chosen[min(kinds[name], key=lambda m: _rank(m, (m.spec.name,)))] = None
    return list(chosen)


def verdicts(summaries: Iterable[Summary], measures: Sequence[Measure], *, dialect: str = "karat") -> dict[str, str]:
    """One line per system, in order of appearance."""
    by_system: dict[str, list[Summary]] = {}
    for summary in summaries:
        by_system.setdefault(summary.system, []).append(summary)
    heads = headlines(measures, dialect)
    return {system: verdict(system, found, heads) for system, found in by_system.items()}


def verdict(system: str, summaries: Sequence[Summary], heads: Sequence[Measure]) -> str:
    """What the headline measures of a system say, and where it does worst."""
    parts: list[str] = []
    weakest: str | None = None
    for head in heads:
        whole = next((s for s in summaries if s.measure == head.name and s.slice is None), None)
        if whole is not None and (whole.mean is not None or whole.n_failed or len(heads) == 1):
            parts.append(_said(head, whole, brief=bool(parts)))
            weakest = weakest or _weakest(head, whole, summaries)
    if weakest:
        parts.append(weakest)
    return f"{system}: " + ("; ".join(parts) if parts else "no measure was computed") + "."


def leader(head: Measure, row: Sequence[Summary], best: frozenset[str], near: frozenset[str]) -> str | None:
    """Which system leads in a measure, and whose intervals overlap with its own."""
    first = next((s for s in row if s.system in best), None)
    if first is None:
        return None
    names = [s.system for s in row if s.system in best]
    close = [s.system for s in row if s.system in near]
    how = "highest" if head.spec.direction == "higher" else "lowest"
    said = f"{how} {head.name}: {', '.join(names)}, {deviation(head, first.mean)} "
    said += interval(head, first.low, first.high) + (f" ({first.note})" if first.note else "")
    if len(names) == len(row):
        return said + "; all systems tie."
    return (
        f"{said}; its interval overlaps that of {', '.join(close)}."
        if close
        else f"{said}; no other interval overlaps."
    )


def _said(head: Measure, whole: Summary, *, brief: bool) -> str:
    if whole.mean is None:
        return f"{head.name} has no value ({whole.n_undefined} undefined, {whole.n_failed} failed)"
    said = " ".join(filter(None, [head.name, deviation(head, whole.mean), interval(head, whole.low, whole.high)]))
    if whole.band:
        said += f", {whole.band}"
    if whole.note:
        said += f" ({whole.note})"
    words = (_in_ten(head, whole.mean) or whole.meaning) if whole.lists_end is None else None
    if words and not brief:
        said += f": {words}"
    if whole.n_failed and (whole.worst is not None or whole.best is not None):
        reach = [short(end) if end is not None else "unbounded" for end in (whole.worst, whole.best)]
        said += f" ({reach[0]} to {reach[1]} as {whole.n_failed} failed)"
    return said


def _in_ten(head: Measure, mean: float) -> str | None:
    """Recall and Hit as so many in ten."""
    what = {"Recall": "of the relevant units", "Hit": "of the questions"}.get(head.spec.name)
    if what is None or not 0 <= mean <= 1:
        return None
    tenths = round(10 * mean)
    many = "none" if mean == 0 else "all" if mean == 1 else "hardly any" if tenths == 0 else "nearly all"
    amount = f"about {tenths} in 10" if 0 < tenths < 10 else many
    where = f" in the top {head.k}" if head.k else f" in the first {head.tokens} tokens" if head.tokens else ""
    if head.spec.name == "Recall":
        return f"finds {amount} {what}{where}"
    return f"{amount} {what} have a relevant hit{where}"


def _weakest(head: Measure, whole: Summary, summaries: Sequence[Summary]) -> str | None:
    """The slice that does worst, if one does worse than the whole."""
    if whole.mean is None or head.spec.direction == "none":
        return None
    sign = 1 if head.spec.direction == "higher" else -1
    parts = [
        (s, s.mean)
        for s in summaries
        if s.measure == head.name and s.slice is not None and s.mean is not None and s.n >= FEWEST
    ]
    if not parts:
        return None
    worst, mean = min(parts, key=lambda part: sign * part[1])
    least, most = head.bounds
    span = most - least if most - least < float("inf") else abs(whole.mean) or 1.0
    if sign * (whole.mean - mean) < APART * span:
        return None
    figures = f"{head.name} {deviation(head, mean)} {interval(head, worst.low, worst.high)}".strip()
    return f"weakest on {worst.slice}={worst.value} ({figures}, n={worst.n})"
