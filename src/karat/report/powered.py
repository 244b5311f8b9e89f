"""Powered: what a test set can tell, in words first, then the figures."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, TextIO

from karat.report._escape import clean
from karat.report._escape import markdown as escape
from karat.report._grid import listing, plain_table, texts, title
from karat.report._inputs import input_lines
from karat.report._numbers import NONE, percent, short
from karat.report._screen import as_text, put
from karat.report.outputs.markdown import pipes
from karat.results.serial import plain

if TYPE_CHECKING:
    from rich.console import RenderableType

    from karat.results.comparison import Power, Spread


def show(found: Power, stream: TextIO, *, quiet: bool = False) -> None:
    """Write to a stream what it can show: colour on a terminal (unless NO_COLOR), plain text elsewhere."""
    put(lambda width: _blocks(found, quiet), stream)


def render(found: Power, *, quiet: bool = False, width: int = 100) -> str:
    """The same as text."""
    return as_text(lambda width: _blocks(found, quiet), width=width)


def as_json(found: Power, *, indent: int | None = 2) -> str:
    """One object with every figure and sentence; a number that does not exist is null."""
    return json.dumps({**plain(found), "sentences": sentences(found)}, indent=indent, allow_nan=False)


def as_markdown(found: Power) -> str:
    """Sentences and a pipe table."""
    titles, rows = _table(found)
    lines = [f"# What {escape(found.testset)} can tell", "", *(f"- {escape(line)}" for line in sentences(found)), ""]
    lines += pipes([escape(t) for t in titles], [[escape(c) for c in row] for row in rows], right=range(1, len(titles)))
    lines += ["", escape(method(found)), "", *(f"- {note.level}: {escape(note.text)}" for note in found.notes)]
    return "\n".join(lines).rstrip() + "\n"


def sentences(found: Power) -> list[str]:
    """One for each measure."""
    return [line for one in found.measures for line in _said(found, one)]


def _said(found: Power, one: Spread) -> Iterator[str]:
    around = ""
    if one.detectable_least is not None and one.detectable_most is not None:
        around = f" ({short(one.detectable_least)} for the most alike pair, {short(one.detectable_most)} for the least)"
    yield (
        f"{one.measure}: {one.questions:,} questions find a difference of {short(one.detectable)} in "
        f"{_share(found.power)} of studies{around}."
    )
    if found.difference is not None and one.needed is not None:
        more = one.needed - one.questions
        enough = "These are enough." if more <= 0 else f"That is {more:,} more."
        yield f"{one.measure}: a difference of {short(found.difference)} takes {one.needed:,} questions. {enough}"
    if one.judge is not None:
        yield (
            f"{one.measure}: {percent(one.judge)} of the variance of differences is the judge's own; without it the "
            f"same questions would find {short(one.without_judge)}."
        )


def _share(value: float) -> str:
    return f"{100 * value:g}%"


def method(found: Power) -> str:
    """How it was found out, in one sentence."""
    split = f", divided by {found.comparisons:,} comparisons" if found.comparisons > 1 else ""
    return (
        f"Two systems over the same questions, two-sided at {_share(found.level)}{split}; normal approximation of the "
        "paired test. The middle figure is of the pair in the middle."
    )


def _table(found: Power) -> tuple[list[str], list[list[str]]]:
    titles = ["measure", "spread", "detects", "from", "to"]
    if found.difference is not None:
        titles += [f"for {short(found.difference)}", "from", "to"]
    rows = []
    for one in found.measures:
        row = [one.measure, *map(short, (one.middle, one.detectable, one.detectable_least, one.detectable_most))]
        if found.difference is not None:
            row += [NONE if n is None else f"{n:,}" for n in (one.needed, one.needed_least, one.needed_most)]
        rows.append(row)
    return titles, rows


def _blocks(found: Power, quiet: bool) -> Iterator[RenderableType]:
    if not quiet:
        yield from texts(list(input_lines(found.taken)))
    yield title(clean(f"What {found.testset} can tell, with {found.questions:,} questions"))
    yield listing(*(("-", clean(line)) for line in sentences(found)))
    notes = [note for note in found.notes if not quiet or note.level == "warning"]
    if notes:
        yield ""
        yield listing(*(("!" if note.level == "warning" else " ", clean(note.text)) for note in notes))
    if quiet:
        return
    titles, rows = _table(found)
    made = plain_table(*titles, right=range(1, len(titles)))
    for row in rows:
        made.add_row(*texts([clean(cell, 40) for cell in row]))
    yield ""
    yield made
    spread = next((clean(one.source) for one in found.measures), "")
    told = f"Spread: standard deviation of differences, seen in {spread}." if found.run else f"Spread: {spread}."
    yield from texts([told, method(found)])
