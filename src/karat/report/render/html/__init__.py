"""HTML: a document as one page that needs no network, under a policy that lets nothing in or out.

Templates escape all that they print; texts are freed of control characters on their way. Tables sort and filter by the
page's own script, which with the charts' runtime is the only one that the policy lets run.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from karat.core.text.wellformed import well_formed
from karat.core.text.words import clean
from karat.report.document import (
    Block,
    Cards,
    Cell,
    ChartBlock,
    Column,
    Detail,
    Document,
    Heading,
    Link,
    Listing,
    Notice,
    Table,
    Text,
    Value,
    Widget,
    write_cell,
)
from karat.report.render.html._scripts import joined

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

BUDGET = 4_700_000  # bytes of the whole page, as far as the data of its widgets can be shortened
FILTERED = 12  # rows from which on a table gets a filter
MARKS = ("", "-", "!", "✓", "✗", "*", "~")
ENTRY = "start.js"  # of the page that stands alone
_CODE = re.compile("`([^`]+)`")
_WEB = re.compile(r"https?://\S+", re.I)
_PAGE = re.compile(r"/(?:(?:run/[^/\\\s]|compare\?)[^\\\s]*)?")  # of `karat view`


@dataclass
class PageSection:
    """A part of the page that its menu leads to."""

    heading: Heading
    blocks: list[Block] = field(default_factory=list)


def render(document: Document) -> str:
    """The document with all its detail as one page."""
    blocks = document.at(Detail.PAGE)
    sections = list(_sections(blocks))
    charts = [block for block in blocks if isinstance(block, ChartBlock)]
    scripts = [*([_runtime()] if charts else []), _script()]
    macros: Any = _environment().get_template("blocks.html").module
    packed: dict[str, Any] = {}
    parts = {id(s): macros.section(s, packed) for s in sections if not _packs(s)}
    data = {"chart-data": data_block("chart-data", _chart_data(charts))} if charts else {}
    spent = sum(len(well_formed(part).encode()) for part in (*parts.values(), *scripts, *data.values(), _style()))
    for section in (s for s in sections if _packs(s)):
        packed |= {name: pack(BUDGET - spent) for name, pack in _packs(section).items()}
        parts[id(section)] = macros.section(section, packed)
        widgets = [block for block in section.blocks if isinstance(block, Widget) and block.data]
        data |= {widget.data: data_block(widget.data, packed[widget.name]) for widget in widgets}
    page = _environment().get_template("page.html").render(
        title=document.title, sections=sections, parts=[parts[id(s)] for s in sections], scripts=scripts,
        style=_style(), policy=_policy(scripts), data=list(data.values()),
    )  # fmt: skip
    return well_formed(page)


def _sections(blocks: Sequence[Block]) -> Iterator[PageSection]:
    """Blocks by the headings with an anchor that they stand under."""
    section = PageSection(Heading(""))
    for block in blocks:
        if isinstance(block, Heading) and block.anchor:
            if section.blocks:
                yield section
            section = PageSection(block)
        else:
            section.blocks.append(block)
    yield section


def _packs(section: PageSection) -> dict[str, Callable[[int], Mapping[str, Any]]]:
    """What packs the data of a section's widgets, by their names."""
    return {block.name: block.pack for block in section.blocks if isinstance(block, Widget) and block.pack is not None}


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    def shown(value: Any) -> Any:
        return clean(value) if isinstance(value, str) and not isinstance(value, Markup) else value

    environment = Environment(
        loader=PackageLoader("karat.report.render.html"), autoescape=True, finalize=shown, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    environment.filters |= {"prose": prose, "href": href, "title_of_chart": chart_title}
    environment.tests |= {
        name: lambda value, kind=kind: isinstance(value, kind)
        for name, kind in {
            "heading": Heading, "text": Text, "note": Notice, "listing": Listing, "table": Table, "chart": ChartBlock,
            "cards": Cards, "widget": Widget, "link": Link, "value": Value,
        }.items()
    }  # fmt: skip
    environment.globals |= {"write": write_cell, "order": _order, "classes": _classes, "marks": MARKS, "few": FILTERED}
    return environment


def prose(value: str | Link) -> Markup:
    """A text of the page, with what stands between backticks as code."""
    from markupsafe import Markup, escape

    if isinstance(value, Link):
        target = href(value)
        text = escape(clean(value.text))
        away = "" if target.startswith(("#", "/")) else Markup(' rel="noopener noreferrer"')
        return Markup('<a href="{}"{}>{}</a>').format(target, away, text) if target else text
    return Markup(_CODE.sub(r"<code>\1</code>", str(escape(clean(value)))))


def href(link: Link) -> str:
    """Where a link may lead: to a place on this page, to another of its server, to the web; nowhere else.

    >>> href(Link("x", "javascript:alert(1)")), href(Link("x", "#q3"))
    ('', '#q3')
    """
    known = link.target.startswith("#") or _WEB.fullmatch(link.target) or _PAGE.fullmatch(link.target)
    return link.target if known else ""


def _order(cell: Cell) -> str:
    """What a cell sorts by, where that is not its text."""
    number = cell.value if isinstance(cell, Value) else cell
    return f"{number:.6g}" if isinstance(number, int | float) else ""


def _classes(column: Column, cell: Cell = None) -> str:
    best = isinstance(cell, Value) and cell.best
    marked = (("n", column.is_figure), ("x", column.detail == Detail.FULL), ("best", best))
    return " ".join(name for name, on in marked if on)


def chart_title(name: str) -> str:
    """A chart's file name as a heading.

    >>> chart_title("2_alpha_sensitivity"), chart_title("radar_chart")
    ('Alpha sensitivity', 'Radar chart')
    """
    words = re.sub(r"^\d+[_-]", "", name).replace("_", " ").strip()
    return words[:1].upper() + words[1:]


def data_block(id_: str, value: Any) -> Markup:
    """A block of JSON that no content can end: every < is written as its code, as are the two line separators."""
    from markupsafe import Markup

    written = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for sign in "<>\u2028\u2029":
        written = written.replace(sign, f"\\u{ord(sign):04x}")
    return Markup('<script type="application/json" id="{}">{}</script>').format(id_, Markup(well_formed(written)))


def _chart_data(charts: Sequence[ChartBlock]) -> dict[str, Any]:
    from karat.report.charts import theme

    return {"specs": [chart.spec for chart in charts], "light": theme("light"), "dark": theme("dark")}


@cache
def _runtime() -> str:
    """Vega-Embed with Vega and Vega-Lite in it as one script, in a scope of its own."""
    import vl_convert

    return f"(()=>{{{vl_convert.javascript_bundle('window.vegaEmbed = vegaEmbed;')}}})();"


@cache
def _script() -> str:
    """The page's own modules in one scope."""
    return joined(ENTRY, _asset)


def _policy(scripts: Sequence[str]) -> str:
    """Only these scripts run, and nothing is fetched from anywhere.

    Styles may be inline: charts and bars set them. Nothing is evaluated: charts are interpreted, not compiled.
    """
    hashes = " ".join(f"'sha256-{base64.b64encode(hashlib.sha256(s.encode()).digest()).decode()}'" for s in scripts)
    return (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; img-src data:; connect-src 'none'; "
        "base-uri 'none'; form-action 'none'"
    )


def _style(*more: str) -> str:
    """The page's styles; `more` are those of parts that it does not have alone."""
    dark = _asset("dark.css")
    return (
        f"{''.join(map(_asset, ('page.css', 'explorer.css', 'answers.css', *more)))}"
        f'@media screen and (prefers-color-scheme:dark){{:root:not([data-theme="light"]){{{dark}}}}}'
        f'@media screen{{:root[data-theme="dark"]{{{dark}}}}}{_asset("print.css")}'
    )


@cache
def _asset(name: str) -> str:
    return (files("karat.report.render.html") / "assets" / name).read_text(encoding="utf-8")
