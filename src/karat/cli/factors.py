"""karat factors: which setting of a grid matters."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from karat.cli._options import Debug, Json, Quiet, RunsDir


def command(
    grid: Annotated[str, typer.Argument(help="A table with a row a score, or a run: a folder, a name, LAST.")],
    score: Annotated[
        str | None, typer.Option("--score", help="The column of scores; of a run, a measure (its main one by default).")
    ] = None,
    factor: Annotated[
        list[str] | None,
        typer.Option("--factor", help="A column that is a factor. Repeatable; of a run, all settings by default."),
    ] = None,
    by: Annotated[
        str | None, typer.Option("--by", help="What every cell has in common, such as the question: taken out first.")
    ] = None,
    runs_dir: RunsDir = "runs",
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Find out which factor of a grid matters, which depend on each other, and which cells equal the best.

    Exit codes: 0 done, 2 bad input.
    """
    from karat.experiment.factors import factors
    from karat.report import objects
    from karat.report.build.factors import document
    from karat.report.render import console

    found = factors(grid, score, factor=factor or (), by=by, runs_dir=runs_dir)
    if as_json:
        typer.echo(objects.factors(found))
    else:
        console.show(document(found), sys.stdout, quiet=quiet)
