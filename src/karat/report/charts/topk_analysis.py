"""Measures over the cut-off, a panel each, one line per system."""

from __future__ import annotations

import json
import re
from typing import Any

import altair as alt

from karat.core.measure import Measure
from karat.report.charts._chart import Chart, Figure, Missing, Study
from karat.report.charts._lens import INTERVALS, LABEL, LINES, ORDER, Lens, distinct, mean_tips
from karat.report.charts._style import headed, highlight, panel_axis, series_scales

PANELS, ACROSS, WIDE, HIGH = 6, 3, 236, 180
K_AT_END = re.compile(r"(?<![\W_])[\W_]*+(?:top[\W_]*+)?k[\W_]*+\d++\s*+$", re.I)
SPREAD = 0.56  # of the space between two cut-offs, over which the systems stand side by side


def make(study: Study) -> Figure | Missing:
    """Cut-offs stand at equal distances; systems side by side at each, so that no interval hides another."""
    lens = Lens(study)
    families = cut_families(lens)[:PANELS]
    if not families:
        return Missing("no measure was computed at two cut-offs")
    lines, told_of_lines = _lines(lens)
    systems = list(dict.fromkeys(s for line in lines.values() for s in line.values()))
    cuts = sorted({m.k for family in families for m in family if m.k is not None})
    rows: list[dict[str, Any]] = []
    for family in families:
        for place, (label, line) in enumerate(lines.items()):
            shift = SPREAD * ((place + 0.5) / len(lines) - 0.5)
            for measure in family:
                if measure.k not in line:
                    continue
                cell = lens.cell(line[measure.k], measure) | {"system": label, "line": place}
                x = cuts.index(measure.k) + shift if measure.k is not None else None
                rows.append(cell | {"x": None if x is None else round(x, 4), "family": measure.name.rpartition("@")[0]})
    scales = series_scales(list(lines))
    picked, opacity = highlight()
    ticks = ", ".join(f"'{k}'" for k in cuts)
    axis = alt.Axis(values=list(range(len(cuts))), labelExpr=f"[{ticks}][datum.value]", grid=False)
    base = alt.Chart().encode(
        x=alt.X("x:Q", title="k", axis=axis, scale=alt.Scale(domain=[-0.4, len(cuts) - 0.6], nice=False)),
        color=scales["color"], opacity=opacity,
    )  # fmt: skip
    y = alt.Y("mean:Q", title=None, scale=alt.Scale(domainMin=0), axis=alt.Axis(format=".6~g", **panel_axis()))
    line = base.mark_line(strokeWidth=1.6).encode(y=y, strokeDash=scales["strokeDash"])
    spans = base.mark_rule(strokeWidth=1.4).encode(y=alt.Y("low:Q", title=None), y2="high:Q")
    points = base.mark_point(size=50).encode(y=y, shape=scales["shape"], tooltip=mean_tips())
    names = [family[0].name.rpartition("@")[0] for family in families]
    measures = [m for family in families for m in family]
    figure: Figure = (
        alt.layer(line, spans, points.add_params(picked), data=alt.InlineData(values=rows))
        .properties(width=WIDE, height=HIGH)
        .facet(alt.Facet("family:N", sort=names, title=None, header=alt.Header(labelAnchor="start")), columns=ACROSS)
        .properties(
            spacing={"row": 26, "column": 26},
            title=headed(
                chart.title,
                [
                    f"{lens.counted(measures, systems)}. Upright line: {INTERVALS}. k is how many hits count; systems "
                    "stand side by side at each k.",
                    told_of_lines,
                    lens.gaps(measures, systems),
                ],
            ),
        )
        .resolve_scale(y="independent")
        .resolve_axis(x="independent")
    )
    return figure


def _lines(lens: Lens) -> tuple[dict[str, dict[int, str]], str]:
    """By label, the system at each cut-off, and a sentence on what is shown.

    A system stands at all of them. Of systems that were tried with several k, those that differ in k alone are one
    line, each at its own k: a list that ends at 3 says nothing of the cut-off 10.
    """
    groups: dict[str, dict[int, str]] = {}
    for system in lens.by_mean:
        configuration = lens.configuration_of.get(system)
        settings = dict(configuration.settings) if configuration is not None else {}
        k = settings.pop("k", None)
        if k is None:
            continue
        key = json.dumps(settings, sort_keys=True, default=str)
        if k in groups.get(key, ()):
            key += K_AT_END.sub("", system)
        groups.setdefault(key, {})[k] = system
    swept = [line for line in groups.values() if len(line) > 1]
    cuts = [m.k for family in cut_families(lens) for m in family if m.k is not None]
    if not swept:
        shown = lens.shown(LINES)
        return {lens.labels[s]: dict.fromkeys(cuts, s) for s in shown}, lens.left_out(shown)
    names = [K_AT_END.sub("", next(iter(line.values()))) or "systems" for line in swept]
    names = [name if names.count(name) == 1 else f"{name} ({i})" for i, name in enumerate(names, 1)]
    labels = distinct(names, LABEL)
    lines = {labels[name]: line for name, line in zip(names, swept, strict=True)}
    more = f"{LINES[1]} of {len(lines)} are shown, the best first." if len(lines) > LINES[1] else ""
    first = dict(list(lines.items())[: LINES[1]])
    return first, f"Each point is of the system that was tried with that k. {more}".strip()


def cut_families(lens: Lens) -> list[list[Measure]]:
    """Ranking measures at two or more cut-offs by rank, best known first, plain ones before those with parameters."""
    families = []
    for family in lens.families:
        cut = sorted((m for m in family if m.k is not None), key=lambda m: m.k or 0)
        if len(cut) > 1 and cut[0].spec.direction != "none" and cut[0].spec.stage == "retrieval":
            families.append(cut)
    place = {name: i for i, name in enumerate(ORDER)}
    return sorted(families, key=lambda family: (len(family[0].given), place.get(family[0].spec.name, len(place))))


chart = Chart(
    "topk_analysis",
    "What the cut-off k does to each measure",
    "Measures over k per system with 95% intervals.",
    make,
    number=3,
)
