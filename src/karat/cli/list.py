"""karat list: the runs there are."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from karat.cli._options import Debug, Json, RunsDir


def command(
    runs_dir: RunsDir = "runs",
    most: Annotated[int, typer.Option("-n", help="How many of the latest to show; 0 shows all.")] = 20,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """List runs, the latest last: what each compared, its best system, and whether it was finished."""
    import json

    from karat.experiment.store import runs_in
    from karat.report.build.runs import runs_document
    from karat.report.render import console

    runs = [{"run": run.id, **run.manifest, "status": run.state} for run in runs_in(runs_dir)]
    if as_json:
        typer.echo(json.dumps(runs[-most:] if most else runs, ensure_ascii=False, indent=2))
    else:
        console.show(runs_document(runs, str(runs_dir), most=most), sys.stdout)
