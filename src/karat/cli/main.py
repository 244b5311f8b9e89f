"""The command `karat`. Nothing heavy is imported before a command runs, so that --help is instant."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from karat.cli import (
    check,
    convert,
    demo,
    explain,
    index,
    init,
    measures,
    report,
    run,
    schema,
    score,
    search,
    show,
    sweep,
)
from karat.cli import list as list_
from karat.core.errors import KaratError

app = typer.Typer(
    name="karat",
    help="Find out how good your retrieval-augmented generation is, and trust the answer.",
    rich_markup_mode=None,
    add_completion=False,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for module in (
    demo,
    init,
    run,
    sweep,
    list_,
    show,
    report,
    index,
    search,
    check,
    explain,
    score,
    measures,
    convert,
    schema,
):
    app.command(module.__name__.rpartition(".")[2])(module.command)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"karat {version('karat')}")
        raise typer.Exit


@app.callback()
def _global(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Find out how good your retrieval-augmented generation is, and trust the answer."""


def main() -> None:
    """Run a command; a user's mistake is one sentence and an exit code, never a traceback."""
    debug = "--debug" in sys.argv
    try:
        app()
    except KaratError as error:
        if debug:
            raise
        _say(f"karat: {error}")
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        _say("karat: interrupted.")
        sys.exit(130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except Exception as error:
        if debug:
            raise
        _say(
            f"karat: internal error, which is a bug: {type(error).__name__}: {error}\n"
            "Please report it with the output of the same command and --debug."
        )
        sys.exit(1)


def _say(text: str) -> None:
    """One message on standard error, without control characters from a hostile input."""
    clean = "".join(c if c.isprintable() or c == "\n" else "?" for c in text)
    print(
        clean.encode(sys.stderr.encoding or "utf-8", "replace").decode(sys.stderr.encoding or "utf-8"), file=sys.stderr
    )
