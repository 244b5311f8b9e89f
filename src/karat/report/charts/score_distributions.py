"""How the questions' scores spread: a box and the points themselves, per system."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import altair as alt
import numpy as np

from karat.core.measure import Measure
from karat.core.text.words import figure
from karat.report.charts._chart import Chart, Figure, Missing, Study
from karat.report.charts._lens import INTERVALS, Lens, finite
from karat.report.charts._style import headed, names_axis, tips
from karat.results.decisions import SUPPORT

SYSTEMS = (9, 12)
WIDE, STEP = 560, 62
STEPS = 50  # points closer than this share of the range are one, its size their number


def make(study: Study) -> Figure | Missing:
    """Equal scores are one point whose area is their number: a measure at a cut takes few values.

    Below the main measure stand those that say how good the answers are and how far they are supported.
    """
    lens = Lens(study)
    main = lens.main
    if main is None or lens.best is None:
        return Missing("the main measure has no value for any system")
    systems = lens.shown(SYSTEMS)
    measures = [main, *(m for m in _of_answers(lens) if m is not main)]
    having = {m.name: [s for s in systems if m is main or lens.mean(s, m) is not None] for m in measures}
    measures = [m for m in measures if having[m.name]]
    rows = {m.name: _rows(lens, having[m.name], m) for m in measures}
    most = max((row.get("count", 1) for panel_rows in rows.values() for row in panel_rows), default=1)
    panels = [_panel(lens, having[m.name], m, rows[m.name], most) for m in measures]
    names = [m.name for m in measures]
    counts = "; ".join(_counted(lens, m, having[m.name], len(names) > 1) for m in measures)
    named = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
    title = headed(
        f"How {named} {'spread' if len(names) > 1 else 'spreads'} over the questions",
        [
            f"{counts}. Box: middle half of the questions, with the median as an upright "
            f"line; diamond and its line: mean with {INTERVALS}. Below: the questions.",
            lens.left_out(systems),
            lens.gaps([main], systems),
        ],
        WIDE + 160,
    )
    return (panels[0] if len(panels) == 1 else alt.vconcat(*panels, spacing=24)).properties(title=title)


def _counted(lens: Lens, measure: Measure, systems: list[str], named: bool) -> str:
    return f"{measure.name}: {lens.counted([measure], systems)}" if named else lens.counted([measure], systems)


def _of_answers(lens: Lens) -> list[Measure]:
    """The measure of how good answers are, and one of their support, where they have values."""
    answers = lens.answers
    if not answers.systems:
        return []
    return [m for m in (answers.quality, answers.first(SUPPORT)) if m is not None]


def _rows(lens: Lens, systems: list[str], measure: Measure) -> list[dict[str, Any]]:
    """Of each system its box, then its points."""
    rows: list[dict[str, Any]] = []
    for system in systems:
        cell = lens.cell(system, measure)
        values = np.array([v for v in lens.per_question(system, measure) if v is not None])
        if not len(values):
            rows.append(cell | {"row": "box"})
            continue
        q = [finite(float(v)) for v in np.quantile(values, (0, 0.25, 0.5, 0.75, 1))]
        box = dict(zip(("least", "q25", "q50", "q75", "most"), q, strict=True))
        words = {f"{name}_said": figure(value, measure.spec.unit, 3) for name, value in box.items()}
        rows.append(cell | {"row": "box"} | box | words)
        width = float(np.ptp(values)) if measure.bounds != (0.0, 1.0) else 1.0
        grid = width / STEPS or 1.0
        near: dict[int, list[float]] = defaultdict(list)
        for value in values.tolist():
            near[round(value / grid)].append(value)
        for _, group in sorted(near.items()):
            at = finite(sum(group) / len(group))
            rows.append(
                {"system": cell["system"], "name": cell["name"], "row": "points", "value": at, "count": len(group)}
            )
    return rows


def _panel(
    lens: Lens, systems: list[str], measure: Measure, rows: list[dict[str, Any]], most: int
) -> alt.LayerChart | alt.FacetChart:
    domain = lens.domain(systems)
    title = f"{measure.name} of a question"
    base = alt.Chart().encode(y=alt.Y("system:N", sort=domain, title=None, axis=alt.Axis(**names_axis())))

    axis = alt.Axis(format=".6~g", tickCount=8)

    def across(name: str) -> alt.X:
        return alt.X(f"{name}:Q", title=title, scale=alt.Scale(padding=14, nice=False), axis=axis)

    upper, lower = -13, 14
    boxes = base.transform_filter("datum.row == 'box'")
    quarters = tips(
        name="system", said="mean", interval="95% interval", least_said="least", q25_said="25%", q50_said="median",
        q75_said="75%", most_said="greatest", n="questions",
    )  # fmt: skip
    legend = alt.Legend(title="questions with this score", values=sorted({1, -(-most // 2), most}))
    dots = base.transform_filter("datum.row == 'points'").mark_point(style="dot", opacity=0.7, yOffset=lower).encode(
        x=across("value"),
        size=alt.Size("count:Q", scale=alt.Scale(domain=[0, most], range=[10, 320]), legend=legend),
        tooltip=tips(name="system", value="score", count="questions"),
    )  # fmt: skip
    return alt.layer(
        boxes.mark_rule(style="guide", strokeDash=[1, 0], yOffset=upper).encode(x=across("least"), x2="most:Q"),
        boxes.mark_bar(style="box", size=20, yOffset=upper).encode(x=across("q25"), x2="q75:Q", tooltip=quarters),
        boxes.mark_tick(style="median", size=20, yOffset=upper).encode(x=across("q50"), tooltip=quarters),
        boxes.mark_rule(style="interval", yOffset=upper).encode(x=across("low"), x2="high:Q"),
        boxes.mark_point(style="mean", shape="diamond", size=80, yOffset=upper).encode(
            x=across("mean"), tooltip=quarters
        ),
        dots,
        data=alt.InlineData(values=rows),
    ).properties(width=WIDE, height=alt.Step(STEP))


chart = Chart(
    "score_distributions",
    "How the scores spread over the questions",
    "Box and points of the main measure, and of the answers, per system: a mean hides whether few questions fail.",
    make,
)
