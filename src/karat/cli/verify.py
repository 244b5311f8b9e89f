"""karat verify: whether printed figures can be true."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from karat.cli._options import MOST_HITS, Debug, Json, Map, Match, Quiet, RunsDir, Verbose, columns_of


def command(
    rows: Annotated[
        str, typer.Argument(help="Rows of single questions, a table of means, or a run: a folder, a name, LAST.")
    ],
    table: Annotated[
        str | None, typer.Option("--table", help="The table that summarises the rows: csv, tsv, json, parquet.")
    ] = None,
    testset: Annotated[
        str | None, typer.Option("--testset", help="Questions with gold: the rows are then results of any format.")
    ] = None,
    dialect: Annotated[
        str | None, typer.Option("--dialect", help="Whose way of counting repeats; healthcare where rows hold pages.")
    ] = None,
    match: Match = "auto",
    n: Annotated[int | None, typer.Option("-n", help="Questions behind a table that does not say.")] = None,
    k: Annotated[
        int | None, typer.Option("-k", max=MOST_HITS, help="What k stands for in names such as recall_at_k.")
    ] = None,
    one_gold: Annotated[bool, typer.Option("--one-gold", help="Every question has a single gold unit.")] = False,
    map_: Map = None,
    runs_dir: RunsDir = "runs",
    as_json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    debug: Debug = False,
) -> None:
    """Recompute a table from its rows, or check it alone for the impossible, and say what went wrong.

    Exit codes: 0 nothing is wrong, 2 bad input, 4 a mismatch or an impossible value.
    """
    from karat.experiment.verify import verify
    from karat.report import objects
    from karat.report.build.verification import document
    from karat.report.render import console

    found = verify(
        rows, table, testset=testset, dialect=dialect, match=match, n=n, k=k, one_gold=one_gold,
        columns=columns_of(map_), runs_dir=runs_dir,
    )  # fmt: skip
    if as_json:
        typer.echo(objects.examined(found))
    else:
        console.show(document(found), sys.stdout, quiet=quiet, verbose=verbose)
    if found.broken:
        sys.stdout.flush()
        raise typer.Exit(4)
