"""karat init: a commented karat.yaml for documents and questions, and the JSON Schema of karat.yaml."""

from __future__ import annotations

from typing import Annotated

import typer

from karat.cli._options import Debug, Quiet
from karat.cli._output import counted_on_terminal
from karat.core.errors import UsageError

SPEC = "karat.yaml"


def command(
    docs: Annotated[
        str | None, typer.Argument(help="A folder or file of documents, or a folder that `karat index` wrote.")
    ] = None,
    testset: Annotated[
        str | None,
        typer.Argument(
            help="Questions with gold: CSV, TSV, JSON, JSONL, Parquet, qrels, SQuAD, BEIR, FOLDER#SPLIT ..."
        ),
    ] = None,
    output: Annotated[
        str | None, typer.Option("-o", "--output", help="The file to write; karat.yaml by default.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")] = False,
    schema: Annotated[
        bool, typer.Option("--schema", help="Print the JSON Schema of karat.yaml, for editors, or write it to -o FILE.")
    ] = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Look at documents and questions, and write a karat.yaml to compare systems."""
    from karat.experiment.spec.draft import write_spec

    if schema:
        if docs is not None:
            raise UsageError("--schema prints the schema, and looks at no documents. Leave them out.")
        _schema(output)
        return
    if docs is None or testset is None:
        raise UsageError("name the documents and the test set: karat init DOCS TESTSET.")
    progress = counted_on_terminal(quiet)
    draft = write_spec(docs, testset, output or SPEC, force=force, progress=progress)
    progress("", 0, 0)
    if not quiet:
        for line in draft.said:
            typer.echo(line)
    typer.echo(f"wrote {draft.path}")
    if not quiet:
        where = "" if str(draft.path) == SPEC else f" {draft.path}"
        typer.echo(f"Next: read it, change what you like, then: karat run{where}")


def _schema(output: str | None) -> None:
    from importlib.resources import files

    from karat.io.writing import write_whole

    text = (files("karat.experiment.spec") / "karat.schema.json").read_text(encoding="utf-8")
    if output is None:
        typer.echo(text, nl=False)
    else:
        write_whole(output, text)
