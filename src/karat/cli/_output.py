"""What commands print: progress, results as text or JSON, and exit codes."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

import typer

if TYPE_CHECKING:
    from karat.experiment.finished import FinishedRun
    from karat.experiment.planned import PlannedRun
    from karat.report.document import Document

BAD_INPUT, BROKEN, FAILED = 2, 4, 5
"""Exit codes: nothing to work on; something is broken or impossible; done, but rows, calls or documents failed."""


def progress_on_terminal(quiet: bool) -> Callable[[str], None]:
    """Says each step on standard error, on a terminal only, one line that the next step overwrites."""
    say = counted_on_terminal(quiet)
    return lambda step: say(step, 0, 1)


def counted_on_terminal(quiet: bool) -> Callable[[str, int, int], None]:
    """Shows what is being done and how far it is on standard error, on a terminal only, in one line."""
    if quiet or not sys.stderr.isatty():
        return lambda what, done, total: None
    import shutil

    from karat.core.progress import ProgressLine

    progress = ProgressLine()

    def say(what: str, done: int, total: int) -> None:
        width = shutil.get_terminal_size().columns - 1
        line = progress.line(what, done, total, width)
        if line is not None:
            print(f"\r\x1b[2K{line[:width]}", end="", file=sys.stderr, flush=True)

    return say


def announced(sentence: str) -> None:
    """Say on standard error what is about to be asked and may cost."""
    typer.echo(sentence, err=True)


def announcer(quiet: bool) -> Callable[[str], None] | None:
    """Who says such sentences, unless quiet."""
    return None if quiet else announced


def print_json(value: Any) -> None:
    """One JSON object on standard output."""
    import json

    typer.echo(json.dumps(value, ensure_ascii=False, indent=2))


def show(
    result: Any,
    document: Callable[[Any], Document],
    as_object: Callable[[Any], str],
    *,
    as_json: bool,
    quiet: bool = False,
    verbose: bool = False,
) -> None:
    """Print a result: as one JSON object, or as the document that it makes."""
    if as_json:
        typer.echo(as_object(result))
    else:
        show_document(document(result), quiet=quiet, verbose=verbose)


def show_and_write(
    result: Any,
    document: Callable[[Any], Document],
    as_object: Callable[[Any], str],
    write: Callable[[Any], None] | None,
    output: str | None,
    **printing: bool,
) -> None:
    """Print a result as `show` does; it is written to `output` first, where that is named."""
    if write is not None:
        write(result)
    show(result, document, as_object, **printing)
    if write is not None:
        typer.echo(f"wrote {output}", err=True)


def show_planned(planned: PlannedRun, *, as_json: bool) -> None:
    """Print what chat models would be asked."""
    if as_json:
        print_json(planned.plain())
    else:
        typer.echo("\n".join(planned.lines()))


def show_document(document: Document, *, quiet: bool = False, verbose: bool = False) -> None:
    """Print a document on standard output."""
    from karat.report.render import console

    console.show(document, sys.stdout, quiet=quiet, verbose=verbose)


def show_run(done: FinishedRun, *, as_json: bool, quiet: bool, verbose: bool) -> None:
    """Print what a run found, and exit with 5 when rows failed or documents could not be read."""
    from karat.report import objects

    if as_json:
        typer.echo(objects.study(done.study, str(done.folder.path)))
    else:
        done.print(quiet=quiet, verbose=verbose)
    if done.n_failed or done.unread:
        leave(FAILED)


def leave(code: int) -> NoReturn:
    """End with an exit code, after all that was printed."""
    sys.stdout.flush()
    raise typer.Exit(code)
