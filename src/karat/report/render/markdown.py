"""Markdown: a document as headings, lists and pipe tables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from karat.core.text.words import clean
from karat.report.document import (
    Block,
    Cards,
    Cell,
    Column,
    Detail,
    Document,
    Heading,
    Listing,
    ListItem,
    Notice,
    Table,
    Text,
    Value,
    write_cell,
)

_MARKUP = re.compile(r"([\\`*_{}\[\]<>#|~!$&])")
_MARKS = ("", "-", "!", "✓", "✗", "–", "?")


def render(document: Document, detail: Detail = Detail.FULL) -> str:
    """The document as a page of Markdown."""
    lines = [f"# {escape(document.title)}"] if document.title else []
    blocks = document.at(detail)
    for before, block in zip([None, *blocks], blocks, strict=False):
        if not (isinstance(block, Notice) and isinstance(before, Notice)):
            lines.append("")
        lines += _lines(block, titled=not isinstance(before, Heading))
    return "\n".join(lines).strip("\n") + "\n"


def escape(text: str) -> str:
    """Plain text that Markdown shows as it stands, in a table cell too."""
    return _MARKUP.sub(r"\\\1", clean(text))


def code(text: str) -> str:
    """A code span: nothing in it is markup."""
    line = clean(text)
    fence = "`" * (max((len(run) for run in re.findall("`+", line)), default=0) + 1)
    return f"{fence} {line} {fence}" if line[:1] == "`" or line[-1:] == "`" else f"{fence}{line}{fence}"


def _lines(block: Block, *, titled: bool) -> Iterator[str]:
    if isinstance(block, Heading):
        yield f"{'#' * block.depth} {escape(block.text)}"
    elif isinstance(block, Text):
        yield f"**{escape(block.text)}**" if block.style == "headline" else escape(block.text)
    elif isinstance(block, Notice):
        label = f" ({escape(block.label)})" if block.label else ""
        yield f"- {block.level}{label}: {escape(block.text)}"
    elif isinstance(block, Cards):
        yield from (f"- {escape(c.title)}: {escape(c.figure)}. {escape(c.text)}" for c in block.cards)
    elif isinstance(block, Listing):
        yield from _listing(block)
    elif isinstance(block, Table):
        if titled and block.caption:
            yield from (f"### {escape(block.caption)}", "")
        yield from _table(block)


def _listing(block: Listing) -> Iterator[str]:
    if block.folded:
        yield from (f"<details><summary>{escape(block.folded)}</summary>", "")
    for item in block.items:
        yield from _item(item)
    if block.folded:
        yield from ("", "</details>")


def _item(item: ListItem) -> Iterator[str]:
    text = item.text if isinstance(item.text, str) else item.text.text
    head = f"{item.head} " if item.head in ("✓", "✗", "!") else "" if item.head in _MARKS else f"{escape(item.head)}: "
    yield f"- {head}{escape(text)}"
    yield from (f"  - {escape(line)}" for line in item.lines)
    if item.command:
        yield f"  - {code(item.command)}"


def _table(table: Table) -> Iterator[str]:
    """A pipe table, padded so that its source reads well, and its footnotes."""
    titles = [escape(column.title) for column in table.columns]
    rows = [[_cell(cell, column) for cell, column in zip(row, table.columns, strict=True)] for row in table.rows]
    widths = [max(3, *(len(row[i]) for row in (titles, *rows))) for i in range(len(titles))]
    right = [column.is_figure for column in table.columns]

    def line(cells: Sequence[str]) -> str:
        padded = (c.rjust(w) if r else c.ljust(w) for c, w, r in zip(cells, widths, right, strict=True))
        return "| " + " | ".join(padded) + " |"

    yield line(titles)
    yield "| " + " | ".join("-" * (w - 1) + ":" if r else "-" * w for w, r in zip(widths, right, strict=True)) + " |"
    yield from map(line, rows)
    for note in table.footnotes:
        yield from ("", escape(note))


def _cell(cell: Cell, column: Column) -> str:
    written = write_cell(cell, column.kind)
    text = escape(written.text)
    if isinstance(cell, Value) and cell.best:
        text = f"**{escape(written.text.removesuffix(cell.mark))}**{escape(cell.mark)}"
    return " ".join(filter(None, (text, escape(written.beside), escape(written.note))))
