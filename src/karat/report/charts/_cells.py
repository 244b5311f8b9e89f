"""Cells: a table drawn as a chart, each number on the colour of its value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

from karat.core.measure import Measure
from karat.report.charts._lens import Lens, mean_tips
from karat.report.charts._style import CELLS, DARK_FROM, NORMAL, SMALL, names_axis

WIDE, HIGH, LINE = 92, 42, 15


def cell_rows(
    lens: Lens, systems: Sequence[str], column: str, measure: Measure, slice_name: str | None = None, value: str = ""
) -> list[dict[str, Any]]:
    """A column of means: the best and those near it are marked, and coloured where the measure lies in 0 to 1."""
    best = lens.best_systems(measure, slice_name, value or None)
    rows = []
    for system in systems:
        row = lens.cell(system, measure, slice_name, value or None)
        shade = row["mean"] if measure.bounds == (0.0, 1.0) else None
        rows.append(row | {"column": column, "shade": shade, "shown": row["said"] + best.sign(system)})
    return rows


def cells(
    rows: list[dict[str, Any]], systems: Sequence[str], columns: Sequence[str], top: float
) -> alt.LayerChart | alt.FacetChart:
    """Rows of `cell_rows`. `shade` is what the colour shows, from 0 to top; None is no value."""
    lines = max((column.count("\n") for column in columns), default=0)  # beyond the first
    longest = max((len(line) for column in columns for line in column.split("\n")), default=0)
    level = {column: "\n" * (lines - column.count("\n")) + column for column in columns}  # all end above the cells
    rows = [row | {"column": level[row["column"]]} for row in rows]
    columns = list(level.values())
    axis = alt.Axis(
        orient="top", labelAngle=0, labelExpr="split(datum.label, '\\n')", ticks=False, domain=False,
        labelPadding=8 + LINE * lines,
    )  # fmt: skip
    base = alt.Chart().encode(
        x=alt.X("column:N", sort=list(columns), title=None, axis=axis),
        y=alt.Y("system:N", sort=list(systems), title=None, axis=alt.Axis(**names_axis())),
    )
    shade = alt.Color(
        "shade:Q",
        scale=alt.Scale(domain=[0, top], range=CELLS, interpolate="rgb"),
        legend=None,
    )
    letters = (
        alt.when(f"datum.shade > {DARK_FROM * top:.6g}").then(alt.value("#ffffff")).otherwise(alt.value("#111111"))
    )
    known = base.transform_filter("isValid(datum.shade)")
    grey = base.transform_filter("!isValid(datum.shade)")
    return alt.layer(
        known.mark_rect(stroke="#ffffff", strokeWidth=1).encode(color=shade, tooltip=mean_tips()),
        grey.mark_rect(stroke="#ffffff", strokeWidth=1, fill="#d0d0d0").encode(tooltip=mean_tips()),
        base.mark_text(fontSize=NORMAL, fontWeight="bold", dy=-8).encode(text="shown:N", color=letters),
        base.transform_filter("isValid(datum.low)")
        .mark_text(fontSize=SMALL, dy=10)
        .encode(text="interval:N", color=letters),
        data=alt.InlineData(values=rows),
    ).properties(width=alt.Step(max(WIDE, longest * 7 + 8)), height=alt.Step(HIGH))
