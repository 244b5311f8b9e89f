"""A radar of the main measures: a spoke each, one outline per system."""

from __future__ import annotations

import math
from typing import Any, Literal

import altair as alt

from karat.report.charts._chart import Chart, Figure, Missing, Study
from karat.report.charts._lens import Lens, mean_tips, wrap
from karat.report.charts._style import headed, highlight, series_scales

SPOKES, LEAST = 8, 3
SYSTEMS = (4, 5)
RADIUS, ACROSS, UP = 200, 1.4, 1.22  # pixels of the outer ring, and how far the view reaches in shares of it
BESIDE = 0.022  # by how much outlines are set apart, so that no interval hides another
RINGS = 5


def make(study: Study) -> Figure | Missing:
    """Polar coordinates worked out here: Vega-Lite has none. A missing value breaks its outline."""
    lens = Lens(study)
    measures = lens.main_measures(SPOKES, bounded=True)
    if len(measures) < LEAST:
        return Missing(f"a radar needs {LEAST} measures from 0 to 1, and there are {len(measures)}")
    systems = lens.shown(SYSTEMS)
    top = lens.top(measures, systems)
    turns = [2 * math.pi * i / len(measures) for i in range(len(measures))]
    rows: list[dict[str, Any]] = []
    for place, system in enumerate(systems):
        aside = BESIDE * (place - (len(systems) - 1) / 2)
        for step in range(len(measures) + 1):
            i = step % len(measures)
            cell = lens.cell(system, measures[i]) | {"system": lens.labels[system], "line": place, "step": step}
            for end, x, y in (("mean", "x", "y"), ("low", "x0", "y0"), ("high", "x1", "y1")):
                cell[x], cell[y] = _point(turns[i], cell[end], top, aside)
            rows.append(cell)
    scales = series_scales([lens.labels[s] for s in systems])
    picked, opacity = highlight()
    flat, upright = (alt.Scale(domain=[-reach, reach], nice=False) for reach in (ACROSS, UP))

    def at(x: str, y: str) -> dict[str, Any]:
        return {"x": alt.X(f"{x}:Q", scale=flat, axis=None), "y": alt.Y(f"{y}:Q", scale=upright, axis=None)}

    base = alt.Chart(alt.InlineData(values=rows)).encode(color=scales["color"], opacity=opacity)
    outline = base.mark_line(strokeWidth=2).encode(
        **at("x", "y"), order="step:Q", strokeDash=scales["strokeDash"], detail="system:N"
    )
    spans = base.mark_rule(strokeWidth=1.4).encode(**at("x0", "y0"), x2="x1:Q", y2="y1:Q")
    points = base.mark_point(size=60).encode(**at("x", "y"), shape=scales["shape"], tooltip=mean_tips())
    figure: Figure = (
        alt.layer(*_web(turns, [m.name for m in measures], top, at), outline, spans, points.add_params(picked))
        .properties(
            width=round(2 * RADIUS * ACROSS),
            height=round(2 * RADIUS * UP),
            title=headed(
                chart.title,
                lens.subtitle(
                    "Further out is better. Line along a spoke: 95% interval of the mean.",
                    measures,
                    systems,
                ),
                round(2 * RADIUS * ACROSS) + 60,
            ),
        )
        .resolve_scale(color="shared")
    )
    return figure


def _point(turn: float, value: float | None, top: float, aside: float = 0.0) -> tuple[float | None, float | None]:
    """Where a value stands on its spoke, a little aside of it; the first spoke points up, the next clockwise."""
    if value is None:
        return None, None
    x = value / top * math.sin(turn) + aside * math.cos(turn)
    y = value / top * math.cos(turn) - aside * math.sin(turn)
    return round(x, 4), round(y, 4)


def _web(turns: list[float], names: list[str], top: float, at: Any) -> list[alt.Chart]:
    """Rings with their values, spokes and the names at their ends."""
    shares = [i / RINGS for i in range(1, RINGS + 1)]
    corners = [
        {
            "ring": share,
            "step": step,
            **dict(zip(("x", "y"), _point(turns[step % len(turns)], share, 1.0), strict=True)),
        }
        for share in shares
        for step in range(len(turns) + 1)
    ]
    spokes = [{"x": 0, "y": 0, **dict(zip(("x1", "y1"), _point(turn, 1.0, 1.0), strict=True))} for turn in turns]
    between = math.pi / len(turns)  # the values of the rings stand between the first two spokes
    across = math.cos(between)
    values = [
        {"text": f"{share * top:.2f}".removeprefix("0"), **_named(_point(between, share * across, 1.0))}
        for share in shares
    ]
    ends = [{"text": wrap(name, 14), **_named(_point(turn, 1.1, 1.0))} for name, turn in zip(names, turns, strict=True)]
    drawn = [
        alt.Chart(alt.InlineData(values=corners)).mark_line(style="ring", strokeWidth=1).encode(
            **at("x", "y"), order="step:Q", detail="ring:N"
        ),
        alt.Chart(alt.InlineData(values=spokes)).mark_rule(style="ring").encode(
            **at("x", "y"), x2="x1:Q", y2="y1:Q"
        ),
        alt.Chart(alt.InlineData(values=values)).mark_text(style="faint", fontSize=12).encode(
            **at("x", "y"), text="text:N"
        ),
    ]  # fmt: skip
    sides: tuple[tuple[str, Literal["right", "left", "center"]], ...] = (
        ("datum.x < -0.2", "right"), ("datum.x > 0.2", "left"), ("abs(datum.x) <= 0.2", "center"),
    )  # fmt: skip
    for side, align in sides:
        drawn.append(
            alt.Chart(alt.InlineData(values=ends))
            .transform_filter(side)
            .mark_text(align=align, fontSize=14, fontWeight="bold", baseline="middle", lineBreak="\n")
            .encode(**at("x", "y"), text="text:N")
        )
    return drawn


def _named(point: tuple[float | None, float | None]) -> dict[str, float | None]:
    return {"x": point[0], "y": point[1]}


chart = Chart(
    "radar_chart",
    "The shape of the best systems",
    "A radar of the main measures for a few systems: where each is strong and weak.",
    make,
    number=5,
)
