"""Formulas: text in a CSV or TSV cell that a spreadsheet would run, kept from running, and read back as it was."""

from __future__ import annotations

import re

_FORMULA = re.compile(r"'*+[=+\-@\t\r]")
_NUMBER = re.compile(r"[+-]?(?:\d++\.?\d*+|\.\d++)(?:[eE][+-]?\d++)?")
MARKED = tuple(f"'{mark}".encode() for mark in "=+-@\t\r'")
"""How cells begin that may have been marked."""


def guarded_cell(text: str) -> str:
    """Text for a CSV or TSV cell that no spreadsheet runs as a formula.

    Text that begins with = + - @ (or a tab or return) gets an apostrophe in front, unless it is a plain number: an
    id like -17 stays itself. Parquet and JSON hold every text as it was.

    >>> guarded_cell("=1+1"), guarded_cell("-17"), guarded_cell("-x"), guarded_cell("plain")
    ("'=1+1", '-17', "'-x", 'plain')
    """
    return "'" + text if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else text


def unguarded_cell(text: str) -> str:
    """The text of a cell without the apostrophe that keeps a spreadsheet from running it.

    >>> unguarded_cell("'=1+1"), unguarded_cell("'tis"), unguarded_cell(guarded_cell("'=1"))
    ('=1+1', "'tis", "'=1")
    """
    return text[1:] if text.startswith("'") and guarded_cell(text[1:]) == text else text
