"""Precision against recall while k grows, one line per system."""

from __future__ import annotations

from typing import Any

import altair as alt

from karat.report.charts._chart import Chart, Figure, Missing, Study
from karat.report.charts._lens import LINES, Lens
from karat.report.charts._style import headed, highlight, series_scales, tips
from karat.report.charts.topk_analysis import cut_families

WIDE, HIGH = 560, 400


def make(study: Study) -> Figure | Missing:
    """A point per cut-off at which both were computed."""
    lens = Lens(study)
    plain = {f[0].spec.name: {m.k: m for m in f} for f in cut_families(lens) if not f[0].given}
    precisions, recalls = plain.get("Precision", {}), plain.get("Recall", {})
    cuts = sorted(k for k in precisions if k in recalls and k is not None)
    if len(cuts) < 2:
        return Missing("Precision and Recall were not both computed at two cut-offs")
    systems = lens.shown(LINES)
    rows: list[dict[str, Any]] = []
    for place, system in enumerate(systems):
        for k in cuts:
            up, across = lens.cell(system, precisions[k]), lens.cell(system, recalls[k])
            rows.append({
                "system": lens.labels[system], "line": place, "name": up["name"], "k": k,
                "cut": f"k={k}" if place == 0 else None,
                "x": across["mean"], "x0": across["low"], "x1": across["high"],
                "y": up["mean"], "y0": up["low"], "y1": up["high"],
                "precision": f"{up['said']} {up['interval']}", "recall": f"{across['said']} {across['interval']}",
            })  # fmt: skip
    scales = series_scales([lens.labels[s] for s in systems])
    picked, opacity = highlight()
    thin = alt.when(picked).then(alt.value(0.45)).otherwise(alt.value(0.05))
    x = alt.X("x:Q", title="mean Recall@k", scale=alt.Scale(domainMin=0), axis=alt.Axis(format=".6~g"))
    y = alt.Y("y:Q", title="mean Precision@k", scale=alt.Scale(domainMin=0), axis=alt.Axis(format=".6~g"))
    base = alt.Chart().encode(color=scales["color"])
    line = base.mark_line().encode(x=x, y=y, order="k:Q", strokeDash=scales["strokeDash"], opacity=opacity)
    flat = base.mark_rule(strokeWidth=1).encode(x=alt.X("x0:Q", title="mean Recall@k"), x2="x1:Q", y=y, opacity=thin)
    tall = base.mark_rule(strokeWidth=1).encode(x=x, y=alt.Y("y0:Q", title="mean Precision@k"), y2="y1:Q", opacity=thin)
    points = base.mark_point(size=80).encode(
        x=x, y=y, shape=scales["shape"], opacity=opacity,
        tooltip=tips(name="system", k="k", precision="Precision", recall="Recall"),
    )  # fmt: skip
    cut_names = alt.Chart().transform_filter("isValid(datum.cut)").mark_text(dx=8, dy=-12, align="left")
    cut_names = cut_names.encode(x=x, y=y, text="cut:N")
    measures = [m[k] for k in cuts for m in (precisions, recalls)]
    return alt.layer(
        flat, tall, line, points.add_params(picked), cut_names, data=alt.InlineData(values=rows)
    ).properties(
        width=WIDE,
        height=HIGH,
        title=headed(
            chart.title,
            lens.subtitle(
                "A point per k, written beside the best system; thin "
                "crosses: 95% intervals of both means. Up and to the right is better.",
                measures,
                systems,
            ),
            WIDE + 80,
        ),
    )


chart = Chart(
    "precision_recall",
    "Precision against recall as k grows",
    "What each further hit costs in precision and adds in recall, per system.",
    make,
)
