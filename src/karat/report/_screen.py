"""The screen: blocks of a report as text that a terminal, a pipe or a narrow window can show."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rich.console import RenderableType

    Blocks = Callable[[int], Iterable[RenderableType]]

PLAIN = str.maketrans(
    {"–": "-", "…": "~", "─": "-", "·": "|", "±": "/", "≤": "<", "→": ">", "’": "'", "✓": "+", "✗": "-"}
)


def put(blocks: Blocks, stream: TextIO) -> None:
    """Write to a stream what it can show: colour on a terminal (unless NO_COLOR), plain text elsewhere."""
    import shutil

    is_terminal = stream.isatty()
    columns = shutil.get_terminal_size((100, 24)).columns if is_terminal or "COLUMNS" in os.environ else 100
    colour = is_terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    stream.write(as_text(blocks, width=columns, colour=colour, encoding=stream.encoding or "utf-8"))


def as_text(blocks: Blocks, *, width: int = 100, colour: bool = False, encoding: str = "utf-8") -> str:
    """The blocks, made for a width, as text that the encoding holds."""
    from rich.console import Console

    width = max(40, width)
    out = io.StringIO()
    console = Console(
        file=out,
        width=width,
        force_terminal=colour,
        color_system="standard" if colour else None,
        markup=False,
        highlight=False,
        emoji=False,
        legacy_windows=False,
        force_jupyter=False,
        _environ={},
    )
    for block in blocks(width):
        console.print(block)
    text = "\n".join(line.rstrip() for line in out.getvalue().split("\n"))
    text = re.sub("\n{3,}", "\n\n", text).strip("\n")
    return _encodable(f"{text}\n" if text else "", encoding)


def _encodable(text: str, encoding: str) -> str:
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return text.translate(PLAIN).encode(encoding, "replace").decode(encoding)
    return text
