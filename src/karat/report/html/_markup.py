"""Markup: text made safe for a page, and the tables that its script lets readers sort and filter."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from karat.core.text.wellformed import well_formed
from karat.report._escape import clean

_CODE = re.compile("`([^`]+)`")
FILTERED = 12  # rows from which on a table gets a filter


def text(value: object) -> str:
    """Any value as one line of page text.

    >>> text('<b>"x"</b>')
    '&lt;b&gt;&quot;x&quot;&lt;/b&gt;'
    """
    return escape(clean(str(value)))


def prose(value: object) -> str:
    """The same, with what stands between backticks as code."""
    return _CODE.sub(r"<code>\1</code>", text(value))


def plain(value: str) -> str:
    """Text of several lines without the characters that nobody sees; the page's script shows it as it stands."""
    return "\n".join(clean(line) for line in well_formed(value).splitlines())


def data(id_: str, value: Any) -> str:
    """A block of JSON that no content can end: every < is written as its code, as are the two line separators."""
    written = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for sign in "<>\u2028\u2029":
        written = written.replace(sign, f"\\u{ord(sign):04x}")
    return f'<script type="application/json" id="{escape(id_)}">{well_formed(written)}</script>'


def section(id_: str, title: str, body: str, lead: str = "") -> str:
    """A part of the page that its menu leads to; `lead` is one sentence of markup below the title."""
    lead = f'<p class="lead">{lead}</p>' if lead else ""
    return f'<section id="{id_}" aria-labelledby="{id_}-title"><h2 id="{id_}-title">{title}</h2>{lead}{body}</section>'


def bullets(lines: Iterable[str]) -> str:
    """A list of markup."""
    return "<ul>" + "".join(f"<li>{line}</li>" for line in lines) + "</ul>"


def terms(pairs: Iterable[tuple[str, str]]) -> str:
    """Names beside what they stand for, both markup."""
    return '<dl class="terms">' + "".join(f"<div><dt>{a}</dt><dd>{b}</dd></div>" for a, b in pairs) + "</dl>"


def folded(summary: str, body: str, *, opened: bool = False) -> str:
    """What is read on demand."""
    return f"<details{' open' if opened else ''}><summary>{summary}</summary>{body}</details>"


@dataclass(frozen=True)
class Column:
    """A column: numbers stand right and sort as numbers; `pick` offers its values as a filter.

    `extra` columns wait until all are asked for; `hint` is what the title stands for.
    """

    title: str
    number: bool = False
    pick: bool = False
    extra: bool = False
    hint: str = ""


@dataclass(frozen=True)
class Box:
    """A table cell that is more than its text: markup, and the value it sorts by."""

    markup: str
    order: float | None = None
    kind: str = ""  # class


Row = Sequence["str | Box"]


def table(title: str, columns: Sequence[Column], rows: Sequence[Row]) -> str:
    """A table whose first column names its rows. Texts and the title are markup already, the title without elements."""
    filtered = " data-filter" if len(rows) >= FILTERED else ""
    heads = "".join(_head(c) for c in columns)
    body = "".join("<tr>" + "".join(_cell(i, c, columns[i]) for i, c in enumerate(row)) + "</tr>" for row in rows)
    return (
        f'<div class="table"{filtered}><h3>{title}</h3>'
        f'<div class="scroll" tabindex="0" role="region" aria-label="{title}"><table aria-label="{title}">'
        f"<thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table></div></div>"
    )


def _head(column: Column) -> str:
    kinds = " ".join(k for k, on in (("n", column.number), ("x", column.extra)) if on)
    kind = f' class="{kinds}"' if kinds else ""
    hint = f' title="{escape(column.hint)}"' if column.hint else ""
    return f'<th scope="col"{kind}{hint}{" data-pick" if column.pick else ""}>{column.title}</th>'


def _cell(place: int, content: str | Box, column: Column) -> str:
    box = content if isinstance(content, Box) else Box(content)
    kinds = " ".join(k for k in ("n" * column.number, "x" * column.extra, box.kind) if k)
    kind = f' class="{kinds}"' if kinds else ""
    order = "" if box.order is None else f' data-v="{box.order:.6g}"'
    return f'<th scope="row"{kind}{order}>{box.markup}</th>' if place == 0 else f"<td{kind}{order}>{box.markup}</td>"
