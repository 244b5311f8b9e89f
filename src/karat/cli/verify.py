"""karat verify: whether printed figures can be true."""

from __future__ import annotations

from typing import Annotated

import typer

from karat.cli._options import MOST_HITS, Debug, Json, Map, Match, Quiet, RunsDir, Verbose, columns_of
from karat.cli._output import BAD_INPUT, BROKEN, leave, show


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
        str | None,
        typer.Option("--dialect", help="How repeats are counted, by dialect; healthcare where rows hold pages."),
    ] = None,
    match: Match = "auto",
    n: Annotated[int | None, typer.Option("-n", help="Number of questions, where the table does not say.")] = None,
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
    """Recompute a table of scores from its rows, or look for impossible values in it.

    Exit codes: 0 nothing is wrong, 2 bad input or nothing that could be checked, 4 a mismatch or an impossible value.
    """
    from karat.experiment.verify import verify
    from karat.report import objects
    from karat.report.build.verification import document

    verification = verify(
        rows, table, testset=testset, dialect=dialect, match=match, n=n, k=k, one_gold=one_gold,
        columns=columns_of(map_), runs_dir=runs_dir,
    )  # fmt: skip
    show(verification, document, objects.examined, as_json=as_json, quiet=quiet, verbose=verbose)
    if verification.broken:
        leave(BROKEN)
    if not verification.checked:
        leave(BAD_INPUT)
