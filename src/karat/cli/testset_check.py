"""karat testset check: what is wrong with a test set, and whether an index holds its gold."""

from __future__ import annotations

import sys
from pathlib import Path
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

ENDINGS = (".md", ".json", ".txt")


def command(
    testset: Annotated[str, typer.Argument(help="Questions with gold: any format of docs/formats.md.")],
    index: Annotated[
        str | None, typer.Argument(help="A folder that `karat index` wrote; without it, the questions alone.")
    ] = None,
    only: Annotated[list[str] | None, typer.Option("--only", help="Run this check alone. Repeatable.")] = None,
    skip: Annotated[list[str] | None, typer.Option("--skip", help="Leave this check out. Repeatable.")] = None,
    results: Annotated[
        list[str] | None, typer.Option("--results", help="Results over this index to look at as well. Repeatable.")
    ] = None,
    output: Annotated[
        str | None, typer.Option("-o", "--output", help="A file to write it to as well: .md, .json or .txt.")
    ] = None,
    match: Match = "auto",
    page_offset: PageOffset = 0,
    pages: Pages = "physical",
    map_: Map = None,
    as_json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    debug: Debug = False,
) -> None:
    """Find the faults of a test set: gold that an index does not hold, faulty questions, gaps; and what it can show.

    Exit codes: 0 nothing is broken, 2 bad input, 4 something is broken.
    """
    from karat.core.errors import UsageError
    from karat.experiment.check import check
    from karat.io.writing import write_whole
    from karat.report import objects
    from karat.report.build.testset_check import check_document
    from karat.report.render import console, written
    from karat.systems.index import check_order
    from karat.systems.retrieval import check_pages

    ending = Path(output).suffix.lower() if output is not None else ""
    if output is not None and ending not in ENDINGS:
        raise UsageError(f"-o {output}: a check is written as .md, .json or .txt. Choose one of these endings.")
    if index is not None:
        check_order(testset, index)
    progress = progress_on_terminal(quiet or as_json)
    checked = check(
        testset, index, results=results or None, match=match, page_offset=page_offset, pages=check_pages(pages),
        only=only or (), skip=skip or (), columns=columns_of(map_), progress=progress,
    )  # fmt: skip
    progress("")
    document = check_document(checked)
    if output is not None:
        write_whole(output, f"{objects.examined(checked)}\n" if ending == ".json" else written(document, ending))
    if as_json:
        typer.echo(objects.examined(checked))
    else:
        console.show(document, sys.stdout, quiet=quiet, verbose=verbose)
    if checked.broken:
        sys.stdout.flush()
        raise typer.Exit(4)
