"""Bars of the main measures, a panel each, one bar per system."""

from __future__ import annotations

import altair as alt

from karat.report.charts._chart import Chart, Figure, Missing, Study
from karat.report.charts._lens import BARS, INTERVALS, Lens, mean_tips
from karat.report.charts._style import BLUE, GREY, SKY, headed, names_axis, row_height

PANELS, ACROSS, WIDE = 6, 3, 170
STANDINGS = {"best mean": BLUE, "interval overlaps that of the best": SKY, "other": GREY}


def make(study: Study) -> Figure | Missing:
    """Means with intervals; the best of each panel and those near it are told apart by colour and mark."""
    lens = Lens(study)
    measures = lens.main_measures(PANELS)
    if not measures:
        return Missing("no measure has a value for any system")
    systems = lens.shown(BARS)
    rows = []
    for measure in measures:
        best = lens.best_systems(measure)
        lower = " (lower is better)" if measure.spec.direction == "lower" else ""
        for system in systems:
            row = lens.cell(system, measure)
            row["panel"] = row["measure"] + lower
            row["standing"] = list(STANDINGS)[0 if system in best.best else 1 if system in best.near else 2]
            row["said"] += best.sign(system)
            rows.append(row)
    bounded = all(m.bounds == (0.0, 1.0) for m in measures)
    domain = lens.domain(systems)
    y = alt.Y("system:N", sort=domain, title=None, axis=alt.Axis(**names_axis()))
    used = [s for s in STANDINGS if any(row["standing"] == s for row in rows)]
    colour = alt.Color(
        "standing:N",
        scale=alt.Scale(domain=used, range=[STANDINGS[s] for s in used]),
        legend=alt.Legend(title=None) if len(systems) > 1 else None,
    )
    scale = alt.Scale(domain=[0, lens.top(measures, systems)]) if bounded else alt.Scale()
    axis = alt.Axis(tickCount=4, format=".6~g")
    base = alt.Chart().encode(y=y)
    bars = base.mark_bar(height={"band": 0.7}).encode(
        x=alt.X("mean:Q", title=None, scale=scale, axis=axis), color=colour, tooltip=mean_tips()
    )
    spans = base.mark_rule(style="interval").encode(x=alt.X("low:Q", title=None), x2="high:Q")
    figures = base.mark_text(align="left").encode(x=alt.value(WIDE + 6), text="said:N")
    panels = list(dict.fromkeys(row["panel"] for row in rows))
    legend = "* best mean; ~ its interval overlaps that of the best." if len(systems) > 1 else ""
    figure: Figure = (
        alt.layer(bars, spans, figures, data=alt.InlineData(values=rows))
        .properties(width=WIDE, height=alt.Step(row_height(domain)))
        .facet(alt.Facet("panel:N", sort=panels, title=None, header=alt.Header(labelAnchor="start")), columns=ACROSS)
        .properties(
            spacing={"row": 24, "column": 62},
            title=headed(
                chart.title,
                lens.subtitle(
                    f"Bar: mean; line across its end: {INTERVALS}. {legend}",
                    measures,
                    systems,
                ),
            ),
        )
        .resolve_scale(x="shared" if bounded else "independent")
        .resolve_axis(x="independent")
    )
    return figure


chart = Chart(
    "retrieval_methods_comparison",
    "How the systems compare by the main measures",
    "Bars of the main measures per system with 95% intervals: read it first.",
    make,
    number=1,
)
