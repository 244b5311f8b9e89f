"""What the pages are made of: Markdown and docstrings."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Sequence
from typing import Any

NOTICE = "<!-- Generated from the code by `python -m docs.generator`. Do not edit. -->"


def page(title: str, about: str, parts: Iterable[str]) -> str:
    """A page with its notice."""
    return "\n\n".join([f"# {title}", NOTICE, about, *filter(None, parts)]) + "\n"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table, each cell on one line."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(_cell, line))} |" for line in lines)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def code(text: str) -> str:
    """Text as code, or nothing."""
    return f"`{text}`" if text else ""


def listed(names: Iterable[str]) -> str:
    """Names as code, separated by commas."""
    return ", ".join(map(code, names))


def first_line(thing: Any) -> str:
    """The first line of a docstring."""
    return (inspect.getdoc(thing) or "").partition("\n")[0]


def sentence(text: str) -> str:
    """Text with a capital letter and a full stop."""
    text = text.strip()
    return text and text[0].upper() + text[1:] + ("" if text.endswith((".", "?", "!")) else ".")
