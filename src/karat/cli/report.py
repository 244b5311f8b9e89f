"""karat report: a run's report written anew."""

from __future__ import annotations

from typing import Annotated

import typer

from karat.cli._options import Debug, Quiet, Run, RunsDir, counted_on_terminal


def command(
    run: Run = "LAST",
    output: Annotated[
        str,
        typer.Option("-o", "--output", help="A file (.html .md .tex .csv .json .txt .parquet) or a folder for all."),
    ] = "report.html",
    runs_dir: RunsDir = "runs",
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Write a run's report from what is stored, without searching or scoring anything again."""
    from karat.experiment.outputs import write_report
    from karat.experiment.store import find_run
    from karat.results.serial import load_study

    progress = counted_on_terminal(quiet)
    written = write_report(load_study(find_run(runs_dir, run).path), output, progress)
    progress("", 0, 0)
    for path in written:
        typer.echo(f"wrote {path}", err=True)
