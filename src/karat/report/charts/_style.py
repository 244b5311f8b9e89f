"""Style: colours, shapes, sizes and the two themes of all charts.

Colours are those of Okabe and Ito, which people with any kind of colour vision tell apart. No chart relies on colour
alone: series also differ in shape and dash, cells carry their number.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import altair as alt

Theme = Literal["light", "dark"]

BLUE, VERMILION, GREEN, PURPLE = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
ORANGE, SKY, YELLOW, GREY = "#E69F00", "#56B4E9", "#F0E442", "#8A8A8A"
SERIES: dict[Theme, list[str]] = {
    "light": [BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, "#404040"],
    "dark": [SKY, VERMILION, GREEN, PURPLE, ORANGE, YELLOW, "#E0E0E0"],
}
SHAPES = ["circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right"]
DASHES = [[1, 0], [6, 3], [2, 2], [9, 3, 2, 3], [12, 4], [4, 2, 1, 2], [1, 3]]
CELLS = ["#f3f8fc", "#9ecae1", "#3a87c0", "#08306b"]  # from the least value to the greatest
DARK_FROM = 0.64  # share of the scale from which a cell wants white letters

FONT = "Liberation Sans, Arial, Helvetica, sans-serif"  # the first is inside the renderer: the same everywhere
WIDTH = 860  # of a whole chart, about
SMALL, NORMAL, TITLE = 12, 13, 17
CHARACTER = 6.3  # width of one at the size of the subtitle

_COLOURS: dict[Theme, dict[str, str]] = {
    "light": {"text": "#1c1c1c", "soft": "#4a4a4a", "line": "#8c8c8c", "grid": "#e4e4e4"}
    | {"box": "#c9dcec", "ring": "#cfcfcf", "dot": BLUE},
    "dark": {"text": "#f0f0f0", "soft": "#c4c4c4", "line": "#8c8c8c", "grid": "#3a3a3a"}
    | {"box": "#3c566b", "ring": "#4a4a4a", "dot": SKY},
}


def theme(name: Theme = "light", background: str = "transparent") -> dict[str, Any]:
    """The Vega-Lite configuration of a theme: what a page gives to its charts."""
    colours = _COLOURS[name]
    text, soft, line, grid = colours["text"], colours["soft"], colours["line"], colours["grid"]
    labels = {"labelFontSize": SMALL, "titleFontSize": NORMAL, "labelColor": text, "titleColor": soft}
    return {
        "background": background,
        "font": FONT,
        "padding": 16,
        "title": {
            "anchor": "start", "frame": "bounds", "fontSize": TITLE, "color": text, "offset": 16,
            "subtitleFontSize": NORMAL, "subtitleColor": soft, "subtitleLineHeight": 17, "subtitlePadding": 6,
        },
        "axis": labels | {
            "titleFontWeight": "normal", "labelLimit": 0, "titleLimit": 0, "labelPadding": 5, "titlePadding": 8,
            "gridColor": grid, "domainColor": line, "tickColor": line,
        },
        "header": {
            "labelFontSize": NORMAL, "labelFontWeight": "bold", "labelColor": text, "titleColor": soft,
            "labelLimit": 0,
        },
        "legend": labels | {
            "titleFontSize": SMALL, "titleFontWeight": "normal", "labelLimit": 0, "titleLimit": 0, "orient": "bottom",
            "direction": "horizontal", "columnPadding": 18, "rowPadding": 4, "symbolSize": 90, "offset": 14,
        },
        "view": {"stroke": None},
        "text": {"fontSize": SMALL, "color": text},
        "point": {"filled": True, "size": 60},
        "line": {"strokeWidth": 2},
        "range": {"category": SERIES[name], "symbol": SHAPES},
        "style": {
            "interval": {"color": text, "strokeWidth": 1.5},
            "guide": {"color": line, "strokeWidth": 1, "strokeDash": [4, 3]},
            "ring": {"color": colours["ring"], "strokeWidth": 1},
            "box": {"color": colours["box"], "stroke": line},
            "median": {"color": text, "thickness": 2.5},
            "dot": {"color": colours["dot"]},
            "mean": {"color": text},
            "faint": {"color": soft},
        },
    }  # fmt: skip


def headed(text: str, lines: Sequence[str], width: int = WIDTH) -> alt.Title:
    """A title in plain words over its subtitle, both broken to fit the width."""
    import textwrap

    import altair as alt

    fit = max(40, int(width / CHARACTER))
    below = [row for line in lines if line for row in textwrap.wrap(line, fit)]
    title = textwrap.wrap(text, max(30, int(width / 9))) or [""]
    return alt.Title(text=title, subtitle=below)


def tips(**titles: str) -> list[alt.Tooltip]:
    """What the pointer is told: fields of a row by the words that stand before them."""
    import altair as alt

    return [alt.Tooltip(field, type="nominal", title=title) for field, title in titles.items()]


def names_axis() -> dict[str, Any]:
    """How an axis shows the names of systems: broken where `wrapped` put a line's end, the middle beside its row."""
    two_lines = {"test": "indexof(datum.label, '\\n') >= 0", "value": "bottom"}
    return {
        "labelExpr": "split(datum.label, '\\n')",
        "labelBaseline": {"condition": two_lines, "value": "middle"},
        "ticks": False,
        "domain": False,
    }


def row_height(labels: Sequence[str], least: int = 24) -> int:
    """Pixels a row needs for its label."""
    return max(least, 34 if any("\n" in label for label in labels) else least)


def series_scales(labels: Sequence[str]) -> dict[str, Any]:
    """Colour and shape over the field `system`, with one legend, and dash over `line`, its place among the labels.

    A legend that knew the dashes would draw the shapes with broken edges.
    """
    import altair as alt

    domain = list(labels)
    columns = 1 if max(map(len, domain), default=0) > 60 else 2 if max(map(len, domain), default=0) > 28 else 4
    legend = alt.Legend(title=None, columns=columns, symbolOpacity=1)
    dashes = alt.Scale(domain=list(range(len(domain))), range=DASHES)
    return {
        "color": alt.Color("system:N", sort=domain, scale=alt.Scale(domain=domain), legend=legend),
        "shape": alt.Shape("system:N", sort=domain, scale=alt.Scale(domain=domain, range=SHAPES), legend=legend),
        "strokeDash": alt.StrokeDash("line:N", scale=dashes, legend=None),
    }


def panel_axis() -> dict[str, Any]:
    """How the upright axis of one panel of several is written, so that the panels stand in line."""
    return {"tickCount": 5, "minExtent": 34, "maxExtent": 34, "labelFlush": True}


def highlight() -> tuple[Any, Any]:
    """The parameter by which a click on the legend picks series, and the opacity that follows it."""
    import altair as alt

    picked = alt.selection_point(name="picked", fields=["system"], bind="legend")
    return picked, alt.when(picked).then(alt.value(1.0)).otherwise(alt.value(0.12))
