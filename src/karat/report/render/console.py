"""Console: a document for a terminal.

Readable without colour, in a pipe and in a narrow window; where a terminal cannot show a character, a plain one stands
in.
"""

from __future__ import annotations

import io
import os
import re
import shlex
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, TextIO

from karat.core.text.words import clean
from karat.report.document import (
    Block,
    Cards,
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
    Written,
    level_of,
    write_cell,
)

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table as RichTable

WIDTH = 100
GAP = 2  # between columns
LABEL = 28  # widest text column before it folds, where room is short
LINE = 160  # characters of a cell or a line of a listing, unless all is asked for
COMMAND = 72  # widest line of a command
PLAIN = str.maketrans(
    {"–": "-", "…": "~", "─": "-", "·": "|", "±": "/", "≤": "<", "→": ">", "’": "'", "✓": "+", "✗": "-"}
)


def show(document: Document, stream: TextIO, *, quiet: bool = False, verbose: bool = False) -> None:
    """Write to a stream what it can show: colour on a terminal (unless NO_COLOR), plain text elsewhere."""
    import shutil

    is_terminal = stream.isatty()
    columns = shutil.get_terminal_size((WIDTH, 24)).columns if is_terminal or "COLUMNS" in os.environ else WIDTH
    colour = is_terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    encoding = stream.encoding or "utf-8"
    stream.write(render(document, level_of(quiet, verbose), width=columns, colour=colour, encoding=encoding))


def render(
    document: Document,
    detail: Detail = Detail.BRIEF,
    *,
    width: int = WIDTH,
    colour: bool = False,
    encoding: str = "utf-8",
) -> str:
    """The document as text of this width that the encoding holds."""
    from rich.console import Console

    width = max(40, width)
    out = io.StringIO()
    console = Console(
        file=out, width=width, force_terminal=colour, color_system="standard" if colour else None, markup=False,
        highlight=False, emoji=False, legacy_windows=False, force_jupyter=False, _environ={},
    )  # fmt: skip
    for part in _parts(document.at(detail), width, None if detail >= Detail.FULL else LINE):
        console.print(part)
    text = "\n".join(line.rstrip() for line in out.getvalue().split("\n"))
    text = re.sub("\n{3,}", "\n\n", text).strip("\n")
    return _encodable(f"{text}\n" if text else "", encoding)


def _encodable(text: str, encoding: str) -> str:
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return text.translate(PLAIN).encode(encoding, "replace").decode(encoding)
    return text


def _parts(blocks: Sequence[Block], width: int, longest: int | None) -> Iterator[RenderableType]:
    from rich.text import Text as RichText

    before: Block | None = None
    for block in blocks:
        if isinstance(block, Heading):
            yield RichText("\n" + clean(block.text), style="bold")
        elif isinstance(block, Text):
            yield RichText(clean(block.text), style="bold" if block.style == "headline" else "")
        elif isinstance(block, Notice):
            label = f"{block.label}: " if block.label else ""
            mark = "!" if block.level == "warning" else "-"
            yield _listing([ListItem(mark, label + block.text)], None)
        elif isinstance(block, Listing):
            yield _listing(block.items, longest)
        elif isinstance(block, Cards):
            yield _listing([ListItem(c.title, f"{c.figure}. {c.text}") for c in block.cards], longest)
        elif isinstance(block, Table):
            yield from _table(block, width, longest, titled=not isinstance(before, Heading))
        before = block


def _listing(items: Sequence[ListItem], longest: int | None) -> RenderableType:
    """Lines with a mark or a name in front, wrapped under themselves."""
    from rich.table import Table as RichTable
    from rich.text import Text as RichText

    grid = RichTable.grid(padding=(0, 2, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for item in items:
        text = RichText(clean(item.text if isinstance(item.text, str) else item.text.text, None))
        for line in item.lines:
            text.append("\n" + clean(line, longest), style="dim")
        if item.command:
            text.append("\n" + _command(item.command))
        head = clean(item.head)
        grid.add_row(RichText(head if len(head) <= LABEL else "…" + head[1 - LABEL :]), text)
    return grid


def _command(command: str) -> str:
    r"""A command on lines of its own, each but the last going on after a backslash.

    >>> print(_command("karat testset check questions.jsonl a-rather-long-name-of-an.index --match quote"))
    karat testset check questions.jsonl a-rather-long-name-of-an.index \
      --match quote
    """
    first, *words = map(shlex.quote, shlex.split(clean(command)))
    lines = [first]
    for word in words:
        if len(lines[-1]) + len(word) > COMMAND:
            lines[-1] += " \\"
            lines.append(f"  {word}")
        else:
            lines[-1] += f" {word}"
    return "\n".join(lines)


def _table(table: Table, width: int, longest: int | None, *, titled: bool) -> Iterator[RenderableType]:
    """One table where it fits, what stands beside figures beneath them if need be; else several side parts of it."""
    from rich.text import Text as RichText

    if titled and table.caption:
        yield RichText("\n" + clean(table.caption), style="bold")
    columns = table.columns
    cells = [[write_cell(row[i], column.kind) for row in table.rows] for i, column in enumerate(columns)]
    labels = next((i for i, column in enumerate(columns) if column.is_figure), len(columns))
    spread = [_column_width(column, cells[i], stacked=False) for i, column in enumerate(columns)]
    stacked = sum(spread) + GAP * len(spread) > width
    if stacked:
        spread = [_column_width(column, cells[i], stacked=True) for i, column in enumerate(columns)]
    room = [(_longest(column, "text"), _longest(column, "beside")) for column in cells]
    for part in _side_parts(spread, labels, width):
        drawn = _empty_table([(columns[i], spread[i]) for i in part], fold=sum(spread[i] + GAP for i in part) > width)
        for number, row in enumerate(table.rows):
            written = [_cell(row[i], cells[i][number], room[i], stacked=stacked, longest=longest) for i in part]
            drawn.add_row(*written, style="bold" if number in table.best else "")
        yield drawn
        yield ""
    for line in table.footnotes:
        yield RichText(clean(line))


def _side_parts(widths: Sequence[int], labels: int, width: int) -> Iterator[list[int]]:
    """Columns that stand side by side: the labels, and as many of the others as fit."""
    head = list(range(labels))
    room = width - sum(widths[i] + GAP for i in head)
    part, used = list(head), 0
    for i in range(labels, len(widths)):
        if len(part) > labels and used + widths[i] + GAP > room:
            yield part
            part, used = list(head), 0
        part.append(i)
        used += widths[i] + GAP
    yield part


def _column_width(column: Column, cells: Sequence[Written], *, stacked: bool) -> int:
    """Characters a column needs: figures are never broken, titles between words, texts fold where room is short."""
    from rich.cells import cell_len

    title = max(map(cell_len, _title(column).split("\n")), default=0)
    if not column.is_figure:
        longest = max((cell_len(clean(cell.text)) for cell in cells), default=0)
        words = max((cell_len(word) for cell in cells for word in clean(cell.text).split()), default=0)
        return max(title, min(longest, LABEL if stacked else 2 * LABEL), min(words, LABEL))
    main, beside, note = (_longest(cells, name) for name in ("text", "beside", "note"))
    return max(title, max(main, beside) if stacked else main + (beside + 1 if beside else 0), note)


def _title(column: Column) -> str:
    """A title that breaks at its parameters and between its words, where that makes its column narrower."""
    title = clean(column.title).replace("(", "\n(").replace(", ", ",\n")
    return title.replace(" ", "\n") if column.is_figure and len(title) > 12 else title


def _empty_table(columns: Sequence[tuple[Column, int]], *, fold: bool) -> RichTable:
    from rich import box
    from rich.table import Table as RichTable
    from rich.text import Text as RichText

    table = RichTable(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 1, 0, 0), pad_edge=False, header_style="bold")
    for column, width in columns:
        if column.is_figure:
            table.add_column(RichText(_title(column)), justify="right", min_width=width, overflow="fold")
        else:
            table.add_column(RichText(_title(column)), width=None if fold else width, overflow="fold")
    return table


def _longest(cells: Sequence[Written], name: str) -> int:
    return max((len(getattr(cell, name)) for cell in cells), default=0)


def _cell(
    cell: object, written: Written, room: tuple[int, int], *, stacked: bool, longest: int | None
) -> RenderableType:
    """A cell of a column whose figures end in one line, and what stands beside them begins in one."""
    from rich.text import Text as RichText

    main, beside = room
    if not beside and not written.note:
        return RichText(clean(written.text, longest))
    text = RichText(no_wrap=True)
    text.append(written.text.rjust(main), style="bold" if isinstance(cell, Value) and cell.best else "")
    if beside:
        text.append("\n" + written.beside if stacked else " " + written.beside.ljust(beside), style="dim")
    if written.note:
        text.append("\n" + clean(written.note), style="dim")
    return text
