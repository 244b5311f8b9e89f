"""Seconds per question, per system."""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np

from karat.core.text.words import amount, clean
from karat.report.charts._chart import Chart, Figure, Missing, Study
from karat.report.charts._lens import BARS, Lens, finite
from karat.report.charts._style import headed, names_axis, row_height, tips

WIDE = 520
SHARES = {"p5": 0.05, "p25": 0.25, "p50": 0.5, "p75": 0.75, "p95": 0.95}
APART = 30  # from this ratio on the scale is logarithmic


def make(study: Study) -> Figure | Missing:
    """Percentiles, since a mean of times is a tale of the slowest."""
    lens = Lens(study)
    times = {s: row for s in lens.shown(BARS) if (row := _times(study, s)) is not None}
    if not times:
        return Missing("no times were taken")
    slowest = max(row["p95"] for row in times.values())
    factor, unit = (1000.0, "milliseconds") if slowest < 0.5 else (1.0, "seconds")
    rows: list[dict[str, Any]] = []
    for system, row in times.items():
        scaled = {name: finite(value * factor) for name, value in row.items() if name != "n"}
        words = f"{amount(scaled['p50'])} / {amount(scaled['p95'])}"
        rows.append(
            {"system": lens.wrapped(system), "name": clean(system, 120), "n": int(row["n"]), "said": words} | scaled
        )
    ends = [row[name] for row in rows for name in SHARES if row.get(name)]
    far = bool(ends) and max(ends) / min(ends) > APART and all(row.get("p50") for row in rows)
    domain = lens.domain(times)
    scale = (
        alt.Scale(type="log", domain=[min(ends) * 0.8, max(ends) * 1.25], nice=False) if far else alt.Scale(zero=True)
    )
    title = f"{unit} per question" + (" (logarithmic scale)" if far else "")

    def across(name: str) -> alt.X:
        axis = alt.Axis(format=".6~g", tickCount=6)
        return alt.X(f"{name}:Q", title=title, scale=scale, axis=axis)

    base = alt.Chart().encode(y=alt.Y("system:N", sort=domain, title=None, axis=alt.Axis(**names_axis())))
    tooltip = tips(name="system", p50="median", p95="95%", n="questions")
    sizes = sorted({row["n"] for row in rows})
    n = f"n = {sizes[0]:,}" + (f" to {sizes[-1]:,}" if len(sizes) > 1 else "") + " questions with a time"
    n += ", a sample that was searched one at a time" if any(system in study.timed for system in times) else ""
    untimed = [lens.labels[s] for s in lens.shown(BARS) if s not in times]
    gap = (
        f"No times: {', '.join(untimed[:4])}{f' and {len(untimed) - 4} more' if untimed[4:] else ''}."
        if untimed
        else ""
    )
    return alt.layer(
        base.mark_rule(style="interval").encode(x=across("p5"), x2="p95:Q"),
        base.mark_bar(style="box", height={"band": 0.55}).encode(x=across("p25"), x2="p75:Q", tooltip=tooltip),
        base.mark_point(style="dot", shape="circle", size=90).encode(x=across("p50"), tooltip=tooltip),
        base.mark_text(align="left").encode(x=alt.value(WIDE + 8), text="said:N"),
        data=alt.InlineData(values=rows),
    ).properties(
        width=WIDE,
        height=alt.Step(row_height(domain, 28)),
        title=headed(
            chart.title,
            [
                f"{n}. Dot: median; box: middle half; line: from 5% to 95% of the questions. "
                f"At the right: median / 95% in {unit}. These are spreads, not intervals of a mean.",
                lens.left_out(lens.shown(BARS)),
                gap,
            ],
            WIDE + 160,
        ),
    )


def _times(study: Study, system: str) -> dict[str, float] | None:
    """Percentiles of a system's seconds of whole questions; the median and 95% where only these are known."""
    answers = study.answers.get(system, {}).values()
    seconds = [answer.seconds_total for answer in answers] if answers else study.seconds.get(system, ())
    taken = np.array([s for s in seconds if s is not None and np.isfinite(s)])
    if len(taken):
        return {name: float(np.quantile(taken, share)) for name, share in SHARES.items()} | {"n": len(taken)}
    usage = study.evaluation.usage_of(system, "seconds")
    return None if usage is None else {"p5": usage.p50, "p50": usage.p50, "p95": usage.p95, "n": usage.n}


chart = Chart("latency", "How long a question takes", "Seconds per question per system, as percentiles.", make)
