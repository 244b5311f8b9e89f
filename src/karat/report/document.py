"""Document: what a report says, in blocks that every medium can show.

Builders (`build/`) make documents of results; renderers (`render/`) show any document. Texts are as they were read:
each renderer makes them safe for its medium. Figures are numbers: `write_cell` alone says how they are written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from enum import IntEnum
from typing import Any, Literal

from karat.core.text.words import NONE, Unit, amount, digits_of, ends, figure, number, percent, probability, signed

Kind = Literal["text", "value", "score", "difference", "p", "count", "percent", "amount"]


class Detail(IntEnum):
    """How much is shown. A block, a column and a row have the least detail at which they appear."""

    QUIET = 0  # with -q too
    BRIEF = 1  # on the screen
    FULL = 2  # with -v, and in files
    PAGE = 3  # on pages that readers filter and search


@dataclass(frozen=True)
class Value:
    """A measured figure with all that must stand beside it."""

    value: float | None
    low: float | None = None
    high: float | None = None
    _: KW_ONLY
    std: float | None = None
    unit: Unit = ""
    signed: bool = False
    best: bool = False
    mark: str = ""  # right behind the figure: * best, ~ overlaps the best, letters of beaten systems
    note: str = ""
    digits: int | None = None  # decimals; by the width of the interval unless said
    share: float | None = None  # where it lies between the ends of its range, for a bar


@dataclass(frozen=True)
class Link:
    """A text that leads somewhere: to an anchor of the page (#q3) or to an address of the web."""

    text: str
    target: str


Cell = str | int | float | None | Value | Link


@dataclass(frozen=True)
class Written:
    """A cell in words: the figure, and what stands beside or beneath it."""

    text: str
    beside: str = ""
    note: str = ""


@dataclass(frozen=True)
class Column:
    """A column. `pick` offers its values as a filter where that can be; `hint` says what the title stands for.

    One that is `optional` is left out where no row has anything in it.
    """

    title: str
    kind: Kind = "text"
    _: KW_ONLY
    detail: Detail = Detail.QUIET
    pick: bool = False
    optional: bool = False
    hint: str = ""

    @property
    def is_figure(self) -> bool:
        return self.kind != "text"


def text_columns(*titles: str) -> list[Column]:
    """Columns of texts."""
    return [Column(title) for title in titles]


def count_columns(*titles: str) -> list[Column]:
    """Columns of counts."""
    return [Column(title, "count") for title in titles]


_WRITERS: dict[Kind, Callable[[Any], str]] = {
    "score": number, "difference": signed, "p": probability, "percent": percent, "amount": amount, "value": number,
    "count": lambda n: f"{n:,}", "text": str,
}  # fmt: skip


def write_cell(cell: Cell, kind: Kind = "text") -> Written:
    """A cell as every medium writes it.

    >>> write_cell(Value(0.5123, 0.4671, 0.5563, mark="*"))
    Written(text='.51*', beside='[.47, .56]', note='')
    >>> write_cell(1200, "count").text, write_cell(0.0004, "p").text, write_cell(None).text
    ('1,200', '< .001', '–')
    """
    if isinstance(cell, Value):
        digits = digits_of(cell.low, cell.high) if cell.digits is None else cell.digits
        plus = "+" if cell.signed and cell.value is not None and round(cell.value, digits) > 0 else ""
        text = f"{plus}{figure(cell.value, cell.unit, digits)}{cell.mark}"
        spread = f"±{figure(cell.std, cell.unit, digits)}" if cell.std is not None else ""
        beside = " ".join(filter(None, (spread, ends(cell.low, cell.high, cell.unit, digits))))
        return Written(text, beside, cell.note)
    if isinstance(cell, Link):
        return Written(cell.text)
    if cell is None:
        return Written(NONE)
    return Written(cell if isinstance(cell, str) else _WRITERS[kind](cell))


@dataclass(frozen=True, kw_only=True)
class Block:
    """A part of a document."""

    detail: Detail = Detail.BRIEF

    def at(self, detail: Detail) -> Block:
        """What of it is shown at a detail."""
        return self


@dataclass(frozen=True)
class Heading(Block):
    """A heading; with an anchor it begins a part that the page's menu leads to by `menu`."""

    text: str
    depth: int = 2
    anchor: str = ""
    menu: str = ""


@dataclass(frozen=True)
class Text(Block):
    """A paragraph."""

    text: str
    style: Literal["plain", "headline", "lead"] = "plain"


@dataclass(frozen=True)
class Notice(Block):
    """What the reader must know; `label` names the guard that fired."""

    text: str
    level: Literal["info", "warning"] = "info"
    label: str = ""


@dataclass(frozen=True)
class ListItem:
    """A line with a mark or a name in front, and what stands beneath: lines, what to do, a command.

    With -q the lines are left out; in full `more` stand in their place, where there are any.
    """

    head: str
    text: str | Link
    under: tuple[str, ...] = ()
    _: KW_ONLY
    more: tuple[str, ...] = ()
    remedy: str = ""
    command: str = ""

    def at(self, detail: Detail) -> ListItem:
        if detail == Detail.QUIET:
            return replace(self, under=())
        return replace(self, under=self.more) if self.more and detail >= Detail.FULL else self

    @property
    def lines(self) -> list[str]:
        """What stands beneath in words."""
        return [*self.under, *([f"→ {self.remedy}"] if self.remedy else [])]


@dataclass(frozen=True)
class Listing(Block):
    """Items; beyond `most` they wait for more detail. `folded` is the title under which a page folds it away."""

    items: Sequence[ListItem]
    _: KW_ONLY
    most: int | None = None
    folded: str = ""

    def at(self, detail: Detail) -> Listing:
        items = [item.at(detail) for item in self.items]
        if detail < Detail.FULL and self.most is not None and len(items) > self.most:
            items = [*items[: self.most], ListItem("", left_out(len(items) - self.most))]
        return replace(self, items=items)


@dataclass(frozen=True)
class Table(Block):
    """A table whose first column names its rows. Rows beyond `most` wait for more detail."""

    caption: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    _: KW_ONLY
    most: int | None = None
    best: frozenset[int] = frozenset()  # rows
    footnotes: Sequence[str] = ()

    def at(self, detail: Detail) -> Table:
        shown = [
            i for i, column in enumerate(self.columns)
            if column.detail <= detail and not (column.optional and all(row[i] in (None, "") for row in self.rows))
        ]  # fmt: skip
        rows = self.rows if detail >= Detail.FULL or self.most is None else self.rows[: self.most]
        hidden = len(self.rows) - len(rows)
        return replace(
            self,
            columns=[self.columns[i] for i in shown],
            rows=[[row[i] for i in shown] for row in rows],
            footnotes=[*self.footnotes, *([left_out(hidden)] if hidden else [])],
        )


@dataclass(frozen=True)
class ChartBlock(Block):
    """A Vega-Lite specification, for media that draw."""

    name: str
    spec: Mapping[str, Any]
    detail: Detail = field(default=Detail.PAGE, kw_only=True)


@dataclass(frozen=True)
class Card:
    """A figure under its title, and what it says."""

    title: str
    figure: str
    text: str
    target: str = ""  # where the figure leads


@dataclass(frozen=True)
class Cards(Block):
    """Figures side by side."""

    cards: Sequence[Card]
    detail: Detail = field(default=Detail.PAGE, kw_only=True)


@dataclass(frozen=True)
class Widget(Block):
    """A part that a page's script fills: `pack` makes its data for so many bytes; `text` stands in without a script."""

    name: str
    text: str
    data: str = ""
    pack: Callable[[int], Mapping[str, Any]] | None = None
    detail: Detail = field(default=Detail.PAGE, kw_only=True)


@dataclass(frozen=True)
class Document:
    """Blocks under a title."""

    title: str
    blocks: Sequence[Block]

    def at(self, detail: Detail) -> list[Block]:
        """The blocks of a detail, without what waits for more, and without headings over nothing."""
        shown = [block.at(detail) for block in self.blocks if block.detail <= detail]
        blocks: list[Block] = []
        for block in reversed(shown):
            below = blocks[-1] if blocks else None
            empty = isinstance(block, (Table | Listing | Cards)) and not _content(block)
            over_nothing = isinstance(block, Heading) and (
                below is None or (isinstance(below, Heading) and below.depth <= block.depth)
            )
            if not empty and not over_nothing:
                blocks.append(block)
        return blocks[::-1]


def _content(block: Table | Listing | Cards) -> Sequence[Any]:
    if isinstance(block, Table):
        return block.rows
    return block.items if isinstance(block, Listing) else block.cards


def left_out(count: int) -> str:
    """What stands for rows that wait for more detail."""
    return f"{count:,} more: -v shows all."


def bullets(lines: Iterable[str], mark: str = "-", **how: Any) -> Listing:
    """A listing of sentences."""
    return Listing([ListItem(mark, line) for line in lines], **how)


def facts(pairs: Iterable[tuple[str, str]], **how: Any) -> Listing:
    """A listing of names and what is known of each."""
    return Listing([ListItem(head, text) for head, text in pairs], **how)


def level_of(quiet: bool, verbose: bool) -> Detail:
    """The detail that -q and -v ask for."""
    return Detail.FULL if verbose else Detail.QUIET if quiet else Detail.BRIEF
