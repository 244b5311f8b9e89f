"""Swept: a grid of configurations by cut-offs, the best with its interval and its equals, the best by kind."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TextIO

from karat.core.text.words import NOT_DIFFERENT
from karat.report._escape import clean
from karat.report._grid import Cell, Row, grids, listing, plain_table, texts, title
from karat.report._inputs import input_lines
from karat.report._numbers import figure, interval
from karat.report._screen import as_text, put
from karat.results.serial import plain

if TYPE_CHECKING:
    from rich.console import RenderableType

    from karat.core.measure import Measure
    from karat.results import study
    from karat.results.evaluation import Note, Taken

_BEST, _EQUAL = "*", "="
_ROWS = 40  # configurations shown without `verbose`
_NAMES = 60
_COLUMNS = ("chunk", "embedder", "engine", "fusion", "alpha", "normalise", "rrf_k", "depth")


@dataclass(frozen=True)
class View:
    """What is shown of a sweep: the choice among its configurations at each cut-off of the main measure."""

    choice: study.Choice  # at the main cut-off
    choices: Sequence[study.Choice]  # one for each of the measures
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
    """One object: the choice at each cut-off with all its pairs, the configurations and what should be known."""
    document = {
        "choices": [
            {
                **plain(choice),
                "cells": [
                    {**plain(cell), "best": cell == choice.best, "equal": cell.system in _equals(choice)}
                    for cell in choice.cells
                ],
            }
            for choice in view.choices
        ],
        "slice": view.slice,
        "configurations": [{"name": c.name, "settings": dict(c.settings)} for c in view.configurations],
        "inputs": view.taken,
        "notes": view.notes,
    }
    return json.dumps(plain(document), indent=indent, allow_nan=False)


def as_csv(view: View) -> str:
    """A row a configuration and cut-off: settings, mean with interval, whether it is best there or equal to it."""
    import polars as pl

    from karat.report.outputs.csv import written

    settings = {c.name: c.settings for c in view.configurations}
    cells = [(choice, cell) for choice in view.choices for cell in choice.cells]
    rows: dict[str, list[Any]] = {"system": [cell.system for _, cell in cells]}
    for name in _COLUMNS:
        rows[name] = [settings[cell.system].get(name) for _, cell in cells]
    for name in ("measure", "k", "mean", "low", "high", "n"):
        rows[name] = [getattr(cell, name) for _, cell in cells]
    rows["best"] = [cell == choice.best for choice, cell in cells]
    rows["equal"] = [cell.system in _equals(choice) for choice, cell in cells]
    return written(pl.DataFrame(plain(rows), strict=False))


def _equals(choice: study.Choice) -> set[str]:
    """Names of the configurations that do not differ significantly from the best."""
    return {pair.a for pair in choice.equals}


def _blocks(view: View, width: int, quiet: bool, verbose: bool) -> Iterator[RenderableType]:
    if not quiet:
        yield from texts(list(input_lines(view.taken)))
        cuts = len(view.measures)
        many = f"{len(view.configurations):,} configuration{'' if len(view.configurations) == 1 else 's'}"
        yield from texts([many + (f" x {cuts} cut-offs" if cuts > 1 else "")])
    yield from _grid(view, width, verbose)
    for choice, measure in zip(view.choices, view.measures, strict=True):
        if verbose or choice is view.choice:
            yield title(f"Best by {choice.measure}")
            yield listing(*(("-", clean(sentence)) for sentence in choice.sentences))
            if choice.by_kind:
                yield title(f"{choice.measure} by {view.slice or 'kind'}")
                yield _kinds(view, choice, measure)
    others = [] if verbose else [choice for choice in view.choices if choice is not view.choice]
    if others:
        yield title("At the other cut-offs")
        yield listing(*(("-", clean(choice.sentences[0])) for choice in others))
    shown = [note for note in view.notes if not quiet or note.level == "warning"]
    if shown:
        yield title("Notes")
        yield listing(*(("!" if note.level == "warning" else "-", clean(note.text)) for note in shown))


def _grid(view: View, width: int, verbose: bool) -> Iterator[RenderableType]:
    """Configurations by cut-offs, in the order they were swept; of many those with the best means at some cut-off."""
    cells = [{cell.system: cell for cell in choice.cells} for choice in view.choices]
    equals = [_equals(choice) for choice in view.choices]
    lower = view.measures[0].spec.direction == "lower"
    shown = [c.name for c in view.configurations]
    if not verbose and len(shown) > _ROWS:
        place = dict.fromkeys(shown, len(shown))
        for choice in view.choices:
            for rank, cell in enumerate(choice.ranked):
                place[cell.system] = min(place[cell.system], rank)
        first = set(sorted(shown, key=place.__getitem__)[:_ROWS])
        shown = [name for name in shown if name in first]
    rows = []
    for name in shown:
        row = []
        for choice, measure, held, equal in zip(view.choices, view.measures, cells, equals, strict=True):
            best = name == choice.best.system
            mark = _BEST if best else _EQUAL if name in equal else ""
            row.append(Cell(figure(measure, held[name].mean), mark, strong=best))
        rows.append(Row(clean(name, _NAMES), row))
    yield from grids("configuration", [m.name for m in view.measures], rows, width)
    left = len(view.configurations) - len(shown)
    marks = f"{_BEST} the {'lowest' if lower else 'highest'} of its column"
    marks += f", {_EQUAL} {NOT_DIFFERENT}" if any(equals) else ""
    yield from texts([marks + (f". {left:,} more configurations: -v shows them all." if left else ".")])


def _kinds(view: View, choice: study.Choice, measure: Measure) -> RenderableType:
    """The best configuration for each kind of question, its interval, and how many others may be as good."""
    from rich.text import Text

    alpha = {c.name: c.alpha for c in view.configurations}
    table = plain_table(
        view.slice or "kind", "questions", "best", "alpha", choice.measure, "equals", right=(1, 3, 4, 5)
    )
    for kind in choice.by_kind:
        best, weight = kind.best, alpha.get(kind.best.system)
        table.add_row(
            Text(clean(kind.kind, _NAMES)),
            Text(f"{kind.n:,}"),
            Text(clean(best.system, _NAMES)),
            Text("–" if weight is None else f"{weight:g}"),
            Text(f"{figure(measure, best.mean)} {interval(measure, best.low, best.high)}".rstrip()),
            Text(f"{len(kind.equals):,}"),
        )
    return table
