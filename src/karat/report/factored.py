"""Factored: what goes with each factor of a grid, as a person reads it in a terminal."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, TextIO

from karat.core.text.words import probability
from karat.report._escape import clean
from karat.report._grid import listing, plain_table, texts, title
from karat.report._numbers import NONE, number
from karat.report._screen import as_text, put
from karat.results.serial import plain

if TYPE_CHECKING:
    from rich.console import RenderableType

    from karat.results.study import Factored


def show(factored: Factored, stream: TextIO, *, quiet: bool = False) -> None:
    """Write to a stream; `quiet` the findings alone."""
    put(lambda width: _blocks(factored, quiet), stream)


def render(factored: Factored, *, quiet: bool = False, width: int = 100) -> str:
    """The same as text."""
    return as_text(lambda width: _blocks(factored, quiet), width=width)


def as_json(factored: Factored) -> str:
    """One object; a number that does not exist is null."""
    return json.dumps(plain(factored), indent=2, allow_nan=False)


def _blocks(factored: Factored, quiet: bool) -> Iterator[RenderableType]:
    if not quiet:
        sizes = ", ".join(f"{clean(name, 30)} ({len(levels)})" for name, levels in factored.factors.items())
        grid = "balanced" if factored.balanced else "unbalanced: type II sums of squares, each factor after the others"
        by = f"; {factored.blocks:,} values of {clean(factored.by)} taken out first" if factored.by is not None else ""
        yield from texts([f"{clean(factored.source)}: {factored.n:,} scores of {clean(factored.score)} by {sizes}"])
        yield from texts([f"the grid is {grid}{by}"])
    yield title("What was found")
    yield from texts([clean(sentence) for sentence in factored.sentences])
    if factored.notes:
        yield listing(*(("!", clean(note)) for note in factored.notes))
    if quiet:
        return
    yield title("Effects")
    table = plain_table("factor", "F", "freedom", "p", "p (Holm)", "eta²", "omega²", "means", right=(1, 2, 3, 4, 5, 6))
    for effect in factored.effects:
        f = NONE if effect.f is None else "inf" if effect.f == float("inf") else f"{effect.f:,.3f}"
        means = [f"{clean(x.name, 20)} {number(x.mean, 3)}" for x in factored.factors.get(effect.name, ())]
        row = [
            clean(effect.name, 40), f, f"{effect.freedom}, {effect.error_freedom}",
            probability(effect.p), probability(effect.adjusted),
            number(effect.eta, 3), number(effect.omega, 3), ", ".join(means),
        ]  # fmt: skip
        table.add_row(*texts(row))
    yield table
