"""karat schema: the JSON Schema of karat.yaml."""

from __future__ import annotations

from typing import Annotated

import typer

from karat.cli._options import Debug


def command(
    output: Annotated[str | None, typer.Option("-o", "--output", help="Write it to this file.")] = None,
    debug: Debug = False,
) -> None:
    """Print the JSON Schema of karat.yaml, for editors that complete and check as you type."""
    from importlib.resources import files

    text = (files("karat.experiment.spec") / "karat.schema.json").read_text(encoding="utf-8")
    if output is None:
        typer.echo(text, nl=False)
        return
    from karat.io.writing import write_whole

    write_whole(output, text)
