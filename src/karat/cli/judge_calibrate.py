"""karat judge calibrate: a judge against human labels."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from karat.cli._options import Debug, Json, Map, Quiet, RunsDir, Verbose, columns_of, refuse
from karat.cli._output import FAILED, leave, show_and_write
from karat.core.errors import UsageError


def command(
    run: Annotated[
        str, typer.Argument(metavar="RUN|LABELS", help="A run: LAST, its name or id. With --judge: the labels.")
    ],
    labels: Annotated[
        str | None,
        typer.Argument(
            metavar="LABELS|CALIBRATION",
            help="Human labels: columns id, system, measure, label, rater (CSV, TSV, JSON, JSONL, Parquet); or a "
            "calibration (.json) to correct a run by that has no labels.",
        ),
    ] = None,
    judge: Annotated[
        list[str] | None,
        typer.Option("--judge", help="NAME=COLUMN of the labels, or NAME=FILE, of grades to compare. Repeatable."),
    ] = None,
    people: Annotated[
        list[str] | None,
        typer.Option("--people", help="With --judge: a column of the labels that one person filled in. Repeatable."),
    ] = None,
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
    """Compare judges with human labels and each other, and correct their means.

    `RUN LABELS` compares the scores of a run with labels, `LABELS --judge NAME=COLUMN ...` grades of any judges with
    labels and each other, `RUN CALIBRATION` corrects a run by labels of another that the same judge scored.
    Exit codes: 0 done, 2 bad input, 3 no label meets a score, 5 the measure failed on labelled answers.
    """
    from karat.experiment.apply_calibration import is_calibration

    given: dict[str, Any] = {"measures": measure or (), "runs_dir": runs_dir}
    shown = {"as_json": as_json, "quiet": quiet, "verbose": verbose}
    if not judge:
        refuse({"people": people}, "is for judges of a file of labels. Name them with --judge.")
        path = _second(run, labels)
        if is_calibration(path):
            refuse({"scale": scale, "correct": correct, "map": map_}, "is for labels, and a calibration has them.")
            _apply(run, path, given, output, shown)
            return
    from karat.experiment.calibrate import calibrate, calibrate_judges, calibration_writer
    from karat.report import objects
    from karat.report.build.calibration import document

    write = calibration_writer(output) if output is not None else None
    given |= {"scale": scale or (), "columns": columns_of(map_)}
    if judge:
        refuse({"correct": correct}, "is for systems of a run. Leave it out.")
        if labels is not None:
            raise UsageError("with --judge there is no run: name the file of labels alone.")
        del given["runs_dir"]
        calibration = calibrate_judges(run, _judges(judge), people=people or (), **given)
    else:
        calibration = calibrate(run, path, correct=correct, **given)
    show_and_write(calibration, document, objects.calibration, write, output, **shown)
    if calibration.failed:
        leave(FAILED)


def _second(run: str, labels: str | None) -> str:
    if labels is not None:
        return labels
    if Path(run).is_file():
        raise UsageError(f"{run} is a file: name its judges with --judge NAME=COLUMN, or a run before it.")
    raise UsageError("no labels are named. Name their file after the run.")


def _judges(given: list[str]) -> dict[str, str]:
    """Columns and files by the names of judges; one without a name is called as its column or file is."""
    judges: dict[str, str] = {}
    for text in given:
        name, _, place = text.partition("=")
        name, place = (name.strip(), place.strip()) if place else (Path(text).stem, text)
        if not name or not place:
            raise UsageError(f"--judge {text}: write NAME=COLUMN or NAME=FILE.")
        if name in judges:
            raise UsageError(f"--judge {text}: there is a judge {name!r} already. Give it another name.")
        judges[name] = place
    return judges


def _apply(run: str, calibration: str, given: dict[str, Any], output: str | None, shown: dict[str, bool]) -> None:
    """Print the means of a run, corrected by a calibration."""
    from karat.experiment.apply_calibration import applied_writer, apply_calibration
    from karat.report import objects
    from karat.report.build.applied import document

    write = applied_writer(output) if output is not None else None
    applied = apply_calibration(run, calibration, **given)
    show_and_write(applied, document, objects.applied, write, output, **shown)
