"""karat testset freeze: a test set under a version."""

from __future__ import annotations

from typing import Annotated

import typer

from karat.cli._options import Debug, Json, Map, Testset, columns_of
from karat.cli._output import show_document


def command(
    testset: Testset,
    version: Annotated[str, typer.Option("--version", help="The name of this version, such as 1.0.")],
    output: Annotated[
        str | None, typer.Option("-o", "--output", help="Freeze a copy, in karat's own JSONL, in this file.")
    ] = None,
    map_: Map = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Give a test set a version, so that any later change to it is noticed.

    Its digest is kept beside it. Exit codes: 0 done, 2 bad input.
    """
    from karat.report import objects
    from karat.report.build.runs import frozen_document
    from karat.testset.freeze import freeze

    done = freeze(testset, version, output=output, columns=columns_of(map_))
    about = (done.frozen, str(done.path), str(done.note))
    if as_json:
        typer.echo(objects.frozen(*about, stood=done.stood), nl=False)
    else:
        show_document(frozen_document(*about, stood=done.stood))
