"""karat demo: the main job on documents and questions that come with karat."""

from __future__ import annotations

from typing import Annotated

import typer

from karat.cli._options import Debug, Json, Quiet, RunsDir, Verbose, counted_on_terminal
from karat.cli.run import show


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
    """Index a small handbook, search it in 12 ways, compare these and write a report, with no files of yours."""
    import sys

    from karat.experiment.demo import demo, write_demo

    if copy is not None:
        path = write_demo(copy)
        typer.echo(f"wrote {path / 'docs'}, {path / 'questions.jsonl'} and {path / 'karat.yaml'}")
        return
    progress = counted_on_terminal(quiet or as_json)
    done = demo(runs_dir, command=["karat", *sys.argv[1:]], say=progress)
    progress("", 0, 0)
    show(done, as_json=as_json, quiet=quiet, verbose=verbose)
