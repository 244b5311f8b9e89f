"""karat show: what a run found."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from karat.cli._options import Debug, Json, Quiet, Run, RunsDir, Verbose


def command(
    run: Run = "LAST",
    runs_dir: RunsDir = "runs",
    scores: Annotated[bool, typer.Option("--scores", help="Show every measure, as `karat score` does.")] = False,
    as_json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    debug: Debug = False,
) -> None:
    """Show what a run found: the choice, what does not differ from it, failures, and what to do next."""
    from karat.experiment.store import find_run
    from karat.report import objects
    from karat.report.build import evaluation
    from karat.report.build import study as studied
    from karat.report.render import console
    from karat.results.serial import load_study

    folder = find_run(runs_dir, run)
    study = load_study(folder.path)
    if as_json:
        typer.echo(objects.study(study, str(folder.path)))
    elif scores:
        console.show(evaluation.document(study.evaluation), sys.stdout, quiet=quiet, verbose=verbose)
    else:
        console.show(studied.document(study, str(folder.path)), sys.stdout, quiet=quiet, verbose=verbose)
