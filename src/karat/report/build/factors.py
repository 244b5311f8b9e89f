"""Factors: what goes with each factor of a grid."""

from __future__ import annotations

from typing import TYPE_CHECKING

from karat.core.text.words import NONE, number
from karat.report.document import Cell, Column, Detail, Document, Heading, Notice, Table, Text

if TYPE_CHECKING:
    from karat.results.study import Effect, FactorAnalysis


def document(factored: FactorAnalysis) -> Document:
    """What was found in words, then the effects."""
    sizes = ", ".join(f"{name} ({len(levels)})" for name, levels in factored.factors.items())
    grid = "balanced" if factored.balanced else "unbalanced: type II sums of squares, each factor after the others"
    by = f"; {factored.blocks:,} values of {factored.by} taken out first" if factored.by is not None else ""
    columns = [
        Column("factor"), *(Column(title, "value") for title in ("F", "freedom")),
        *(Column(title, "p") for title in ("p", "p (Holm)")), Column("eta²", "score"), Column("omega²", "score"),
        Column("means"),
    ]  # fmt: skip
    return Document(
        f"What goes with {factored.score}",
        [
            Text(f"{factored.source}: {factored.n:,} scores of {factored.score} by {sizes}"),
            Text(f"the grid is {grid}{by}"),
            Heading("What was found", detail=Detail.QUIET),
            *(Text(sentence, detail=Detail.QUIET) for sentence in factored.sentences),
            *(Notice(note, "warning", detail=Detail.QUIET) for note in factored.notes),
            Heading("Effects"),
            Table("Effects", columns, [_row(factored, effect) for effect in factored.effects]),
        ],
    )


def _row(factored: FactorAnalysis, effect: Effect) -> list[Cell]:
    f = NONE if effect.f is None else "inf" if effect.f == float("inf") else f"{effect.f:,.3f}"
    means = [f"{level.name} {number(level.mean, 3)}" for level in factored.factors.get(effect.name, ())]
    shares = [number(effect.eta, 3), number(effect.omega, 3)]
    freedom = f"{effect.freedom}, {effect.error_freedom}"
    return [effect.name, f, freedom, effect.p, effect.adjusted, *shares, ", ".join(means)]
