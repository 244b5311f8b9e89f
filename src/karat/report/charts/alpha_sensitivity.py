"""The main measures over alpha, a panel each, one line per way of fusing."""

from __future__ import annotations

import json
import re
from typing import Any

import altair as alt

from karat.core.text.words import clean
from karat.report.charts._chart import Chart, Figure, Missing, Study
from karat.report.charts._lens import INTERVALS, LINES, Lens, distinct, mean_tips
from karat.report.charts._style import headed, highlight, panel_axis, series_scales
from karat.results.study import Configuration

PANELS, ACROSS, WIDE, HIGH = 6, 3, 236, 170
ALPHA_AT_END = re.compile(r"(?<![\W_])[\W_]*+(?:alpha|α|a)?[\W_]*+(?<!\d)\d++(?:\.\d++)?\s*+$", re.I)


def make(study: Study) -> Figure | Missing:
    """Lines with bands; the best alpha of each line and panel is ringed."""
    lens = Lens(study)
    systems_of_study = [c for c in study.configurations if c.name in lens.systems]
    k = _shown_k(systems_of_study, study.k)
    sweeps = _sweeps([c for c in systems_of_study if k is None or c.settings.get("k", k) == k])
    if not sweeps:
        return Missing("no two systems differ in alpha alone")
    measures = lens.main_measures(PANELS)
    if not measures:
        return Missing("no measure has a value for any system")
    order = {system: place for place, system in enumerate(lens.by_mean)}
    lines = sorted(sweeps, key=lambda label: min(order[c.name] for c in sweeps[label]))[: LINES[1]]
    lines = [label for label in sweeps if label in lines]
    rows: list[dict[str, Any]] = []
    for label in lines:
        for measure in measures:
            cells = [
                lens.cell(c.name, measure) | {"system": label, "line": lines.index(label), "alpha": c.alpha}
                for c in sweeps[label]
            ]
            sign = -1 if measure.spec.direction == "lower" else 1
            known = [sign * cell["mean"] for cell in cells if cell["mean"] is not None]
            for cell in cells:
                cell["top"] = bool(known) and cell["mean"] is not None and sign * cell["mean"] == max(known)
            rows += cells
    systems = [c.name for label in lines for c in sweeps[label]]
    scales = series_scales(lines)
    picked, opacity = highlight()
    x = alt.X("alpha:Q", title="alpha", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(tickCount=5, format=".6~g"))
    y = alt.Y(
        "mean:Q", title=None, scale=alt.Scale(zero=False, nice=True), axis=alt.Axis(format=".6~g", **panel_axis())
    )
    base = alt.Chart().encode(x=x)
    faint = alt.when(picked).then(alt.value(0.16)).otherwise(alt.value(0.02))
    band = base.mark_area().encode(y=alt.Y("low:Q", title=None), y2="high:Q", color=scales["color"], opacity=faint)
    line = base.mark_line().encode(y=y, color=scales["color"], strokeDash=scales["strokeDash"], opacity=opacity)
    points = base.mark_point(size=45).encode(
        y=y, color=scales["color"], shape=scales["shape"], opacity=opacity,
        tooltip=mean_tips(alpha="alpha"),
    )  # fmt: skip
    ring = (
        base.transform_filter("datum.top")
        .mark_point(shape="circle", filled=False, size=190, strokeWidth=1.6)
        .encode(y=y, color=scales["color"], opacity=opacity)
    )
    count = f"{len(lines)} of {len(sweeps)} sweeps are shown, those with the best systems."
    more = count if len(lines) < len(sweeps) else ""
    figure: Figure = (
        alt.layer(band, line, points.add_params(picked), ring, data=alt.InlineData(values=rows))
        .properties(width=WIDE, height=HIGH)
        .facet(
            alt.Facet("measure:N", sort=[m.name for m in measures], title=None, header=alt.Header(labelAnchor="start")),
            columns=ACROSS,
        )
        .properties(
            spacing={"row": 26, "column": 26},
            title=headed(
                chart.title,
                [
                    f"{lens.counted(measures, systems)}. alpha is the weight of the dense engine: 0 is sparse "
                    f"alone, 1 dense alone. Band: {INTERVALS}; ring: best alpha of its line. "
                    "The scales do not start at 0.",
                    f"Of the systems with several k, those with k = {k}. {more}" if k is not None else more,
                    lens.gaps(measures, systems),
                ],
            ),
        )
        .resolve_scale(y="independent")
        .resolve_axis(x="independent")
    )
    return figure


def _shown_k(configurations: list[Configuration], cut: int) -> int | None:
    """Of several k that systems were tried with, the study's cut-off or the nearest above it; None: there is one k."""
    tried = {c.settings["k"] for c in configurations if c.settings.get("k") is not None}
    return min(tried, key=lambda k: (k < cut, abs(k - cut))) if len(tried) > 1 else None


def _sweeps(configurations: list[Configuration]) -> dict[str, list[Configuration]]:
    """Systems that differ in alpha alone, in order of alpha, by what tells the groups apart.

    One leg alone has no fusion: it is the end of every sweep that lacks it.
    """
    alphas = [c for c in configurations if c.alpha is not None]
    single = {c.alpha: c for c in alphas if "fusion" not in c.settings and c.alpha in (0.0, 1.0)}
    fused = [c for c in alphas if c not in single.values()]
    groups: dict[str, list[Configuration]] = {}
    for c in fused:
        key = json.dumps({k: v for k, v in c.settings.items() if k != "alpha"}, sort_keys=True, default=str)
        if any(c.alpha == other.alpha for other in groups.get(key, ())):
            key += ALPHA_AT_END.sub("", c.name)
        groups.setdefault(key, []).append(c)
    for group in groups.values():
        group += [c for alpha, c in single.items() if all(alpha != other.alpha for other in group)]
        group.sort(key=lambda c: c.alpha or 0.0)
    if not fused and len(single) == 2:
        groups[""] = sorted(single.values(), key=lambda c: c.alpha or 0.0)
    groups = {key: group for key, group in groups.items() if len({c.alpha for c in group}) > 1}
    labels = distinct_settings({key: _fused(group) for key, group in groups.items()})
    return {labels[key]: group for key, group in groups.items()}


def _fused(group: list[Configuration]) -> Configuration:
    return next((c for c in group if "fusion" in c.settings), group[0])


def distinct_settings(groups: dict[str, Configuration]) -> dict[str, str]:
    """A name per group from the settings in which they differ; from the system's name where they do not."""
    settings = {key: {k: v for k, v in c.settings.items() if k != "alpha"} for key, c in groups.items()}
    names = dict.fromkeys(k for own in settings.values() for k in own)
    differ = [n for n in names if len({json.dumps(s.get(n), default=str) for s in settings.values()}) > 1]
    texts: dict[str, str] = {}
    for key, own in settings.items():
        parts = [_setting(name, own[name]) for name in differ if own.get(name) is not None]
        if len(groups) == 1:
            parts = [str(own.get("fusion", "hybrid"))]
        text = ", ".join(parts)
        if not text or text in texts.values():
            text = ALPHA_AT_END.sub("", groups[key].name) or groups[key].name
        texts[key] = clean(text)
    labels = distinct(
        [f"{text}\x00{key}" if list(texts.values()).count(text) > 1 else text for key, text in texts.items()], 44
    )
    return dict(zip(texts, labels.values(), strict=True))


def _setting(name: str, value: Any) -> str:
    return value if isinstance(value, str) else f"{name} {value}"


chart = Chart(
    "alpha_sensitivity",
    "What alpha does to the main measures",
    "The main measures over the weight of the dense engine, by way of fusing, with 95% intervals as bands.",
    make,
    number=2,
)
