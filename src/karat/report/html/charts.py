"""Charts: Vega-Lite specifications drawn by the runtime that vl-convert brings, put into the page once."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from karat.report.charts import theme
from karat.report.html._markup import data, section, text


def make(specs: Mapping[str, dict[str, Any]]) -> str:
    """A figure a chart, drawn by the page's script, and the specifications as data."""
    if not specs:
        return ""
    figures = "".join(_figure(name, spec) for name, spec in specs.items())
    lead = "Point at a mark for its values. The menu of a chart saves it as an image."
    none = "<noscript><p>Charts are drawn by a script. Their images lie in the run's charts folder.</p></noscript>"
    held = {"specs": list(specs.values()), "light": theme("light"), "dark": theme("dark")}
    return section("charts", "Charts", f'<div class="figures">{figures}</div>{none}', lead) + data("chart-data", held)


@cache
def runtime() -> str:
    """Vega-Embed with Vega and Vega-Lite in it as one script, in a scope of its own."""
    import vl_convert

    return f"(()=>{{{vl_convert.javascript_bundle('window.vegaEmbed = vegaEmbed;')}}})();"


def _figure(name: str, spec: Mapping[str, Any]) -> str:
    """The place of a chart; its name heads it where it has no title of its own."""
    head = "" if spec.get("title") else f"<figcaption>{text(title(name))}</figcaption>"
    return (
        f'<figure aria-label="{text(title(name))}">{head}<div class="chart" data-chart="{text(name)}"></div></figure>'
    )


def title(name: str) -> str:
    """A chart's file name as a heading.

    >>> title("2_alpha_sensitivity"), title("radar_chart")
    ('Alpha sensitivity', 'Radar chart')
    """
    words = re.sub(r"^\d+[_-]", "", name).replace("_", " ").strip()
    return words[:1].upper() + words[1:]
