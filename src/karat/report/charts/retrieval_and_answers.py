"""MRR against answer F1: whether better retrieval makes better answers."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import altair as alt
import numpy as np

from karat.core.measure import Measure
from karat.core.text.words import number
from karat.report.charts._chart import Chart, Figure, Missing, Study
from karat.report.charts._lens import LINES, Lens, finite
from karat.report.charts._style import headed, highlight, series_scales, tips

SIDE = 350
RANKS = 5  # of the first relevant hit, told apart; deeper ones are one group


def make(study: Study) -> Figure | Missing:
    """At the left each system by its means; at the right the answers of the best one by where the first hit stood."""
    lens = Lens(study)
    rank, answer = _named(lens, "MRR"), _named(lens, "TokenF1")
    if answer is None:
        return Missing("there are no answers with a score (TokenF1)")
    if rank is None:
        return Missing("MRR was not computed")
    both = [s for s in lens.by_mean if lens.mean(s, rank) is not None and lens.mean(s, answer) is not None]
    systems = both[: LINES[1]]
    if not systems:
        return Missing("no system has both MRR and TokenF1")
    best = lens.best if lens.best in systems else systems[0]
    right = _by_rank(lens, best, rank, answer)
    return alt.hconcat(_systems(lens, systems, rank, answer), right, spacing=50).properties(
        title=headed(
            chart.title,
            [
                f"{lens.counted([rank, answer], systems)}. Left: means, with 95% intervals as crosses. Right: "
                f"answers of {lens.labels[best]} by the rank of the first relevant hit; bar: mean {answer.name}; line: "
                "middle half of the questions.",
                _left_out(systems, both, lens.by_mean),
            ],
            820,
        )
    )


def _left_out(systems: list[str], both: list[str], every: list[str]) -> str:
    """A sentence on systems that do not answer or have no room, where there are any."""
    if len(systems) == len(every):
        return ""
    answering = f"{len(both)} of {len(every)} systems have both scores"
    return f"{answering}." if len(systems) == len(both) else f"{answering}; shown: the {len(systems)} best."


def _named(lens: Lens, name: str) -> Measure | None:
    """The plainest measure of this kind that has a value."""
    return next((m for m in lens.main_measures(1000) if m.spec.name == name), None)


def _systems(lens: Lens, systems: list[str], rank: Measure, answer: Measure) -> alt.LayerChart | alt.FacetChart:
    rows = []
    for system in systems:
        across, up = lens.cell(system, rank), lens.cell(system, answer)
        rows.append({
            "system": lens.labels[system], "name": up["name"], "x": across["mean"], "x0": across["low"],
            "x1": across["high"], "y": up["mean"], "y0": up["low"], "y1": up["high"],
            "retrieval": f"{across['said']} {across['interval']}", "answer": f"{up['said']} {up['interval']}",
        })  # fmt: skip
    scales = series_scales([lens.labels[s] for s in systems])
    picked, opacity = highlight()
    scale, axis = alt.Scale(zero=False, nice=True), alt.Axis(format=".6~g", tickCount=6)
    x = alt.X("x:Q", title=f"mean {rank.name}", scale=scale, axis=axis)
    y = alt.Y("y:Q", title=f"mean {answer.name}", scale=scale, axis=axis)
    base = alt.Chart().encode(color=scales["color"], opacity=opacity)
    return alt.layer(
        base.mark_rule().encode(x=alt.X("x0:Q", title=f"mean {rank.name}"), x2="x1:Q", y=y),
        base.mark_rule().encode(y=alt.Y("y0:Q", title=f"mean {answer.name}"), y2="y1:Q", x=x),
        base.mark_point(size=110)
        .encode(
            x=x, y=y, shape=scales["shape"],
            tooltip=tips(name="system", retrieval=rank.name, answer=answer.name),
        )
        .add_params(picked),
        data=alt.InlineData(values=rows),
    ).properties(width=SIDE, height=SIDE)  # fmt: skip


def _by_rank(lens: Lens, system: str, rank: Measure, answer: Measure) -> alt.LayerChart | alt.FacetChart:
    """Mean answer score by the rank of the first relevant hit."""
    groups: dict[int, list[float]] = defaultdict(list)
    for reciprocal, value in zip(lens.per_question(system, rank), lens.per_question(system, answer), strict=True):
        if reciprocal is not None and value is not None:
            place = round(1 / reciprocal) if reciprocal > 0 else RANKS + 2
            groups[place if reciprocal <= 0 else min(place, RANKS + 1)].append(value)
    words = {RANKS + 1: f"after {RANKS}", RANKS + 2: "not found"}
    domain = [words.get(place, str(place)) for place in range(1, RANKS + 3)]
    rows: list[dict[str, Any]] = []
    for place, name in enumerate(domain, 1):
        values = groups.get(place, [])
        mean = round(sum(values) / len(values), 6) if values else None
        low, high = np.quantile(values, (0.25, 0.75)) if values else (None, None)
        rows.append({
            "rank": name, "mean": mean, "low": finite(low), "high": finite(high), "n": len(values),
            "said": number(mean, 3), "count": f"n={len(values)}", "at": finite(high) or mean or 0,
        })  # fmt: skip
    scale = alt.Scale(domain=[0, 1.05], nice=False) if answer.bounds == (0.0, 1.0) else alt.Scale(domainMin=0)
    x = alt.X("rank:N", sort=domain, title="rank of the first relevant hit", axis=alt.Axis(labelAngle=0))
    y = alt.Y("mean:Q", title=f"mean {answer.name}", scale=scale, axis=alt.Axis(format=".6~g", tickCount=6))
    base = alt.Chart().encode(x=x)
    return alt.layer(
        base.mark_bar(style="box").encode(
            y=y, tooltip=tips(rank="rank", said="mean", n="questions")
        ),
        base.mark_rule(style="interval").encode(y=alt.Y("low:Q", title=f"mean {answer.name}"), y2="high:Q"),
        base.mark_text(baseline="bottom", dy=-4).encode(y=alt.Y("at:Q", title=f"mean {answer.name}"), text="count:N"),
        data=alt.InlineData(values=rows),
    ).properties(width=SIDE, height=SIDE)  # fmt: skip


chart = Chart(
    "retrieval_and_answers",
    "Does better retrieval make better answers?",
    "MRR against answer F1 per system, and the answers of the best one by where the first relevant hit stood.",
    make,
)
