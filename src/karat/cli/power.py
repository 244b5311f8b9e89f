"""karat power: what a test set can tell."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from karat.cli._options import Debug, Json, Map, Quiet, RunsDir, columns_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from karat.results.comparison import Power


def command(
    testset: Annotated[str, typer.Argument(help="Questions with gold: any format of docs/formats.md.")],
    runs: Annotated[
        list[str] | None,
        typer.Argument(help="Runs or score tables whose systems show how far scores differ; none for the worst case."),
    ] = None,
    difference: Annotated[
        float | None, typer.Option("--difference", help="Also say how many questions this difference takes: 0.03.")
    ] = None,
    measure: Annotated[
        list[str] | None, typer.Option("-m", "--measure", help="Only by this measure. Repeatable.")
    ] = None,
    level: Annotated[float, typer.Option("--level", help="The level of the test.")] = 0.05,
    power_: Annotated[float, typer.Option("--power", help="How often a difference is to be found.")] = 0.8,
    comparisons: Annotated[
        int, typer.Option("--comparisons", help="How many tests the level is shared by, as a correction would.")
    ] = 1,
    lower: Annotated[
        list[str] | None, typer.Option("--lower", help="A column of a score table of which less is better. Repeatable.")
    ] = None,
    map_: Map = None,
    output: Annotated[str | None, typer.Option("-o", "--output", help="A file: .md .json or .txt.")] = None,
    runs_dir: RunsDir = "runs",
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Find out how small a difference a test set can tell, and how many questions a given one takes.

    Exit codes: 0 done, 2 bad input, 3 the run has none of the questions.
    """
    from pathlib import Path

    from karat.core.errors import UsageError
    from karat.experiment.power import power
    from karat.io.writing import write_whole
    from karat.report import objects
    from karat.report.build.power import document
    from karat.report.render import console, written

    forms: dict[str, Callable[[Power], str]] = {
        ".json": objects.power, ".md": lambda found: written(document(found), ".md"),
        ".txt": lambda found: written(document(found), ".txt"),
    }  # fmt: skip
    form = forms.get(Path(output).suffix.lower()) if output is not None else None
    if output is not None and form is None:
        raise UsageError(f"cannot tell a format from {Path(output).name!r}. Endings: {', '.join(sorted(forms))}.")
    found = power(
        testset, *(runs or ()), difference=difference, measures=measure, level=level, power=power_,
        comparisons=comparisons, lower=lower, columns=columns_of(map_), runs_dir=runs_dir,
    )  # fmt: skip
    if output is not None and form is not None:
        write_whole(output, form(found))
    if as_json:
        typer.echo(objects.power(found))
    else:
        console.show(document(found), sys.stdout, quiet=quiet)
    if output is not None:
        typer.echo(f"wrote {output}", err=True)
