"""karat factors: which setting of a grid matters."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from karat.cli._options import Debug, Json, Quiet, RunsDir, Verbose


def command(
    grid: Annotated[str, typer.Argument(help="A table with a row a score, or a run: a folder, a name, LAST.")],
    score: Annotated[
        str | None, typer.Option("--score", help="The column of scores; of a run, a measure (its main one by default).")
    ] = None,
    factor: Annotated[
        list[str] | None, typer.Option("--factor", help="A column that is a factor. Repeatable; else they are found.")
    ] = None,
    by: Annotated[
        str | None, typer.Option("--by", help="What every cell has in common, such as the question: taken out first.")
    ] = None,
    output: Annotated[
        str | None, typer.Option("-o", "--output", help="Write a chart of the marginal means: .png, .svg or .html.")
    ] = None,
    runs_dir: RunsDir = "runs",
    as_json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    debug: Debug = False,
) -> None:
    """Find out which factor of a grid matters, which depend on each other, and which cells equal the best.

    Exit codes: 0 done, 2 bad input.
    """
    from pathlib import Path

    from karat.core.errors import UsageError
    from karat.experiment.factors import factors
    from karat.report import factored, marginal_means

    if output is not None and Path(output).suffix.lower() not in marginal_means.ENDINGS:
        raise UsageError(f"-o {output}: end the name in one of {', '.join(marginal_means.ENDINGS)}.")
    found = factors(grid, score, factor=factor or (), by=by, runs_dir=runs_dir)
    if output is not None:
        marginal_means.write(found, output)
    if as_json:
        typer.echo(factored.as_json(found))
    else:
        factored.show(found, sys.stdout, quiet=quiet, verbose=verbose)
