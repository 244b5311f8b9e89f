"""karat view: runs in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from karat.cli._options import Debug, RunsDir


def command(
    runs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[RUN]...",
            help="LAST, a run's name, or the beginning of its id; several are compared. Without one, all are listed.",
        ),
    ] = None,
    runs_dir: RunsDir = "runs",
    port: Annotated[
        int | None, typer.Option("--port", metavar="N", help="The port to serve at; the first free one from 8600 on.")
    ] = None,
    host: Annotated[
        str, typer.Option("--host", help="The address to serve at. Any but this one lets other machines read the runs.")
    ] = "127.0.0.1",
    no_open: Annotated[bool, typer.Option("--no-open", help="Do not open a browser; print the address alone.")] = False,
    debug: Debug = False,
) -> None:
    """Look at runs in the browser: filter questions, compare, watch a running run.

    Serves pages on this machine until Ctrl-C. The address that it prints holds a token, and nothing is shown without
    it. Nothing in a run is changed, but labels are appended to its labels.jsonl. Exit codes: 0 ended, 2 bad input.
    """
    from karat.experiment.store import find_run
    from karat.web.server import serve

    named = [find_run(runs_dir, run) for run in dict.fromkeys(runs or ())]
    serve(Path(runs_dir), named, host=host, port=port, open_browser=not no_open, notify=_printed)


def _printed(sentence: str) -> None:
    """A sentence at once, whoever reads standard output."""
    typer.echo(sentence, err=sentence.startswith("warning"))
    import sys

    sys.stdout.flush()
