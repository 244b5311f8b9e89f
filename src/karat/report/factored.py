"""Factored: what goes with each factor of a grid, as a person reads it in a terminal."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, TextIO

from karat.core.factors import Effect, Factored
from karat.report._escape import clean
from karat.report._grid import listing, plain_table, texts, title
from karat.report._numbers import NONE, number
from karat.report._screen import as_text, put
from karat.report.json import finite

if TYPE_CHECKING:
    from rich.console import RenderableType

_ROWS = 12


def show(factored: Factored, stream: TextIO, *, quiet: bool = False, verbose: bool = False) -> None:
    """Write to a stream; `verbose` shows every cell, `quiet` the findings alone."""
    put(lambda width: _blocks(factored, quiet, verbose), stream)


def render(factored: Factored, *, quiet: bool = False, verbose: bool = False, width: int = 100) -> str:
    """The same as text."""
    return as_text(lambda width: _blocks(factored, quiet, verbose), width=width)


def as_json(factored: Factored) -> str:
    """One object in plain ASCII; a number that does not exist is null."""
    return json.dumps(finite(factored.plain()), indent=2, allow_nan=False)


def _blocks(factored: Factored, quiet: bool, verbose: bool) -> Iterator[RenderableType]:
    if not quiet:
        yield listing(*_head(factored))
    yield title("What was found")
    yield from texts([clean(sentence) for sentence in factored.sentences])
    if factored.notes:
        yield listing(*(("!", clean(note)) for note in factored.notes))
    if quiet:
        return
    yield title("One factor at a time")
    yield _effects(factored.one_way)
    if factored.two_way:
        yield title("Two factors at a time, and their interaction")
        for group in factored.two_way:
            yield _effects(group)
    yield title("Marginal means")
    yield _levels(factored)
    yield title("The best cells")
    yield _cells(factored, None if verbose else _ROWS)


def _head(factored: Factored) -> Iterator[tuple[str, str]]:
    parts = [f"{clean(name, 30)} ({len(levels)})" for name, levels in factored.factors.items()]
    yield "", f"{clean(factored.source)}: {factored.n:,} scores of {clean(factored.score)} by {', '.join(parts)}"
    grid = "balanced, so that all types of sums of squares are the same" if factored.balanced else "unbalanced"
    yield (
        "",
        f"the grid is {grid}" + ("" if factored.balanced else ": type II sums of squares, each factor after others"),
    )
    if factored.by is not None:
        yield "", f"differences between {factored.blocks:,} values of {clean(factored.by)} are taken out first"


def _p(value: float | None) -> str:
    return NONE if value is None else "<.001" if value < 0.001 else number(value, 3)


def _effects(effects: Sequence[Effect]) -> RenderableType:
    titles = ("factor", "F", "freedom", "p", "p (Holm)", "eta²", "partial", "omega²")
    table = plain_table(*titles, right=(1, 2, 3, 4, 5, 6, 7))
    for effect in effects:
        f = NONE if effect.f is None else "inf" if effect.f == float("inf") else f"{effect.f:,.3f}"
        row = [
            clean(effect.name, 40), f, f"{effect.freedom}, {effect.error_freedom}", _p(effect.p), _p(effect.adjusted),
            number(effect.eta, 3), number(effect.partial, 3), number(effect.omega, 3),
        ]  # fmt: skip
        table.add_row(*texts(row))
    return table


def _span(low: float | None, high: float | None) -> str:
    return "" if low is None or high is None else f"[{number(low)}, {number(high)}]"


def _levels(factored: Factored) -> RenderableType:
    table = plain_table("factor", "level", "n", "mean", "95%", right=(2, 3))
    last = ""
    for level in factored.levels:
        name = clean(level.factor, 30) if level.factor != last else ""
        last = level.factor
        row = [name, clean(level.level, 30), f"{level.n:,}", number(level.mean), _span(level.low, level.high)]
        table.add_row(*texts(row))
    return table


def _cells(factored: Factored, most: int | None) -> RenderableType:
    table = plain_table("cell", "n", "mean", "95%", "behind", "p (Holm)", "", right=(1, 2, 4, 5))
    for i, cell in enumerate(factored.cells[:most]):
        apart = cell.adjusted is not None and cell.adjusted <= 0.05
        said = "the best" if i == 0 else "" if apart else "not distinguishable"
        behind = NONE if cell.difference is None else number(abs(cell.difference))
        row = [
            clean(cell.name, 60), f"{cell.n:,}", number(cell.mean), _span(cell.low, cell.high), behind,
            _p(cell.adjusted), said,
        ]  # fmt: skip
        table.add_row(*texts(row))
    if most is not None and len(factored.cells) > most:
        table.add_row(*texts([f"and {len(factored.cells) - most:,} more: -v shows all", "", "", "", "", "", ""]))
    return table
