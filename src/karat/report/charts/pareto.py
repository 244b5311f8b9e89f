"""Quality against cost: which systems no other beats in both."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import altair as alt

from karat.core.text.words import amount, clean
from karat.report.build.pareto import PER_QUESTION
from karat.report.charts._chart import Chart, Figure, Missing, Study
from karat.report.charts._lens import Lens, finite, shortened
from karat.report.charts._style import SMALL, headed, tips
from karat.results.pareto import ParetoFront, ParetoPoint

WIDE, HIGH = 700, 380
LABELLED = 14  # systems that all have a label; of more only those of the front have one
LABEL = 26
APART = 10  # from this ratio on the scale of costs is logarithmic
LETTER, LINE, GAP, MARGIN = 6.6, 15, 9, 40  # pixels: of a character, of a line, from a point to its label, at the right
FAR = 0.3  # how many lines that cross a label the next farther place is worth
_Box = tuple[float, float, float, float]


def make(study: Study) -> Figure | Missing:
    """A panel for each cost that two systems or more are known by."""
    lens = Lens(study)
    fronts = [front for front in study.evaluation.pareto if front.measure == study.main]
    if not fronts:
        return Missing("fewer than two systems have both a mean of the main measure and a known cost")
    panels = [_panel(lens, front) for front in fronts]
    end = "highest" if fronts[0].higher_is_better else "lowest"
    systems = [point.system for front in fronts for point in front.points]
    counted = [f"{lens.counted([lens.main], systems)}."] if lens.main is not None else []
    lines = [
        " ".join([*counted, *map(_counted, fronts)]),
        "Filled: on the front, which no other system beats in both; upright lines: 95% intervals of the mean. The step "
        f"is the {end} mean that so much buys.",
        *(_unlabelled(front) for front in fronts[:1]),
    ]
    return alt.vconcat(*panels, spacing=40).properties(title=headed(chart.title, lines, WIDE + 60))


def _counted(front: ParetoFront) -> str:
    left = f", {front.n_left_out} left out" if front.n_left_out else ""
    return f"{front.cost}: {len(front.points)} systems, {len(front.front)} on the front{left}."


def _unlabelled(front: ParetoFront) -> str:
    return (
        ""
        if len(front.points) <= LABELLED
        else "Systems of the front have their names where there is room; point at the others."
    )


def _panel(lens: Lens, front: ParetoFront) -> alt.LayerChart | alt.FacetChart:
    costs = [point.cost for point in front.points]
    least, most = min(costs), max(costs)
    is_log = least > 0 and most / least > APART
    domain = _cost_domain(least, most, is_log)
    values = [end for p in front.points for end in (p.value, p.low, p.high) if end is not None]
    room = 0.06 * ((max(values) - min(values)) or 1.0)
    reach = [min(values) - room, max(values) + room]
    named = [p for p in front.points if p.on_front or len(front.points) <= LABELLED]
    labels = {p.system: shortened(lens.labels.get(p.system, p.system), LABEL) for p in named}
    placed = _placed(front.points, labels, domain, reach, is_log)
    rows: list[dict[str, Any]] = []
    for point in front.points:
        interval = lens.cell(point.system, lens.main)["interval"] if lens.main is not None else "none"
        rows.append({
            "name": clean(point.system, 120), "x": finite(point.cost), "y": finite(point.value),
            "low": finite(point.low), "high": finite(point.high), "on": "yes" if point.on_front else "no",
                "bar": 0.5 if point.on_front or len(front.points) <= LABELLED else 0.2,
            "said": f"{finite(point.value):.3f} {interval}", "spent": amount(point.cost),
        })  # fmt: skip
    steps = [{"x": p.cost, "y": p.value} for p in front.points if p.on_front]
    steps.append({"x": domain[1], "y": steps[-1]["y"]})
    title = f"{PER_QUESTION[front.cost]} per question, {front.statistic}" + (" (logarithmic scale)" if is_log else "")
    scale = alt.Scale(type="log", domain=domain, nice=False) if is_log else alt.Scale(domain=domain, nice=False)
    ticks = {"values": _ticks(domain)} if is_log else {"tickCount": 6}
    x = alt.X("x:Q", title=title, scale=scale, axis=alt.Axis(format=".6~g", **ticks))
    up = f"mean {front.measure}" + ("" if front.higher_is_better else " (less is better)")
    y = alt.Y("y:Q", title=up, scale=alt.Scale(domain=reach, nice=False), axis=alt.Axis(format=".6~g", tickCount=6))
    data = alt.InlineData(values=rows)
    shown = tips(name="system", said=front.measure, spent=front.cost, on="on the front")
    step = alt.Chart(alt.InlineData(values=steps)).mark_line(style="guide", interpolate="step-after", strokeWidth=1.5)
    bars = alt.Chart(data).mark_rule(strokeWidth=1, style="interval").transform_filter(
        "isValid(datum.low) && isValid(datum.high)"
    )  # fmt: skip
    on = alt.Chart(data).transform_filter("datum.on == 'yes'").mark_point(style="dot", shape="circle", size=85)
    off = alt.Chart(data).transform_filter("datum.on == 'no'")
    hollow = off.mark_point(style="mean", shape="circle", size=45, filled=False, strokeWidth=1.3, opacity=0.75)
    layers: list[Any] = [
        step.encode(x=x, y=y),
        bars.encode(x=x, y=alt.Y("low:Q", title=up), y2="high:Q", opacity=alt.Opacity("bar:Q", scale=None)),
        hollow.encode(x=x, y=y, tooltip=shown),
        on.encode(x=x, y=y, tooltip=shown),
    ]
    places = {"x": alt.X("px:Q", scale=None, axis=None), "y": alt.Y("py:Q", scale=None, axis=None)}
    for style, is_front in (("label", True), ("faint", False)):
        texts = [
            {"px": left, "py": (top + bottom) / 2, "text": labels[point.system]}
            for point, (left, top, _, bottom) in placed
            if point.on_front == is_front
        ]
        if texts:
            base = alt.Chart(alt.InlineData(values=texts))
            mark = base.mark_text(align="left", baseline="middle", fontSize=SMALL, style=style)
            layers.append(mark.encode(text="text:N", **places))
    return alt.layer(*layers).properties(width=WIDE, height=HIGH)


def _cost_domain(least: float, most: float, is_log: bool) -> list[float]:
    """The ends of the axis of costs: some room about the least and the most, and never below 0."""
    if is_log:
        room = (most / least) ** 0.06
        return [least / room, most * room]
    room = 0.08 * (most - least) or 0.1 * most or 1.0
    return [max(0.0, least - room), most + room]


def _ticks(domain: Sequence[float]) -> list[float]:
    """1, 2 and 5 of each power of ten within the ends; the powers alone where these are many."""
    powers = range(math.floor(math.log10(domain[0])), math.ceil(math.log10(domain[1])) + 1)
    every = [(m, float(f"{m}e{power}")) for power in powers for m in (1, 2, 5)]
    within = [(m, tick) for m, tick in every if domain[0] <= tick <= domain[1]]
    return [tick for m, tick in within if m == 1 or len(within) <= 9]


def _placed(
    points: Sequence[ParetoPoint], labels: dict[str, str], domain: Sequence[float], reach: Sequence[float], is_log: bool
) -> list[tuple[ParetoPoint, _Box]]:
    """Where the labels stand, in pixels: about their points, where they cover no other label and no point.

    Of such places the one that few lines cross and that is near. Those of the front choose first; one that finds no
    place is left out.
    """

    def across(cost: float) -> float:
        low, high, at = (math.log(one) if is_log else one for one in (domain[0], domain[1], cost))
        return WIDE * (at - low) / (high - low)

    def down(value: float) -> float:
        return HIGH * (reach[1] - value) / (reach[1] - reach[0])

    dots = [(across(p.cost), down(p.value)) for p in points]
    taken: list[_Box] = [(x - 5, y - 5, x + 5, y + 5) for x, y in dots]
    lines = [
        (x - 1, down(max(p.low, p.high)), x + 1, down(min(p.low, p.high)))
        for p, (x, _) in zip(points, dots, strict=True)
        if p.low is not None and p.high is not None
    ]
    corners = [dot for p, dot in zip(points, dots, strict=True) if p.on_front]
    for (x, y), (next_x, next_y) in zip(corners, [*corners[1:], (float(WIDE), corners[-1][1])], strict=True):
        lines += [(x, y - 1, next_x, y + 1), (next_x - 1, min(y, next_y), next_x + 1, max(y, next_y))]
    placed: list[tuple[ParetoPoint, _Box]] = []
    for point, (x, y) in sorted(zip(points, dots, strict=True), key=lambda one: not one[0].on_front):
        if point.system not in labels:
            continue
        boxes = [box for box in _boxes(x, y, LETTER * len(labels[point.system])) if not _any_meets(box, taken)]
        if boxes:
            far = {box: FAR * place for place, box in enumerate(boxes)}
            box = min(boxes, key=lambda box: far[box] + sum(_meet(box, line) for line in lines))
            taken.append(box)
            placed.append((point, box))
    return placed


def _boxes(x: float, y: float, width: float) -> Iterator[_Box]:
    """Places of a label about a point inside the panel, the nearest first."""
    for row in (0.0, *(sign * LINE * far for far in (0.8, 1.3, 1.9, 2.6, 3.4) for sign in (-1, 1))):
        for left in (x + GAP, x - GAP - width, x - width / 2):
            top = y - LINE / 2 + row
            if left >= 2 and left + width <= WIDE + MARGIN and top >= 0 and top + LINE <= HIGH:
                yield left, top, left + width, top + LINE


def _any_meets(box: _Box, others: Sequence[_Box]) -> bool:
    return any(_meet(box, other) for other in others)


def _meet(one: _Box, other: _Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


chart = Chart(
    "pareto",
    "What quality costs",
    "The main measure against seconds, tokens and cost per question, and the systems that no other beats in both.",
    make,
)
