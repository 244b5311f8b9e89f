"""Charts of a comparison: differences with their intervals as a forest, and differences within slices as a heat map."""

from __future__ import annotations

from typing import Any

from karat.core.text.words import clean, interval, number, probability, signed
from karat.report.charts._chart import Figure
from karat.results.comparison import ComparedMeasure, Comparison
from karat.results.decisions import better

ROWS = 40  # pairs of a forest
CELLS = 24  # rows of a heat map
_NAME = 34
_ROW = 24


def comparison_charts(comparison: Comparison) -> dict[str, dict[str, Any]]:
    """Vega-Lite specifications by name: a forest for each measure, a heat map for each measure and slice.

    A measure by which no pair has a difference has no chart.
    """
    specs = {}
    known = {pair.measure for pair in comparison.pairs if pair.difference is not None}
    for place, measure in enumerate(comparison.measures, 1):
        if measure.name not in known:
            continue
        specs[f"{place}_differences_by_{measure.name}"] = _plain(forest(comparison, measure))
        for name in dict.fromkeys(part.slice for part in comparison.slices):
            specs[f"{place}_{measure.name}_by_{name}"] = _plain(heatmap(comparison, measure, name))
    return specs


def _plain(chart: Any) -> dict[str, Any]:
    spec: dict[str, Any] = chart.to_dict()
    spec.pop("config", None)
    return spec


def forest(comparison: Comparison, measure: ComparedMeasure) -> Figure:
    """b - a of each pair with its 95% interval; square where the difference is significant."""
    import altair as alt

    from karat.report.charts._style import BLUE, GREY, WIDTH, headed, tips

    pairs = [pair for pair in comparison.pairs if pair.measure == measure.name and pair.difference is not None]
    pairs = sorted(pairs, key=lambda pair: -(pair.difference or 0.0))
    left = max(0, len(pairs) - ROWS)
    if left:
        pairs = sorted(sorted(pairs, key=lambda p: p.adjusted)[:ROWS], key=lambda p: -(p.difference or 0.0))
    apart, alike = "significant", "not significant"
    rows = [
        {
            "pair": f"{clean(pair.b, _NAME)} - {clean(pair.a, _NAME)}", "difference": pair.difference,
            "low": pair.low if pair.low is not None else pair.difference,
            "high": pair.high if pair.high is not None else pair.difference,
            "told": apart if comparison.is_told_apart(pair) else alike, "shown": signed(pair.difference),
            "interval": interval(pair.low, pair.high), "p": probability(pair.adjusted), "n": f"{pair.n:,}",
            "counts": f"{pair.wins} / {pair.ties} / {pair.losses}",
        }
        for pair in pairs
    ]  # fmt: skip
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        y=alt.Y(
            "pair:N", sort=[str(row["pair"]) for row in rows], title=None, axis=alt.Axis(ticks=False, domain=False)
        ),
        tooltip=tips(
            pair="pair", shown="b - a", interval="95% interval", p="adjusted p", counts="wins/ties/losses", n="n"
        ),
    )
    scale = alt.Scale(domain=[apart, alike], range=[BLUE, GREY])
    shapes = alt.Scale(domain=[apart, alike], range=["square", "circle"])
    legend = alt.Legend(title=None, symbolOpacity=1)
    points = base.mark_point(size=80).encode(
        x=alt.X("difference:Q", title=f"{measure.name}: b - a", axis=alt.Axis(format=".6~g")),
        color=alt.Color("told:N", scale=scale, legend=legend),
        shape=alt.Shape("told:N", scale=shapes, legend=legend),
    )
    bars = base.mark_rule(style="interval").encode(x=alt.X("low:Q", title=""), x2="high:Q")
    zero = alt.Chart(alt.InlineData(values=[{"x": 0}])).mark_rule(style="guide").encode(x=alt.X("x:Q", title=""))
    more = f"{left:,} more pairs are in the table." if left else ""
    side = "Left of the line b is better." if measure.direction == "lower" else "Right of the line b is better."
    return alt.layer(zero, bars, points).properties(
        width=WIDTH - 380,
        height=alt.Step(_ROW),
        title=headed(
            f"Differences by {measure.name}",
            [f"Mean of b - a with its 95% interval, paired by question. {side} {more}"],
        ),
    )


def heatmap(comparison: Comparison, measure: ComparedMeasure, name: str) -> Figure:
    """Differences within each value of a slice; * where the correction over all of them leaves a difference."""
    import altair as alt

    from karat.report.charts._style import BLUE, NORMAL, VERMILION, headed, tips

    parts = [part for part in comparison.slices if (part.slice, part.measure) == (name, measure.name)]
    pairs = list(dict.fromkeys((part.a, part.b) for part in parts))
    shown = set(pairs[:CELLS])
    far = max((abs(part.difference) for part in parts if part.difference is not None), default=1.0) or 1.0
    sizes = {part.value: max(p.n for p in parts if p.value == part.value) for part in parts}
    rows = [
        {
            "pair": f"{clean(part.b, _NAME)} - {clean(part.a, _NAME)}",
            "value": f"{clean(part.value, 22)} ({sizes[part.value]})",
            "difference": part.difference,
            "shown": number(part.difference, 3) + ("*" if comparison.is_told_apart(part) else ""),
            "interval": interval(part.low, part.high), "p": probability(part.adjusted), "n": f"{part.n:,}",
            "who": better(comparison, part) or "not significantly different",
        }
        for part in parts
        if (part.a, part.b) in shown
    ]  # fmt: skip
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        x=alt.X("value:N", sort=list(dict.fromkeys(str(r["value"]) for r in rows)), title=None,
                axis=alt.Axis(orient="top", labelAngle=-30, ticks=False, domain=False)),
        y=alt.Y("pair:N", sort=list(dict.fromkeys(str(r["pair"]) for r in rows)), title=None,
                axis=alt.Axis(ticks=False, domain=False)),
        tooltip=tips(
            pair="pair", value="slice", shown="b - a", interval="95% interval", p="adjusted p", n="n", who="better"
        ),
    )  # fmt: skip
    colours = [BLUE, "#f7f7f7", VERMILION] if measure.direction == "lower" else [VERMILION, "#f7f7f7", BLUE]
    scale = alt.Scale(domain=[-far, 0, far], range=colours, interpolate="rgb")
    letters = (
        alt.when(f"abs(datum.difference) > {0.7 * far:.6g}").then(alt.value("#ffffff")).otherwise(alt.value("#111111"))
    )
    left = len(pairs) - len(shown)
    more = f"{left} more pairs are in the table." if left > 0 else ""
    return alt.layer(
        base.mark_rect(stroke="#ffffff").encode(color=alt.Color("difference:Q", scale=scale, legend=None)),
        base.mark_text(fontSize=NORMAL).encode(text="shown:N", color=letters),
    ).properties(
        width=alt.Step(64),
        height=alt.Step(30),
        title=headed(
            f"{measure.name} by {clean(name, 40)}",
            [f"b - a within each {clean(name, 40)}, questions in brackets; blue: b is better. * significant. {more}"],
        ),
    )
