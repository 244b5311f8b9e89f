"""karat convert: write any readable test set or result in another format."""

from __future__ import annotations

from typing import Annotated

import typer

from karat.cli._options import Debug, Map, Quiet, Redact, columns_of


def command(
    source: Annotated[str, typer.Argument(metavar="IN", help="A test set or results in any format that is read.")],
    target: Annotated[str, typer.Argument(metavar="OUT", help="The file or folder to write.")],
    to: Annotated[
        str | None,
        typer.Option(
            "--to", help="canonical, trec_run, trec_qrels, beir, ragas or liverag; by the name of OUT unless given."
        ),
    ] = None,
    redact: Redact = None,
    map_: Map = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Convert a test set or results to another format, and say what is lost."""
    from karat.files import convert

    taken, wrote, lost = convert(source, target, format=to, columns=columns_of(map_), redact=redact or ())
    if not quiet:
        typer.echo(f"{taken.place}: {taken.format}, {taken.what}")
        for note in taken.notes:
            typer.echo(f"  {note}")
        typer.echo(f"wrote {target} as {wrote}")
    for sentence in lost:
        typer.echo(f"lost: {sentence}", err=True)
