"""karat testset check: what is wrong with a test set, and whether an index holds its gold."""

from __future__ import annotations

from typing import Annotated

import typer

from karat.cli._options import (
    Debug,
    Json,
    Map,
    Match,
    Only,
    PageOffset,
    Pages,
    Quiet,
    Testset,
    Verbose,
    columns_of,
    refuse,
)
from karat.cli._output import BROKEN, leave, progress_on_terminal, show


def command(
    testset: Testset,
    index: Annotated[
        str | None, typer.Argument(help="A folder that `karat index` wrote; without it, the questions alone.")
    ] = None,
    only: Only = None,
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
    """Find faults of a test set: gold that cannot be found, bad questions, gaps.

    Exit codes: 0 nothing is broken, 2 bad input, 4 something is broken.
    """
    from karat.experiment.check import check
    from karat.experiment.rendering import file_writer
    from karat.report import objects
    from karat.report.build.testset_check import check_document
    from karat.systems.chunk_columns import check_pages
    from karat.systems.index import check_order

    as_file = {".json": lambda checked: f"{objects.examined(checked)}\n"}
    write = file_writer(output, check_document, as_file) if output is not None else None
    index = None if index == "-" else index
    if index is not None:
        check_order(testset, index)
    else:
        refuse({"match": match if match != "auto" else None, "page_offset": page_offset or None}, "needs an index.")
    progress = progress_on_terminal(quiet or as_json)
    checked = check(
        testset, index, results=results or None, match=match, page_offset=page_offset, pages=check_pages(pages),
        only=only or (), skip=skip or (), columns=columns_of(map_), progress=progress,
    )  # fmt: skip
    progress("")
    if write is not None:
        write(checked)
    show(checked, check_document, objects.examined, as_json=as_json, quiet=quiet, verbose=verbose)
    if checked.broken:
        leave(BROKEN)
