"""Power: what a test set can tell, in words first, then the figures."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from karat.core.text.words import number, percent, plural
from karat.report.build._parts import inputs_of, notes_of
from karat.report.document import Cell, Column, Detail, Document, Heading, Table, Text, bullets

if TYPE_CHECKING:
    from karat.results.comparison import PairSpread, Power


def document(power: Power) -> Document:
    """How small a difference the questions show, measure by measure."""
    titles = ["spread", "detects", "from", "to"]
    needed = [] if power.difference is None else [f"for {number(power.difference, 3)}", "from", "to"]
    rows = [_row(one, bool(needed)) for one in power.measures]
    columns = [Column("measure"), *(Column(t, "score") for t in titles), *(Column(t, "count") for t in needed)]
    seen = next((one.source for one in power.measures), "")
    spread = f"Spread: standard deviation of differences, seen in {seen}." if power.run else f"Spread: {seen}."
    title = f"What {power.testset} can tell"
    return Document(
        title,
        [
            inputs_of(power.taken),
            Heading(f"{title}, with {plural(power.questions, 'question')}", detail=Detail.QUIET),
            bullets(sentences(power), detail=Detail.QUIET),
            *notes_of(power.notes),
            Table("Figures", columns, rows, footnotes=[spread]),
            Text(method(power)),
        ],
    )


def _row(one: PairSpread, needed: bool) -> list[Cell]:
    row: list[Cell] = [one.measure]
    row += [number(v, 3) for v in (one.middle, one.detectable, one.detectable_least, one.detectable_most)]
    return [*row, one.needed, one.needed_least, one.needed_most] if needed else row


def sentences(power: Power) -> list[str]:
    """A sentence or more for each measure."""
    return [line for one in power.measures for line in _sentences(power, one)]


def _sentences(power: Power, one: PairSpread) -> Iterator[str]:
    around = ""
    if one.detectable_least is not None and one.detectable_most is not None:
        least, most = number(one.detectable_least, 3), number(one.detectable_most, 3)
        around = f" ({least} for the most alike pair, {most} for the least)"
    yield (
        f"{one.measure}: {one.questions:,} questions find a difference of {number(one.detectable, 3)} in "
        f"{100 * power.power:g}% of studies{around}."
    )
    if power.difference is not None and one.needed is not None:
        more = one.needed - one.questions
        enough = "These are enough." if more <= 0 else f"That is {more:,} more."
        asked = number(power.difference, 3)
        yield f"{one.measure}: a difference of {asked} takes {one.needed:,} questions. {enough}"
    if one.judge is not None:
        yield (
            f"{one.measure}: {percent(one.judge)} of the variance of differences is the judge's own; without it the "
            f"same questions would find {number(one.without_judge, 3)}."
        )


def method(power: Power) -> str:
    """How it was found out, in one sentence."""
    split = f", divided by {power.comparisons:,} comparisons" if power.comparisons > 1 else ""
    return (
        f"Two systems over the same questions, two-sided at {100 * power.level:g}%{split}; normal approximation of the "
        "paired test. The middle figure is of the pair in the middle."
    )
