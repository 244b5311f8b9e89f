"""What several documents have in common: what was read, and what the reader must know."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from karat.report.document import Block, Cell, Column, Detail, Heading, Listing, ListItem, Notice, Value

if TYPE_CHECKING:
    from karat.core.measure import Measure
    from karat.report.lookups import EvaluationView
    from karat.results.evaluation import InputInfo, Note

NOTES = 6  # in brief, beside all warnings
ALPHA = Column("alpha", "score", optional=True, hint="weight of the dense engine: 1 is dense alone, 0 is words alone")


def input_items(inputs: Iterable[InputInfo]) -> list[ListItem]:
    """What each input was read as, and what its reader decided or noticed."""
    return [ListItem(taken.place, taken.read_as, taken.notes) for taken in inputs]


def inputs_of(inputs: Iterable[InputInfo], detail: Detail = Detail.BRIEF) -> Listing:
    return Listing(input_items(inputs), detail=detail)


def notes_of(notes: Sequence[Note], anchor: str = "") -> Iterator[Block]:
    """All notes, warnings first; these are shown at any detail, and few of the others in brief."""
    warnings = [note for note in notes if note.level == "warning"]
    others = [note for note in notes if note.level != "warning"]
    if warnings or others:
        yield Heading("Notes", anchor=anchor, detail=Detail.QUIET if warnings else Detail.BRIEF)
    yield from (Notice(note.text, note.level, note.guard or "", detail=Detail.QUIET) for note in warnings)
    for place, note in enumerate(others):
        detail = Detail.BRIEF if place < NOTES else Detail.FULL
        yield Notice(note.text, note.level, note.guard or "", detail=detail)


def value_of(
    view: EvaluationView,
    system: str,
    measure: Measure,
    slice_name: str | None = None,
    value: str | None = None,
    *,
    std: bool = False,
) -> Cell:
    """The mean of a system with its interval and mark; nothing where there is none.

    All systems have the same decimals: those that the widest of their intervals is worth.
    """
    summary = view.summary(system, measure, slice_name, value)
    if summary is None or summary.mean is None:
        return None
    best = view.best_systems(measure, slice_name, value)
    return Value(
        summary.mean, summary.low, summary.high, std=summary.std if std else None, unit=measure.spec.unit,
        best=system in best.best, mark=best.sign(system), note=summary.note or "",
        digits=view.digits(measure, slice_name), share=share_of(measure, summary.mean),
    )  # fmt: skip


def share_of(measure: Measure, mean: float) -> float | None:
    """Where a mean lies between the ends of its measure's range; None where that has no ends."""
    low, high = measure.bounds
    return min(max((mean - low) / (high - low), 0.0), 1.0) if 0 < high - low < float("inf") else None
