"""karat compare: systems against each other, paired by question."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from karat.cli._options import Debug, Json, Map, Quiet, RunsDir, Verbose, columns_of, progress_on_terminal

_FAILED = 5


def command(
    inputs: Annotated[
        list[str],
        typer.Argument(help="Runs (LAST, a name, a prefix, RUN:SYSTEM), score tables, or results with --testset."),
    ],
    testset: Annotated[
        str | None, typer.Option("--testset", help="The questions with gold that files of results are scored against.")
    ] = None,
    measure: Annotated[
        list[str] | None, typer.Option("-m", "--measure", help="Compare by this measure. Repeatable.")
    ] = None,
    by: Annotated[
        list[str] | None, typer.Option("--by", help="Also within each slice: kind or a tag. Repeatable.")
    ] = None,
    baseline: Annotated[
        str | None, typer.Option("--baseline", help="Compare every system with this one only, and say the change in %.")
    ] = None,
    test: Annotated[
        str, typer.Option("--test", help="What decides: permutation, wilcoxon, t, or tukey for many systems.")
    ] = "permutation",
    correction: Annotated[
        str, typer.Option("--correction", help="Over all pairs and measures shown: holm, bonferroni, bh or none.")
    ] = "holm",
    draws: Annotated[
        int | None, typer.Option("--draws", help="Of the permutation test: 10,000, and more for many pairs.")
    ] = None,
    flips: Annotated[
        int | None, typer.Option("--flips", help="How many questions to name for each side of a pair; all with -v.")
    ] = None,
    common: Annotated[
        bool, typer.Option("--common", help="Compare runs of different test sets over the questions they share.")
    ] = False,
    lower: Annotated[
        list[str] | None, typer.Option("--lower", help="A column of a score table of which less is better. Repeatable.")
    ] = None,
    match: Annotated[
        str | None, typer.Option("--match", help="How ids of results are matched with gold, as in `karat score`.")
    ] = None,
    map_: Map = None,
    output: Annotated[
        str | None, typer.Option("-o", "--output", help="A file: .html .md .tex .csv .json or .txt.")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of the draws.")] = 0,
    runs_dir: RunsDir = "runs",
    as_json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    debug: Debug = False,
) -> None:
    """Compare systems on the same questions: differences, intervals, tests, and the questions that flipped.

    Exit codes: 0 done, 2 bad input, 3 no common questions, 5 done but some scores had failed.
    """
    from karat.experiment.compare import FLIPS, compare, comparison_writer
    from karat.report import objects
    from karat.report.build.comparison import document
    from karat.report.render import console

    write = comparison_writer(output) if output is not None else None
    progress = progress_on_terminal(quiet or as_json)
    found = compare(
        *inputs, testset=testset, measures=measure, by=by, baseline=baseline,
        test={"test": test, "correction": correction, "draws": draws, "seed": seed},
        flips=flips if flips is not None else None if verbose else FLIPS, common=common,
        lower=lower, matching=match, columns=columns_of(map_), runs_dir=runs_dir, progress=progress,
    )  # fmt: skip
    progress("")
    if write is not None:
        write(found)
    if as_json:
        typer.echo(objects.comparison(found))
    else:
        console.show(document(found), sys.stdout, quiet=quiet, verbose=verbose)
    if write is not None:
        typer.echo(f"wrote {output}", err=True)
    if found.failed:
        sys.stdout.flush()
        raise typer.Exit(_FAILED)
