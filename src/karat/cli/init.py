"""karat init: a commented karat.yaml for documents and questions."""

from __future__ import annotations

from typing import Annotated

import typer

from karat.cli._options import Debug, Quiet, counted_on_terminal


def command(
    docs: Annotated[str, typer.Argument(help="A folder or file of documents, or a folder that `karat index` wrote.")],
    testset: Annotated[str, typer.Argument(help="Questions with gold: any format of docs/formats.md.")],
    output: Annotated[str, typer.Option("-o", "--output", help="The file to write.")] = "karat.yaml",
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")] = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Look at documents and questions, and write a commented karat.yaml that compares six systems on them."""
    from karat.experiment.spec.draft import write_spec

    progress = counted_on_terminal(quiet)
    draft = write_spec(docs, testset, output, force=force, progress=progress)
    progress("", 0, 0)
    if not quiet:
        for line in draft.said:
            typer.echo(line)
    typer.echo(f"wrote {draft.path}")
    if not quiet:
        typer.echo("Next: read it, change what you like, then: karat run" + _where(str(draft.path)))


def _where(path: str) -> str:
    return "" if path == "karat.yaml" else f" {path}"
