"""Glance: what an object shows of itself at a prompt and in a notebook: one line, and a small table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from itertools import islice

from karat.core.text.words import clean, number

LINE, CELL, ROWS, COLUMNS = 300, 80, 10, 10
Table = tuple[Sequence[str], Iterable[Sequence[object]]]


class NotebookView:
    """Gives an object a `repr` of one line and a table in notebooks; a dataclass leaves out its own repr for it.

    `_line` says what it is in words, `_table` its heads and rows, of which the first are shown. Both may hold text
    of others: here it is cut, freed of control characters and escaped.
    """

    def _line(self) -> str:
        raise NotImplementedError

    def _table(self) -> Table:
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"{type(self).__name__}({clean(self._line(), LINE)})"

    def _repr_html_(self) -> str:
        heads, rows = self._table()
        first = list(islice(rows, ROWS + 1))
        body = "".join(_row("td", row) for row in first[:ROWS])
        more = "<p>…</p>" if len(first) > ROWS or len(heads) > COLUMNS else ""
        return (
            f"<p>{escape(repr(self))}</p><table><thead>{_row('th', heads)}</thead><tbody>{body}</tbody></table>{more}"
        )


def _row(tag: str, cells: Sequence[object]) -> str:
    return "<tr>" + "".join(f"<{tag}>{escape(_text(cell))}</{tag}>" for cell in cells[:COLUMNS]) + "</tr>"


def _text(cell: object) -> str:
    if cell is None or isinstance(cell, float):
        return number(cell)
    return f"{cell:,}" if isinstance(cell, int) else clean(str(cell), CELL)
