"""karat judge calibrate: a judge against human labels."""

from __future__ import annotations

from typing import Annotated

import typer

from karat.cli._options import Debug, Json, Map, Quiet, Run, RunsDir, Verbose, columns_of
from karat.cli._output import FAILED, leave, show


def command(
    run: Run,
    labels: Annotated[
        str,
        typer.Argument(
            help="Human labels: columns id, system, measure, label, rater (CSV, TSV, JSON, JSONL, Parquet)."
        ),
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
        typer.Option("--correct", help="What counts as a correct answer, for systems with a confidence: TokenF1>=0.5."),
    ] = None,
    output: Annotated[str | None, typer.Option("-o", "--output", help="A file: .json .md .csv or .txt.")] = None,
    map_: Map = None,
    runs_dir: RunsDir = "runs",
    as_json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    debug: Debug = False,
) -> None:
    """Measure how far a judge agrees with human labels, and correct its means.

    Exit codes: 0 done, 2 bad input, 3 no label meets a score of the run, 5 the measure failed on labelled answers.
    """
    from karat.experiment.calibrate import calibrate, calibration_writer
    from karat.report import objects
    from karat.report.build.calibration import document

    write = calibration_writer(output) if output is not None else None
    calibration = calibrate(
        run, labels, measures=measure or (), scale=scale or (), correct=correct, columns=columns_of(map_),
        runs_dir=runs_dir,
    )  # fmt: skip
    if write is not None:
        write(calibration)
    show(calibration, document, objects.calibration, as_json=as_json, quiet=quiet, verbose=verbose)
    if write is not None:
        typer.echo(f"wrote {output}", err=True)
    if calibration.failed:
        leave(FAILED)
