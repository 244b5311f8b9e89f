"""karat check: the doctor, who finds why gold is missing."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from karat.cli._options import (
    Debug,
    Json,
    Map,
    Match,
    PageOffset,
    Pages,
    Quiet,
    Verbose,
    columns_of,
    progress_on_terminal,
)


def command(
    testset: Annotated[str, typer.Argument(help="Questions with gold: any format of docs/formats.md.")],
    index: Annotated[str, typer.Argument(help="A folder that `karat index` wrote.")],
    results: Annotated[
        list[str] | None, typer.Option("--results", help="Results over this index to look at as well. Repeatable.")
    ] = None,
    only: Annotated[list[str] | None, typer.Option("--only", help="Run this check alone. Repeatable.")] = None,
    match: Match = "auto",
    page_offset: PageOffset = 0,
    pages: Pages = "physical",
    map_: Map = None,
    as_json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    debug: Debug = False,
) -> None:
    """Find out whether the gold of a test set can be found in an index, and if not, why.

    Exit codes: 0 nothing is broken, 2 bad input, 4 something is broken.
    """
    from karat.experiment.check import check
    from karat.report import objects
    from karat.report.build.findings import checkup_document
    from karat.report.render import console
    from karat.systems.index import check_order
    from karat.systems.retrieval import check_pages

    check_order(testset, index)
    progress = progress_on_terminal(quiet or as_json)
    found = check(
        testset, index, results=results or None, match=match, page_offset=page_offset, pages=check_pages(pages),
        only=only or (), columns=columns_of(map_), progress=progress,
    )  # fmt: skip
    progress("")
    if as_json:
        typer.echo(objects.examined(found))
    else:
        console.show(checkup_document(found), sys.stdout, quiet=quiet, verbose=verbose)
    if found.broken:
        sys.stdout.flush()
        raise typer.Exit(4)
