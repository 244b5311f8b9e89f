"""karat audit: how good a test set is."""

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
    index: Annotated[
        str, typer.Argument(help="A folder that `karat index` wrote; - for only what needs no documents.")
    ],
    output: Annotated[
        str | None, typer.Option("-o", "--output", help="A file to write it to as well: .md, .json or .txt.")
    ] = None,
    only: Annotated[list[str] | None, typer.Option("--only", help="Run this check alone. Repeatable.")] = None,
    match: Match = "auto",
    page_offset: PageOffset = 0,
    pages: Pages = "physical",
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of the topics.")] = 0,
    map_: Map = None,
    as_json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    debug: Debug = False,
) -> None:
    """Find out how good a test set is: faulty questions, what they cover, and what differences they can tell.

    Exit codes: 0 nothing is broken, 2 bad input, 4 something is broken.
    """
    from karat.experiment.audit import audit
    from karat.io.writing import write_whole
    from karat.report import objects
    from karat.report.build.findings import audit_document
    from karat.report.render import console, written
    from karat.systems.index import check_order
    from karat.systems.retrieval import check_pages

    ending = _ending(output)
    check_order(testset, index)
    progress = progress_on_terminal(quiet or as_json)
    found = audit(
        testset, index, match=match, page_offset=page_offset, pages=check_pages(pages), only=only or (), seed=seed,
        columns=columns_of(map_), progress=progress,
    )  # fmt: skip
    progress("")
    if output is not None:
        as_json_file = ending == ".json"
        write_whole(output, f"{objects.examined(found)}\n" if as_json_file else written(audit_document(found), ending))
    if as_json:
        typer.echo(objects.examined(found))
    else:
        console.show(audit_document(found), sys.stdout, quiet=quiet, verbose=verbose)
    if found.broken:
        sys.stdout.flush()
        raise typer.Exit(4)


def _ending(output: str | None) -> str:
    """The ending that names the format, or a clear refusal before anything is worked out."""
    from pathlib import Path

    from karat.core.errors import UsageError

    ending = Path(output).suffix.lower() if output is not None else ".md"
    if ending not in (".md", ".json", ".txt"):
        raise UsageError(f"-o {output}: an audit is written as .md, .json or .txt. Choose one of these endings.")
    return ending
