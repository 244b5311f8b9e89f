"""Grid: a table of figures that finds the layout its width allows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from karat.report._escape import clean

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table
    from rich.text import Text

GAP = 2  # between columns
LABEL = 26  # widest row label before it folds
TITLE = 18  # widest column title before it folds
NAME = 28  # characters of a name before it is cut


@dataclass(frozen=True)
class Cell:
    """A figure, what stands beside or beneath it, and a note that always stands beneath."""

    main: str
    rest: str = ""
    strong: bool = False
    note: str = ""


@dataclass(frozen=True)
class Row:
    """A labelled row; `ends` closes a section."""

    label: str
    cells: Sequence[Cell]
    ends: bool = False


def label_width(corner: str, rows: Sequence[Row]) -> int:
    """Characters the first column needs."""
    from rich.cells import cell_len

    return min(LABEL, max(cell_len(text) for text in [corner, *(r.label for r in rows)]))


def column_widths(columns: Sequence[str], rows: Sequence[Row], *, stacked: bool) -> list[int]:
    """Characters each column needs, on one line or with the rest beneath the figure."""
    from rich.cells import cell_len

    widths = []
    for i, title in enumerate(columns):
        cells = [r.cells[i] for r in rows]
        main, rest, note = (
            max(map(len, parts), default=0)
            for parts in ([c.main for c in cells], [c.rest for c in cells], [c.note for c in cells])
        )
        longest = max(map(cell_len, title.split("\n")))
        figures = max(main, rest) if stacked else main + (rest + 1 if rest else 0)
        widths.append(max(min(longest, TITLE), figures, note))
    return widths


def fits(corner: str, columns: Sequence[str], rows: Sequence[Row], width: int, *, stacked: bool) -> bool:
    """Whether the whole grid stands side by side in a width."""
    needed = column_widths(columns, rows, stacked=stacked)
    return label_width(corner, rows) + sum(needed) + GAP * len(needed) <= width


def grids(corner: str, columns: Sequence[str], rows: Sequence[Row], width: int) -> list[Table]:
    """One table if it fits, rests beside or beneath the figures; else several, each with some of the columns."""
    if fits(corner, columns, rows, width, stacked=False):
        return [_table(corner, columns, rows, stacked=False)]
    room = width - label_width(corner, rows)
    needed = column_widths(columns, rows, stacked=True)
    tables, start = [], 0
    while start < len(columns):
        end, used = start, 0
        while end < len(columns) and (end == start or used + needed[end] + GAP <= room):
            used += needed[end] + GAP
            end += 1
        part = [Row(r.label, r.cells[start:end], r.ends) for r in rows]
        tables.append(_table(corner, columns[start:end], part, stacked=True))
        start = end
    return tables


def named(text: str) -> str:
    """A name of a file, a system or a value, on one line and not too long."""
    return clean(text, NAME)


def texts(values: list[str]) -> list[RenderableType]:
    """Texts as they stand, never markup."""
    from rich.text import Text

    return [Text(v) for v in values]


def title(text: str) -> RenderableType:
    """A heading with an empty line above."""
    from rich.text import Text

    return Text("\n" + text, style="bold")


def listing(*rows: tuple[str, str]) -> Table:
    """Lines with a mark or a name in front, wrapped under themselves."""
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for head, text in rows:
        table.add_row(Text(head), Text(text))
    return table


def plain_table(*titles: str, right: Sequence[int] = ()) -> Table:
    """An empty table in the house style; columns in `right` are aligned to the right."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 1, 0, 0), pad_edge=False, header_style="bold")
    for i, title in enumerate(titles):
        table.add_column(_text(title), justify="right" if i in right else "left", overflow="fold")
    return table


def _table(corner: str, columns: Sequence[str], rows: Sequence[Row], *, stacked: bool) -> Table:
    table = plain_table(corner)
    table.columns[0].width = label_width(corner, rows)  # figures keep their room: names fold instead
    widths = column_widths(columns, rows, stacked=stacked)
    for title, width in zip(columns, widths, strict=True):
        table.add_column(_text(title), justify="right", min_width=width, overflow="fold")
    mains = [max((len(r.cells[i].main) for r in rows), default=0) for i in range(len(columns))]
    rests = [max((len(r.cells[i].rest) for r in rows), default=0) for i in range(len(columns))]
    for row in rows:
        cells = [_written(c, m, r, stacked) for c, m, r in zip(row.cells, mains, rests, strict=True)]
        table.add_row(_text(row.label), *cells, end_section=row.ends)
    return table


def _written(cell: Cell, main: int, rest: int, stacked: bool) -> Text:
    from rich.text import Text

    text = Text(no_wrap=True)
    text.append(cell.main.rjust(main), style="bold" if cell.strong else "")
    if rest:
        text.append("\n" + cell.rest if stacked else " " + cell.rest.ljust(rest), style="dim")
    if cell.note:
        text.append("\n" + cell.note, style="dim")
    return text


def _text(value: str) -> Text:
    from rich.text import Text

    return Text(value)
