"""Figures: the console's tables of scores, for one system and for several."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from karat.report import _grid
from karat.report._escape import clean
from karat.report._grid import Cell, Row, listing, named, plain_table, texts, title
from karat.report._numbers import NONE, deviation, figure, interval
from karat.report._view import Marks, View

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

    from karat.core.measure import Measure
    from karat.results.evaluation import Summary

SLICED = 4  # measures in the table of a slice, unless all are asked for


def one(view: View, width: int) -> Table:
    """One system: a row per measure with its spread, interval and, where it has one, its band."""
    system = view.systems[0]
    found = [(m, family, view.summary(system, m)) for family in view.families for m in family]
    failed = any(s is not None and s.n_failed for _, _, s in found)
    quartiles = width >= 100
    titles = [named(system), "mean", "±std", "95% interval", *(("25%", "50%", "75%") if quartiles else ())]
    titles += ["worst to best"] if failed else []
    right = range(1, len(titles))
    remarks = [name for name in ("band", "note") if any(getattr(s, name, None) for _, _, s in found)]
    titles.append(", ".join(remarks))
    table = plain_table(*titles, right=right)
    for measure, family, s in found:
        if s is None:
            continue
        shown = [figure(measure, s.mean), deviation(measure, s.std), interval(measure, s.low, s.high) or NONE]
        if quartiles:
            shown += [deviation(measure, q) for q in (s.q25, s.q50, s.q75)]
        if failed:
            shown.append(f"{deviation(measure, s.worst)} to {deviation(measure, s.best)}" if s.n_failed else NONE)
        band = f"{s.band}: {s.meaning}" if s.band and width >= 120 else s.band
        ends = len(family) > 1 and measure is family[-1]
        table.add_row(*texts([clean(measure.name), *shown, "; ".join(filter(None, (band, s.note)))]), end_section=ends)
    return table


def _cell(measure: Measure, s: Summary | None, marks: Marks, *, std: bool = True) -> Cell:
    if s is None or s.mean is None:
        return Cell(NONE + " ")
    best = s.system in marks.best
    mark = "*" if best else "~" if s.system in marks.near else " "
    main = f"{figure(measure, s.mean)}{mark}"
    if std:
        main += f" ±{deviation(measure, s.std)}"
    return Cell(main, interval(measure, s.low, s.high), best, s.note or "")


def several(view: View, width: int) -> Iterator[Table]:
    """Several systems: a column each while they fit, else a block per family with a row each."""
    names = [named(s) for s in view.systems]
    rows = []
    for family in view.families:
        for measure in family:
            marks = view.marks(measure)
            cells = [_cell(measure, view.summary(s, measure), marks) for s in view.systems]
            rows.append(Row(clean(measure.name), cells, ends=len(family) > 1 and measure is family[-1]))
    if _grid.fits("", names, rows, width, stacked=True):
        yield from _grid.grids("", names, rows, width)
        return
    blocks, singles = [], []
    for family in view.families:
        cut = [m for m in family if m.k is not None or m.tokens is not None]
        if len(cut) > 1:
            blocks.append(cut)
            singles += [m for m in family if m not in cut]
        else:
            singles += family
    for block in blocks:
        yield from _block(view, block[0].name.rpartition("@")[0], block, width)
    if singles:
        yield from _block(view, "", singles, width)


def _block(view: View, corner: str, measures: list[Measure], width: int) -> Iterator[Table]:
    """A row per system; under a family's name its cuts stand alone."""
    titles = [clean("@" + m.name.rpartition("@")[2] if corner else m.name) for m in measures]
    marked = [(m, view.marks(m)) for m in measures]
    rows = [Row(named(s), [_cell(m, view.summary(s, m), marks) for m, marks in marked]) for s in view.systems]
    for table in _grid.grids(clean(corner), titles, rows, width):
        yield table
        yield _gap()


def _either(corner: str, systems: list[str], rows: list[Row], width: int) -> Iterator[Table]:
    """Systems as columns while they fit, else as rows."""
    if not _grid.fits(corner, systems, rows, width, stacked=True):
        turned = [Row(name, [row.cells[i] for row in rows]) for i, name in enumerate(systems)]
        systems, rows = [row.label for row in rows], turned
    yield from _grid.grids(corner, systems, rows, width)


def _gap() -> Table:
    """An empty line between tables."""
    from rich.table import Table

    table = Table.grid()
    table.add_row("")
    return table


def legend(view: View) -> list[tuple[str, str]]:
    """What the figures and marks of several systems mean."""
    rows = [("", "mean ±standard deviation [95% interval of the mean]")]
    every = [view.marks(m) for m in view.measures]
    if any(m.best for m in every):
        rows.append(("*", "best mean of its measure (also in bold; all that tie)"))
    if any(m.near for m in every):
        rows.append(("~", "its interval overlaps that of the best: these questions alone do not set them apart"))
    return rows


def bands(view: View, width: int) -> Iterator[RenderableType]:
    """The band of each measure that has one, and what the bands mean."""
    found = [(m, view.row(m)) for m in view.measures]
    banded = [(m, row) for m, row in found if any(s.band for s in row)]
    if not banded:
        return
    yield title("Bands")
    meanings = {(m.spec.name, s.band): s.meaning for m, row in banded for s in row if s.band and s.meaning}
    rows = []
    for measure, row in banded:
        by_system = {s.system: s.band or NONE for s in row}
        rows.append(Row(clean(measure.name), [Cell(by_system.get(s, NONE)) for s in view.systems]))
    yield from _either("", [named(s) for s in view.systems], rows, width)
    yield listing(*((f"{name} {band}", str(meaning)) for (name, band), meaning in meanings.items()))


def by_slice(view: View, name: str, width: int, full: bool) -> Iterator[RenderableType]:
    """A slice: for one system its measures as columns, for several a table per measure."""
    values = view.slices[name]
    measures = list(view.measures) if full else view.key_measures[:SLICED]
    left = len(view.measures) - len(measures)
    yield title(f"By {clean(name)}" + (f" (main measures; {left} more in the files and in --json)" if left else ""))
    if len(view.systems) == 1:
        system = view.systems[0]
        rows = []
        for value in values:
            found = [view.summary(system, m, name, value) for m in measures]
            cells = [_cell(m, s, Marks(), std=False) for m, s in zip(measures, found, strict=True)]
            rows.append(Row(_sized(value, [s.n for s in found if s is not None]), cells))
        yield from _grid.grids("", [clean(m.name) for m in measures], rows, width)
        return
    for measure in measures:
        rows = []
        for value in values:
            marks = view.marks(measure, name, value)
            row = [view.summary(s, measure, name, value) for s in view.systems]
            cells = [_cell(measure, s, marks, std=False) for s in row]
            rows.append(Row(_sized(value, [s.n for s in row if s is not None]), cells))
        yield from _either(clean(measure.name), [named(s) for s in view.systems], rows, width)
        yield _gap()


def _sized(value: str, sizes: list[int]) -> str:
    """A slice value with its number of questions, a range where it differs."""
    if not sizes:
        return named(value)
    few, many = min(sizes), max(sizes)
    return f"{named(value)} (n {few:,})" if few == many else f"{named(value)} (n {few:,}-{many:,})"
