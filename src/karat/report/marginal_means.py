"""Marginal means: a chart of the mean score at each level of each factor of a grid."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from karat.core.errors import UsageError
from karat.core.writing import write_whole
from karat.report._escape import clean
from karat.report._numbers import number
from karat.report.charts._draw import SCALE, steady
from karat.report.charts._style import headed, theme, tips

if TYPE_CHECKING:
    from karat.core.factors import Factored

ENDINGS = (".png", ".svg", ".html")
_LESS = "\ue03c"  # of the private use area: stands nowhere else in a page
WIDE, HIGH, ACROSS = 250, 190, 3


def spec(factored: Factored) -> dict[str, Any]:
    """The Vega-Lite specification: a panel a factor, its levels from left to right, with intervals."""
    import altair as alt

    rows = [
        {"factor": clean(one.factor, 40), "level": clean(one.level, 24), "place": i, "mean": one.mean,
         "low": one.low if one.low is not None else one.mean, "high": one.high if one.high is not None else one.mean,
         "n": one.n, "said": number(one.mean)}
        for i, one in enumerate(factored.levels)
    ]  # fmt: skip
    order = [clean(name, 40) for name in factored.factors]
    axis = alt.Axis(labelAngle=-30 if any(len(str(row["level"])) > 8 for row in rows) else 0)
    x = alt.X("level:N", title=None, sort=alt.EncodingSortField("place", op="min"), axis=axis)
    y = alt.Y("mean:Q", title=clean(factored.score, 40), scale=alt.Scale(zero=False))
    told = tips(factor="factor", level="level", said="mean", n="scores")
    base = alt.Chart().encode(x=x)
    line = base.mark_line(style="faint", strokeDash=[4, 3]).encode(y=y)
    bars = base.mark_rule(style="interval").encode(y=alt.Y("low:Q", title=clean(factored.score, 40)), y2="high:Q")
    points = base.mark_point(style="dot", filled=True, size=70).encode(y=y, tooltip=told)
    around = f"with {factored.by} taken out" if factored.by is not None else "each level by itself"
    figure = (
        alt.layer(line, bars, points, data=alt.InlineData(values=rows))
        .properties(width=WIDE, height=HIGH)
        .facet(alt.Facet("factor:N", sort=order, title=None, header=alt.Header(labelAnchor="start")), columns=ACROSS)
        .resolve_scale(x="independent")
        .properties(
            title=headed(
                f"Mean {clean(factored.score, 40)} at each level of each factor",
                [f"{factored.n:,} scores. Bars: 95% intervals, {around}. The scale does not start at 0."],
            )
        )
    )
    made: dict[str, Any] = figure.to_dict()
    made.pop("config", None)
    return made


def _marked(made: dict[str, Any]) -> dict[str, Any]:
    """The specification with a mark for each `<` of its texts, which could end the script that holds it."""
    marked: dict[str, Any] = json.loads(json.dumps(made).replace("<", _LESS))
    return marked


def _page(html: str) -> str:
    return html.replace(_LESS, "\\u003c")


def write(factored: Factored, path: str | os.PathLike[str]) -> Path:
    """Write the chart as its ending says: .png, .svg, or .html, a page that needs no network."""
    import vl_convert

    place = Path(path)
    ending = place.suffix.lower()
    if ending not in ENDINGS:
        raise UsageError(f"-o {path}: end the name in one of {', '.join(ENDINGS)}.")
    config = theme("light", background="#ffffff")
    if ending == ".html":
        write_whole(place, _page(vl_convert.vegalite_to_html(_marked(spec(factored)), config=config, bundle=True)))
        return place
    svg = steady(vl_convert.vegalite_to_svg(spec(factored), config=config, allowed_base_urls=[]))
    write_whole(place, svg if ending == ".svg" else vl_convert.svg_to_png(svg, scale=SCALE))
    return place
