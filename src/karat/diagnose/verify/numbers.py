"""Numbers: a printed number with as much of it as was printed, and what agrees with that."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

FULL = 6  # decimals from which a column is written in full, so that .5 in it is exactly .5
FEW = 1  # decimals that say nothing by themselves: 1.0 beside .2487 is 1.0000
MOST_DECIMALS = 17  # that a number of 64 bits has; beyond them nothing was cut off
EXACT = 1e-9
LARGEST = 1e15  # a number beyond is no score, and no count
EXACTLY = 12  # decimals of a number that was not rounded
_LONGEST = 80  # characters of a cell that may be a number

_UNSIGNED = r"(?:[1-9]\d{0,2}(?:,\d{3})++(?:\.\d*+)?|\d++\.?\d*+|\.\d++)(?:[eE][-+]?\d++)?"
_NUMBER = rf"[-+−]?{_UNSIGNED}"
_CELL = re.compile(
    rf"[~≈]?\s*+(?P<value>{_NUMBER})\s*+(?P<percent>%)?[*~†‡]*+\s*+"
    rf"(?:(?:±|\+/-|\+-)\s*+(?:(?P<spread>{_NUMBER})\s*+%?|[–-]))?"
    rf"(?:\s*+[\[(]{_NUMBER},\s*+{_NUMBER}[\])](?:\s++[A-Za-z]++)?)?"
    rf"(?:\s*+\([-+−]{_UNSIGNED}\s*+%?\))?"
)
_MATHS = re.compile(r"\$([^$]++)\$")  # as LaTeX and Markdown set a number
_COMMA = re.compile(r"(?<![\d,.])(\d++),(\d++)(?![\d,.])")
_SHARE = re.compile(r"(?<![\d,.])0,\d++(?![\d,.])|(?<![\d,.])\d{1,2},\d{1,2}(?=\s*%)")


@dataclass(frozen=True)
class Number:
    """A value and the decimals it is printed with."""

    value: float
    decimals: int

    @property
    def half(self) -> float:
        """How far the true value may lie from what is printed."""
        return 0.5 * 10.0**-self.decimals + EXACT * max(1.0, abs(self.value))

    def agrees(self, value: float, slack: float = 0.0) -> bool:
        """Whether a value, rounded as this number is, gives it; halves may go either way.

        `slack` is how far the value itself may be off, where it was computed from rounded ones.
        """
        return math.isfinite(value) and abs(self.value - value) <= self.half + slack

    def truncates(self, value: float) -> bool:
        """Whether a value, cut off as this number is, gives it."""
        if self.decimals > MOST_DECIMALS:
            return False
        units = value * 10.0**self.decimals
        return math.isfinite(units) and abs(math.trunc(units + EXACT) / 10.0**self.decimals - self.value) < EXACT

    def scaled(self, factor: float) -> Number:
        """The same in percent (100) or as a share (.01)."""
        shift = round(math.log10(factor))
        return Number(self.value * factor, max(0, self.decimals - shift))


def has_decimal_commas(texts: Iterable[str], share: bool = False) -> bool:
    """Whether a column writes .579 as 0,579: some cell can be nothing else, and no cell has a point.

    `share`: its numbers lie around 0 and 1, or in percent, so that no comma of theirs can part thousands.
    """
    cells = list(texts)
    commas = any((_COMMA if share else _SHARE).search(text) for text in cells)
    return commas and not any("." in text for text in cells)


def pointed(text: str) -> str:
    """The text with points for decimal commas."""
    return _COMMA.sub(r"\1.\2", text)


def read_cell(cell: Any) -> tuple[Number, Number | None] | None:
    """The number of a cell and, after ±, its spread; None where the cell holds something else.

    Marks of significance, an interval in brackets with a word after it, and a difference in brackets are passed over.
    A comma parts thousands, unless it stands after a lone 0 or in a percentage: `has_decimal_commas` tells of columns.

    >>> read_cell("0.2487 ± 0.18")[0].value, read_cell("57.9%")[0].value, read_cell("n/a")
    (0.2487, 0.579, None)
    >>> read_cell("0.655 (+0.043)")[0].value, read_cell(r"$0.41 \\pm 0.02$")[1].value, read_cell("0.655 (12)")
    (0.655, 0.02, None)
    """
    if isinstance(cell, bool) or cell is None:
        return None
    if isinstance(cell, int | float):
        return (_number(repr(cell)), None) if abs(cell) <= LARGEST else None
    text = str(cell).strip().strip("*`")
    if len(text) > _LONGEST:
        return None
    if maths := _MATHS.fullmatch(text):
        text = maths[1].replace("\\pm", "±").replace("\\%", "%").strip()
    match = _CELL.fullmatch(pointed(text) if _SHARE.search(text) else text)
    if match is None:
        return None
    value = _number(match["value"])
    if abs(value.value) > LARGEST:
        return None
    spread = _number(match["spread"]) if match["spread"] else None
    if match["percent"]:
        value, spread = value.scaled(0.01), None if spread is None else spread.scaled(0.01)
    return value, spread


def cut_of(text: str | None) -> int | None:
    """A cut-off as a file writes it; None for what is none.

    >>> cut_of("5.0"), cut_of("all"), cut_of(None)
    (5, None, None)
    """
    read = read_cell(text)
    value = 0.0 if read is None else read[0].value
    return int(value) if 1 <= value < 2**31 and value == int(value) else None


def _number(text: str) -> Number:
    text = text.replace(",", "").replace("−", "-")
    mantissa, _, power = text.lower().partition("e")
    decimals = len(mantissa.partition(".")[2]) - (int(power) if power else 0)
    return Number(float(text), max(0, decimals))


def as_column(numbers: Iterable[Number], *, exact: bool = False) -> list[Number]:
    """Numbers that stand in one column: those with too few decimals are taken to have as many as the others.

    A program that writes numbers drops zeros at their end, so 0.25 in a column of sixteen decimals is exactly .25. In
    a column of four it may have been rounded by hand, unless it has one decimal or none. `exact`: where no number of
    the column has more, they are what they are, as 0 and 1 of single questions.
    """
    column = list(numbers)
    most = max((number.decimals for number in column), default=0)
    if most == FEW and all(n.value == int(n.value) for n in column) and max(n.value for n in column) > 1:
        return [replace(number, decimals=0) for number in column]  # 45.0 of a program that rounds to 45
    if exact and most <= FEW:
        return [replace(number, decimals=EXACTLY) for number in column]
    few = most if most >= FULL else FEW
    return [replace(number, decimals=most) if number.decimals <= few else number for number in column]
