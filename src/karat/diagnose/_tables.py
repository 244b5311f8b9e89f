"""Guards that read means and values alone: what no set of questions can produce."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from karat.core.evaluation import Note
from karat.core.scores import Status
from karat.diagnose._words import few, plural, warn

if TYPE_CHECKING:
    from karat.core.measure import Measure
    from karat.core.scores import Scores

    Table = dict[str, dict[Measure, float]]  # system -> measure -> mean
    ByName = Mapping[str, Measure]
    Counted = Mapping[tuple[str, str], int]  # (system, measure name) -> n

SLACK = 1e-9
COUNTS_REPEATS = {"healthcare", "liverag"}


def values_in_range(scores: Scores, dialect: str = "karat", repeats: str = "once") -> tuple[Note, ...]:
    """Every value of every question within its measure's declared range."""
    ok = scores.status == Status.ok
    notes = []
    for m, measure in enumerate(scores.measures):
        least, most = measure.bounds
        values = scores.values[:, :, m]
        with np.errstate(invalid="ignore"):
            inside = (values >= least - SLACK) & (values <= most + SLACK)
        for system, question in _firsts(ok[:, :, m] & ~(inside & np.isfinite(values))):
            bad = ok[system, :, m] & ~(inside[system] & np.isfinite(values[system]))
            value = values[system, question]
            said = (
                f"{scores.systems[system]}: {measure.name} leaves its range {_range(measure)} on "
                f"{plural(int(bad.sum()), 'question')} (first: {scores.questions[question]} with "
                f"{_figure(float(value))}){_why(float(value), most, dialect, repeats)}."
            )
            notes.append(warn("value out of range", said))
    return tuple(notes)


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


def f1_under_its_parts(table: Table, counted: Counted | None = None, *, slack: float = SLACK) -> tuple[Note, ...]:
    """Mean F1 at most the average of mean precision and mean recall: true question by question, so of means too."""
    notes = []
    for system, row in table.items():
        for measure, f1 in row.items():
            if measure.spec.name != "F1":
                continue
            precision, recall = (_sibling(row, measure, name) for name in ("Precision", "Recall"))
            if precision is None or recall is None or not _same_n(counted, system, measure, precision, recall):
                continue
            half = (row[precision] + row[recall]) / 2
            if f1 > half + slack:
                said = (
                    f"{system}: mean {measure.name} {f1:.4f} is above the average of mean {precision.name} and mean "
                    f"{recall.name}, {half:.4f}, which no set of questions can produce."
                )
                notes.append(warn("F1 above its parts", said))
    return tuple(notes)


def grows_with_k(table: Table, counted: Counted | None = None, *, slack: float = SLACK) -> tuple[Note, ...]:
    """Hit and Recall never fall as the cut moves down; without a cut they are highest."""
    notes = []
    for system, row in table.items():
        chains: dict[tuple[str, tuple[tuple[str, Any], ...], bool], list[Measure]] = {}
        for measure in row:
            if measure.spec.name in ("Hit", "Recall"):
                for by_tokens in (False, True):
                    if (measure.k if by_tokens else measure.tokens) is None:
                        chains.setdefault((measure.spec.name, measure.given, by_tokens), []).append(measure)
        for (_, _, by_tokens), chain in chains.items():
            chain.sort(key=lambda m: (m.tokens if by_tokens else m.k) or np.inf)
            for shallow, deep in pairwise(chain):
                if row[deep] < row[shallow] - slack and _same_n(counted, system, shallow, deep):
                    said = (
                        f"{system}: {deep.name} {row[deep]:.4f} is below {shallow.name} {row[shallow]:.4f}; "
                        "looking further down can only find more."
                    )
                    notes.append(warn(f"{deep.spec.name} falls with k", said))
    return tuple(notes)


def recall_under_hit(table: Table, counted: Counted | None = None, *, slack: float = SLACK) -> tuple[Note, ...]:
    """Recall at most Hit at the same cut: a question that misses scores 0 in both."""
    notes = []
    for system, row in table.items():
        for measure, recall in row.items():
            hit = _sibling(row, measure, "Hit") if measure.spec.name == "Recall" else None
            if hit is not None and recall > row[hit] + slack and _same_n(counted, system, measure, hit):
                said = f"{system}: {measure.name} {recall:.4f} is above {hit.name} {row[hit]:.4f}, which cannot be."
                notes.append(warn("Recall above Hit", said))
    return tuple(notes)


def all_zero(table: Table) -> tuple[Note, ...]:
    """A row in which every retrieval measure is 0: nearly always ids that never met."""
    notes = []
    for system, row in table.items():
        found = [m for m in row if m.spec.stage == "retrieval" and m.spec.direction == "higher" and not m.spec.unit]
        if len(found) > 1 and all(row[m] == 0 for m in found):
            said = f"{system}: {few([m.name for m in found])} are all 0; check that gold and results name the same ids."
            notes.append(warn("zero overlap", said))
    return tuple(notes)


def _sibling(row: Mapping[Measure, float], measure: Measure, name: str) -> Measure | None:
    """The measure of that name at the same cut, with the same parameters."""
    for other in row:
        if (other.spec.name, other.k, other.tokens, other.given) == (name, measure.k, measure.tokens, measure.given):
            return other
    return None


def _same_n(counted: Counted | None, system: str, *measures: Measure) -> bool:
    """Whether means can be set against each other: over the same number of questions, as far as is known."""
    return counted is None or len({counted.get((system, m.name)) for m in measures}) == 1
