"""karat demo: the main job on documents and questions that come with karat."""

from __future__ import annotations

from typing import Annotated

import typer

from karat.cli._options import Debug, Json, Quiet, Verbose, progress_on_terminal
from karat.cli.score import show


def command(
    output: Annotated[str | None, typer.Option("-o", "--output", help="Also write row and summary files here.")] = None,
    copy: Annotated[
        str | None, typer.Option("--files", help="Write the demo's documents and questions here, and stop.")
    ] = None,
    as_json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    debug: Debug = False,
) -> None:
    """Index a small handbook, search it in four ways and score that: karat at work, with no files of yours."""
    from karat.experiment.demo import demo, write_demo

    if copy is not None:
        path = write_demo(copy)
        typer.echo(f"wrote {path / 'docs'} and {path / 'questions.jsonl'}")
        return
    progress = progress_on_terminal(quiet or as_json)
    report = demo(progress)
    progress("")
    show(report, output, None, as_json=as_json, quiet=quiet, verbose=verbose)
