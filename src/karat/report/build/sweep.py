"""Sweep: a grid of configurations by cut-offs, the best with its interval and its equals, the best by kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from karat.core.text.words import NOT_DIFFERENT, plural
from karat.report.build._parts import ALPHA, inputs_of, notes_of
from karat.report.document import Block, Cell, Column, Detail, Document, Heading, Table, Text, Value, bullets

if TYPE_CHECKING:
    from karat.core.measure import Measure
    from karat.results.study import Choice, Configuration, SweepView

ROWS, SENTENCES = 12, 3  # configurations and sentences shown in brief


def document(view: SweepView) -> Document:
    """The best at the main cut-off, the whole grid, then the best at the others."""
    cuts = len(view.measures)
    size = plural(len(view.configurations), "configuration") + (f" x {cuts} cut-offs" if cuts > 1 else "")
    blocks: list[Block] = []
    for choice, measure in zip(view.choices, view.measures, strict=True):
        detail = Detail.QUIET if choice is view.choice else Detail.FULL
        blocks += [
            Heading(f"Best by {choice.measure}", detail=detail),
            bullets(choice.sentences, most=SENTENCES, detail=detail),
        ]
        blocks.append(best_by_kind(choice, measure, view.configurations, view.slice or "kind"))
    others = [choice.sentences[0] for choice in view.choices if choice is not view.choice]
    return Document(
        f"Sweep by {view.choice.measure}",
        [
            *blocks,
            _grid(view),
            Heading("At the other cut-offs", detail=Detail.FULL),
            bullets(others, detail=Detail.FULL),
            *notes_of(view.notes),
            inputs_of(view.taken),
            Text(size),
        ],
    )


def _grid(view: SweepView) -> Table:
    """Configurations by cut-offs, those with the best means at some cut-off first where they are many."""
    cells = [{cell.system: cell for cell in choice.cells} for choice in view.choices]
    equals = [{pair.a for pair in choice.equals} for choice in view.choices]
    names = [c.name for c in view.configurations]
    if len(names) > ROWS:
        place = dict.fromkeys(names, len(names))
        for choice in view.choices:
            for rank, cell in enumerate(choice.ranked):
                place[cell.system] = min(place[cell.system], rank)
        first = set(sorted(names, key=place.__getitem__)[:ROWS])
        names = [*(n for n in names if n in first), *(n for n in names if n not in first)]
    rows: list[list[Cell]] = []
    for name in names:
        row: list[Cell] = [name]
        for choice, measure, by_system, equal in zip(view.choices, view.measures, cells, equals, strict=True):
            best, cell = name == choice.best.system, by_system[name]
            mark = "*" if best else "=" if name in equal else ""
            row.append(Value(cell.mean, cell.low, cell.high, unit=measure.spec.unit, mark=mark, best=best))
        rows.append(row)
    lower = view.measures[0].spec.direction == "lower"
    legend = f"* the {'lowest' if lower else 'highest'} of its column" + (f", = {NOT_DIFFERENT}" if any(equals) else "")
    columns = [Column("configuration"), *(Column(m.name, "value") for m in view.measures)]
    return Table("Configurations", columns, rows, most=ROWS, footnotes=[f"{legend}."], detail=Detail.QUIET)


def best_by_kind(
    choice: Choice, measure: Measure | None, configurations: Sequence[Configuration], slice_name: str = "kind"
) -> Table:
    """The best configuration for each kind of question, its interval, and which others do not differ significantly."""
    alpha = {c.name: None if c.alpha is None else f"{c.alpha:g}" for c in configurations}
    unit = measure.spec.unit if measure is not None else ""
    rows: list[list[Cell]] = []
    for kind in choice.by_kind:
        best, equals = kind.best, ", ".join(kind.equals)
        mean = Value(best.mean, best.low, best.high, unit=unit)
        rows.append([kind.kind, kind.n, best.system, alpha.get(best.system), mean, len(kind.equals), equals])
    columns = [
        Column(slice_name), Column("n", "count", hint="questions"), Column("best"),
        ALPHA,
        Column(choice.measure, "value"),
        Column("not different", "count", hint="how many others do not differ significantly from it"),
        Column("which", detail=Detail.FULL),
    ]  # fmt: skip
    return Table(f"Best by {slice_name}", columns, rows, detail=Detail.FULL)
