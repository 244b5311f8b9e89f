"""karat calibrate: a judge against people."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from karat.cli._options import Debug, Json, Map, Quiet, Run, RunsDir, Verbose, columns_of

_FAILED = 5


def command(
    run: Run,
    labels: Annotated[
        str, typer.Argument(help="What people say: id, system, measure, label, rater (CSV, TSV, JSON, JSONL, Parquet).")
    ],
    measure: Annotated[
        list[str] | None,
        typer.Option("-m", "--measure", help="Only this measure; the one of all labels if they name none. Repeatable."),
    ] = None,
    scale: Annotated[
        list[str] | None,
        typer.Option("--scale", help="The lowest and highest label, as 1:5 or Faithfulness=1:5. Repeatable."),
    ] = None,
    correct: Annotated[
        str | None,
        typer.Option("--correct", help="What makes an answer right, for systems with a confidence: TokenF1>=0.5."),
    ] = None,
    output: Annotated[str | None, typer.Option("-o", "--output", help="A file: .json .md .csv or .txt.")] = None,
    map_: Map = None,
    runs_dir: RunsDir = "runs",
    as_json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    debug: Debug = False,
) -> None:
    """Find out how far a judge, or any measure, agrees with people, and correct its means by their labels.

    Exit codes: 0 done, 2 bad input, 3 no label meets a score of the run, 5 the measure failed on labelled answers.
    """
    from karat.experiment.calibrate import calibrate, calibration_writer
    from karat.report import objects
    from karat.report.build.calibration import document
    from karat.report.render import console

    write = calibration_writer(output) if output is not None else None
    found = calibrate(
        run, labels, measures=measure or (), scale=scale or (), correct=correct, columns=columns_of(map_),
        runs_dir=runs_dir,
    )  # fmt: skip
    if write is not None:
        write(found)
    if as_json:
        typer.echo(objects.calibration(found))
    else:
        console.show(document(found), sys.stdout, quiet=quiet, verbose=verbose)
    if write is not None:
        typer.echo(f"wrote {output}", err=True)
    if found.failed:
        sys.stdout.flush()
        raise typer.Exit(_FAILED)
