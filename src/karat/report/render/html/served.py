"""Served: a document as a page of `karat view`. Its scripts are files of the same server, and none stands inline."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

from karat.core.text.wellformed import well_formed
from karat.report.document import ChartBlock, Detail, Document
from karat.report.render import html

STYLE, RUNTIME, ENTRY = "style.css", "vega.js", "view.js"
_KINDS = {".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8"}


@dataclass(frozen=True, kw_only=True)
class PageHead:
    """What a served page has besides its document.

    `page` says what it is and `run` of which run; `data` is what its scripts begin with; `menu` leads to other pages
    (text and address), `here` is the one among them that this is. `again` reads the page again after so many seconds.
    """

    page: str
    run: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)
    menu: Sequence[tuple[str, str]] = ()
    here: str = ""
    again: int | None = None
    after: Sequence[tuple[str, str]] = ()  # links at the end: text and address
    tools: bool = True  # whether its scripts are loaded


def render_page(document: Document, *, head: PageHead) -> str:
    """The document with all its detail as a page of the server."""
    blocks = document.at(Detail.PAGE)
    sections = list(html._sections(blocks))
    charts = [block for block in blocks if isinstance(block, ChartBlock)]
    macros: Any = html._environment().get_template("blocks.html").module
    data = {"view-data": dict(head.data), **({"chart-data": html._chart_data(charts)} if charts else {})}
    scripts = [RUNTIME] if charts else []
    page = html._environment().get_template("served.html").render(
        title=document.title, sections=sections, parts=[macros.section(section, {}) for section in sections],
        head=head, scripts=scripts if head.tools else [], style=STYLE, entry=ENTRY if head.tools else "",
        data=[html.data_block(name, value) for name, value in data.items()],
    )  # fmt: skip
    return well_formed(page)


def asset(name: str) -> tuple[bytes, str] | None:
    """A file that pages load, by its name, with its content type; None where there is none of this name."""
    if name == STYLE:
        return html._style("view.css").encode(), _KINDS[".css"]
    if name == RUNTIME:
        return _runtime_made_apart().encode(), _KINDS[".js"]
    return _assets().get(name)


_making = threading.Lock()


def _runtime_made_apart() -> str:
    """The charts' runtime, once: joining it takes seconds, during which nothing else of a process would run."""
    with _making:
        return _runtime()


@cache
def _runtime() -> str:
    from karat.pool.process import ChildProcess

    child = ChildProcess(f"{__name__}:write_runtime")
    try:
        script: str = child.receive()["script"]
    except EOFError:
        script = html._runtime()
    finally:
        child.end()
    return script


def write_runtime() -> None:
    """What such a child answers."""
    from karat.pool.process import Requests

    Requests().reply(script=html._runtime())


@cache
def _assets() -> dict[str, tuple[bytes, str]]:
    return dict(_read())


def _read() -> Iterator[tuple[str, tuple[bytes, str]]]:
    for file in (files("karat.report.render.html") / "assets").iterdir():
        ending = f".{file.name.rpartition('.')[2]}"
        if ending in _KINDS:
            yield file.name, (file.read_bytes(), _KINDS[ending])
