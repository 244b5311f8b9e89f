"""karat run: do what karat.yaml says."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from karat.cli._options import Debug, Json, Quiet, Verbose, counted_on_terminal


def command(
    spec: Annotated[
        str, typer.Argument(help="The experiment: a karat.yaml, or the folder that holds one.")
    ] = "karat.yaml",
    runs_dir: Annotated[
        str | None, typer.Option("--runs-dir", help="The folder that holds the runs, unless karat.yaml's.")
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Start anew, even if a run of the same was stopped.")] = False,
    retry_errors: Annotated[
        bool,
        typer.Option("--retry-errors", help="Go back to the last run of the same and ask what failed again."),
    ] = False,
    as_json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    debug: Debug = False,
) -> None:
    """Index, search, score, compare and report as karat.yaml says; a run that was stopped goes on.

    Exit codes: 0 done, 2 bad input, 3 no common ids, 5 done but some rows failed.
    """
    from karat.experiment.run import run

    progress = counted_on_terminal(quiet or as_json)
    done = run(
        spec, runs_dir=runs_dir, fresh=fresh, retry_errors=retry_errors,
        command=["karat", *sys.argv[1:]], say=progress,
    )  # fmt: skip
    progress("", 0, 0)
    show(done, as_json=as_json, quiet=quiet, verbose=verbose)


def show(done: object, *, as_json: bool, quiet: bool, verbose: bool) -> None:
    """Print what a run found, and exit with 5 when rows failed."""
    from karat.experiment.run import Finished
    from karat.report import studied

    assert isinstance(done, Finished)
    place = str(done.folder.path)
    if as_json:
        typer.echo(studied.as_json(done.study, place))
    else:
        studied.show(done.study, sys.stdout, place=place, quiet=quiet, verbose=verbose)
    if done.n_failed:
        sys.stdout.flush()
        raise typer.Exit(5)
