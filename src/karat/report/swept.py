"""Swept: a grid of configurations by cut-offs, the best with its interval and its equals, the best by kind."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, TextIO

from karat.report._escape import clean
from karat.report._grid import Cell, Row, grids, listing, plain_table, texts, title
from karat.report._inputs import input_lines
from karat.report._numbers import figure, interval
from karat.report._screen import as_text, put
from karat.report.json import finite

if TYPE_CHECKING:
    from rich.console import RenderableType

    from karat.core import study
    from karat.core.evaluation import Note, Taken
    from karat.core.measure import Measure

_BEST, _EQUAL = "*", "="
_ROWS = 40  # configurations shown without `verbose`
_NAMES = 60
_COLUMNS = ("chunk", "embedder", "engine", "fusion", "alpha", "normalise", "rrf_k", "depth")


@dataclass(frozen=True)
class View:
    """What is shown of a sweep: the choice over its cells (main measure x cut-off), and what they are cells of."""

    choice: study.Choice
    configurations: Sequence[study.Configuration]
    measures: Sequence[Measure]  # the main one at each cut-off
    taken: Sequence[Taken] = ()
    notes: Sequence[Note] = ()
    slice: str | None = None  # by which the best of each kind was chosen


def show(view: View, stream: TextIO, *, quiet: bool = False, verbose: bool = False) -> None:
    """Write to a stream what it can show: colour on a terminal (unless NO_COLOR), plain text elsewhere."""
    put(lambda width: _blocks(view, width, quiet, verbose), stream)


def render(view: View, *, quiet: bool = False, verbose: bool = False, width: int = 100) -> str:
    """The same as text; `quiet` leaves out what was read and told, `verbose` shows every configuration."""
    return as_text(lambda width: _blocks(view, width, quiet, verbose), width=width)


def as_json(view: View, *, indent: int | None = 2) -> str:
    """One object: the choice with all its pairs, the cells, the configurations and what should be known."""
    choice = view.choice
    equal = _equals(choice)
    cells = [
        {**asdict(cell), "best": cell == choice.best, "equal": cell.name in equal} for cell in choice.cells
    ]  # fmt: skip
    plain: dict[str, Any] = {
        "measure": choice.measure,
        "best": asdict(choice.best),
        "equals": [asdict(pair) for pair in choice.equals],
        "beaten": [asdict(pair) for pair in choice.beaten],
        "cross_validated": choice.cross_validated,
        "optimism": choice.optimism,
        "oracle": choice.oracle,
        "folds": choice.folds,
        "picks": dict(choice.picks),
        "slice": view.slice,
        "by_kind": [asdict(kind) for kind in choice.by_kind],
        "sentences": list(choice.sentences),
        "cells": cells,
        "configurations": [{"name": c.name, "settings": dict(c.settings)} for c in view.configurations],
        "inputs": [asdict(taken) for taken in view.taken],
        "notes": [asdict(note) for note in view.notes],
    }
    return json.dumps(finite(plain), indent=indent, allow_nan=False)


def as_csv(view: View) -> str:
    """One row a cell: the settings of its configuration, its mean with interval, whether it is best or equal to it."""
    import polars as pl

    from karat.report.csv import written

    settings = {c.name: c.settings for c in view.configurations}
    equal = _equals(view.choice)
    rows: dict[str, list[Any]] = {"system": [cell.system for cell in view.choice.cells]}
    for name in _COLUMNS:
        rows[name] = [settings[cell.system].get(name) for cell in view.choice.cells]
    for name in ("measure", "k", "mean", "low", "high", "n"):
        rows[name] = [getattr(cell, name) for cell in view.choice.cells]
    rows["best"] = [cell == view.choice.best for cell in view.choice.cells]
    rows["equal"] = [cell.name in equal for cell in view.choice.cells]
    return written(pl.DataFrame(finite(rows), strict=False))


def _equals(choice: study.Choice) -> set[str]:
    """Names of the cells that cannot be told apart from the best."""
    return {pair.a for pair in choice.equals}


def _blocks(view: View, width: int, quiet: bool, verbose: bool) -> Iterator[RenderableType]:
    if not quiet:
        yield from texts(list(input_lines(view.taken)))
        cuts = len(view.measures)
        many = f"{len(view.configurations):,} configuration{'' if len(view.configurations) == 1 else 's'}"
        yield from texts([many + (f" x {cuts} cut-offs" if cuts > 1 else "")])
    yield title(view.choice.measure)
    yield from _grid(view, width, verbose)
    yield from _told(view)
    if view.choice.by_kind:
        yield title(f"{view.choice.measure} by {view.slice or 'kind'}")
        yield _kinds(view)
    shown = [note for note in view.notes if not quiet or note.level == "warning"]
    if shown:
        yield title("Notes")
        yield listing(*(("!" if note.level == "warning" else "-", clean(note.text)) for note in shown))


def _grid(view: View, width: int, verbose: bool) -> Iterator[RenderableType]:
    """Configurations by cut-offs; of many those with the best figures, in the order they were swept."""
    choice, equal = view.choice, _equals(view.choice)
    held = {(cell.system, cell.measure): cell for cell in choice.cells}
    lower = view.measures[0].spec.direction == "lower"
    reached = {
        c.name: max((-cell.mean if lower else cell.mean) for m in view.measures if (cell := held[c.name, m.name]))
        for c in view.configurations
    }
    kept = [c.name for c in view.configurations]
    if not verbose and len(kept) > _ROWS:
        best = set(sorted(kept, key=lambda name: (name != choice.best.system, -reached[name]))[:_ROWS])
        kept = [name for name in kept if name in best]
    rows = []
    for name in kept:
        cells = []
        for measure in view.measures:
            cell = held[name, measure.name]
            mark = _BEST if cell == choice.best else _EQUAL if cell.name in equal else ""
            cells.append(Cell(figure(measure, cell.mean), mark, strong=cell == choice.best))
        rows.append(Row(clean(name, _NAMES), cells))
    columns = [f"@{m.k}" if m.k is not None and len(view.measures) > 1 else m.name for m in view.measures]
    yield from grids("configuration", columns, rows, width)
    left = len(view.configurations) - len(kept)
    marks = f"{_BEST} the highest" if not lower else f"{_BEST} the lowest"
    marks += f", {_EQUAL} cannot be told apart from it" if equal else ""
    yield from texts([marks + (f". {left:,} more configurations: -v shows them all." if left else ".")])


def _told(view: View) -> Iterator[RenderableType]:
    yield from texts([""])
    yield listing(*(("-", clean(sentence)) for sentence in view.choice.sentences))


def _kinds(view: View) -> RenderableType:
    """The best cell of each kind of question, its interval, and how many others may be as good."""
    from rich.text import Text

    alpha = {c.name: c.alpha for c in view.configurations}
    table = plain_table(
        view.slice or "kind", "questions", "best", "alpha", view.choice.measure, "equals", right=(1, 3, 4, 5)
    )
    by_name = {m.name: m for m in view.measures}
    for kind in view.choice.by_kind:
        best, measure = kind.best, by_name[kind.best.measure]
        weight = alpha.get(best.system)
        table.add_row(
            Text(clean(kind.kind, _NAMES)),
            Text(f"{kind.n:,}"),
            Text(clean(best.name, _NAMES)),
            Text("–" if weight is None else f"{weight:g}"),
            Text(f"{figure(measure, best.mean)} {interval(measure, best.low, best.high)}".rstrip()),
            Text(f"{len(kind.equals):,}"),
        )
    return table
