"""Accuracy against coverage, the surest answers first, one line per system."""

from __future__ import annotations

from typing import Any

import altair as alt

from karat.core.text.words import number
from karat.report.charts._chart import Chart, Figure, Missing, Study
from karat.report.charts._lens import LINES, Lens
from karat.report.charts._style import headed, highlight, series_scales, tips

WIDE, HIGH = 560, 360
POINTS = 200  # of a line at most, its ends among them


def make(study: Study) -> Figure | Missing:
    """A step per answer; a system without confidences is the point where its line would end."""
    lens = Lens(study)
    first = next((one.correct_by for one in study.evaluation.selective), None)
    curves = {one.system: one for one in study.evaluation.selective if one.correct_by == first and one.answered}
    systems = [s for s in lens.shown(LINES) if s in curves]
    if not systems or first is None:
        return Missing("CRAG was not computed, or nothing was answered")
    rows: list[dict[str, Any]] = []
    for place, system in enumerate(systems):
        curve = curves[system]
        start = curve.answered - len(curve.accuracy) + 1
        for at in _places(len(curve.accuracy)):
            answers, accuracy = start + at, curve.accuracy[at]
            coverage, right = number(answers / curve.n, 3), number(accuracy, 3)
            rows.append({
                "system": lens.labels[system], "line": place, "x": answers / curve.n, "y": accuracy,
                "end": answers == curve.answered, "answers": answers, "coverage": coverage, "right": right,
            })  # fmt: skip
    scales = series_scales([lens.labels[s] for s in systems])
    picked, opacity = highlight()
    x = alt.X("x:Q", title="coverage: share of the questions answered", scale=alt.Scale(domain=[0, 1]))
    y = alt.Y("y:Q", title="share right of these answers", scale=alt.Scale(domain=[0, 1]))
    base = alt.Chart().encode(x=x, y=y, color=scales["color"], opacity=opacity)
    tooltip = tips(system="system", answers="answers", coverage="coverage", right="share right")
    line = base.mark_line().encode(strokeDash=scales["strokeDash"], tooltip=tooltip)
    ends = base.transform_filter("datum.end").mark_point(size=80).encode(shape=scales["shape"], tooltip=tooltip)
    about = (
        f"n = {max(curves[s].n for s in systems):,} questions. Answers are ranked by the confidence the system gives; "
        "those that tie are averaged. A line ends where all answers count; a system without confidences has its end "
        f"alone. Right by {first}. Higher is better."
    )
    return alt.layer(line, ends.add_params(picked), data=alt.InlineData(values=rows)).properties(
        width=WIDE, height=HIGH, title=headed(chart.title, [about, lens.left_out(lens.shown(LINES))], WIDE + 80)
    )


def _places(size: int) -> list[int]:
    """Which of so many points are drawn: all, or as many as a line needs."""
    return (
        list(range(size)) if size <= POINTS else sorted({round(i * (size - 1) / (POINTS - 1)) for i in range(POINTS)})
    )


chart = Chart(
    "selective_accuracy",
    "How right the surest answers are",
    "Accuracy against coverage when answers are ranked by the system's own confidence.",
    make,
)
