"""Options that several commands share."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Annotated

import typer

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output and nothing else there.")]
Quiet = Annotated[bool, typer.Option("-q", "--quiet", help="Print less: the results and what needs attention.")]
Verbose = Annotated[bool, typer.Option("-v", "--verbose", help="Print more: every measure of every slice.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]
Map = Annotated[
    list[str] | None,
    typer.Option("--map", metavar="COLUMN=FIELD", help="Read a column of a file as a field of karat's. Repeatable."),
]


def columns_of(pairs: Sequence[str] | None) -> dict[str, str]:
    """`--map` values as a dict."""
    from karat.core.errors import UsageError

    found = {}
    for pair in pairs or ():
        column, equals, name = pair.partition("=")
        if not equals or not column or not name:
            raise UsageError(f"--map {pair!r}: write COLUMN=FIELD, for example --map my_gold=gold.")
        found[column] = name
    return found


def progress_on_terminal(quiet: bool) -> Callable[[str], None]:
    """Says each step on standard error, on a terminal only, one line that the next step overwrites."""
    if quiet or not sys.stderr.isatty():
        return lambda step: None

    def say(step: str) -> None:
        print(f"\r\x1b[2K{step} ...", end="" if step else "\r\x1b[2K", file=sys.stderr, flush=True)

    return say
