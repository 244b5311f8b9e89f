"""karat demo: the main job on a small built-in test set."""

from __future__ import annotations

from typing import Annotated

import typer

from karat.cli._options import Debug, Json, Quiet, Verbose
from karat.cli.score import show


def command(
    output: Annotated[str | None, typer.Option("-o", "--output", help="Also write row and summary files here.")] = None,
    as_json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    debug: Debug = False,
) -> None:
    """Score three runs over a small built-in test set: what a report looks like, with no files of your own."""
    from karat.experiment.demo import demo

    show(demo(), output, None, as_json=as_json, quiet=quiet, verbose=verbose)
