"""karat demo: the main job on documents and questions that come with karat."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from karat.cli._options import Debug, Json, Quiet, RunsDir, Verbose
from karat.cli._output import counted_on_terminal, show_run


def command(
    runs_dir: RunsDir = "runs",
    copy: Annotated[
        str | None,
        typer.Option("--files", help="Write the demo's documents, questions and karat.yaml here, and stop."),
    ] = None,
    as_json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    debug: Debug = False,
) -> None:
    """Compare 12 systems on a handbook that comes with karat, and write a report."""
    from karat.experiment.demo import demo, write_demo

    if copy is not None:
        path = write_demo(copy)
        typer.echo(f"wrote {path / 'docs'}, {path / 'questions.jsonl'} and {path / 'karat.yaml'}")
        return
    progress = counted_on_terminal(quiet or as_json)
    done = demo(runs_dir, command=["karat", *sys.argv[1:]], say=progress)
    progress("", 0, 0)
    show_run(done, as_json=as_json, quiet=quiet, verbose=verbose)
