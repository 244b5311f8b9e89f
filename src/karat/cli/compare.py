"""karat compare: systems against each other, paired by question; what a test set can tell; factors of a grid."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from karat.cli._options import Debug, Json, Lower, Map, Quiet, RunsDir, Verbose, columns_of, refuse
from karat.cli._output import FAILED, leave, progress_on_terminal, show, show_and_write
from karat.core.errors import UsageError


def command(
    inputs: Annotated[
        list[str],
        typer.Argument(
            help="Runs (LAST, a name, a prefix, RUN:SYSTEM), score tables, or results with --testset. With --power: "
            "TESTSET [RUN]... With --factors: a table with a row a score, or a run."
        ),
    ],
    testset: Annotated[
        str | None, typer.Option("--testset", help="The questions with gold that files of results are scored against.")
    ] = None,
    measure: Annotated[
        list[str] | None, typer.Option("-m", "--measure", help="Compare by this measure. Repeatable.")
    ] = None,
    by: Annotated[
        list[str] | None,
        typer.Option(
            "--by", help="Also within each slice: kind or a tag. Repeatable. With --factors: what every cell has in "
            "common, such as the question, taken out first."
        ),
    ] = None,
    baseline: Annotated[
        str | None, typer.Option("--baseline", help="Compare every system with this one only, and say the change in %.")
    ] = None,
    test: Annotated[
        str | None, typer.Option("--test", help="Significance test: permutation (default), wilcoxon, t or tukey.")
    ] = None,
    correction: Annotated[
        str | None,
        typer.Option("--correction", help="For multiple tests: holm (default), bonferroni, bh or none."),
    ] = None,
    draws: Annotated[
        int | None, typer.Option("--draws", help="Of the permutation test: 10,000, and more for many pairs.")
    ] = None,
    flips: Annotated[
        int | None, typer.Option("--flips", help="How many questions to name for each side of a pair; all with -v.")
    ] = None,
    common: Annotated[
        bool, typer.Option("--common", help="Compare runs of different test sets over the questions they share.")
    ] = False,
    lower: Lower = None,
    match: Annotated[
        str | None, typer.Option("--match", help="How ids of results are matched with gold, as in `karat score`.")
    ] = None,
    power: Annotated[
        bool,
        typer.Option("--power", help="Say how small a difference a test set can show: karat compare --power TESTSET."),
    ] = False,
    difference: Annotated[
        float | None, typer.Option("--difference", help="With --power: how many questions this difference takes: 0.03.")
    ] = None,
    level: Annotated[float | None, typer.Option("--level", help="With --power: the level of the test, 0.05.")] = None,
    at_power: Annotated[
        float | None, typer.Option("--at-power", help="With --power: how often a difference is to be found, 0.8.")
    ] = None,
    comparisons: Annotated[
        int | None, typer.Option("--comparisons", help="With --power: how many tests share the level, 1.")
    ] = None,
    factors: Annotated[
        bool, typer.Option("--factors", help="Say which factor of a grid matters: karat compare --factors GRID.")
    ] = False,
    score: Annotated[
        str | None,
        typer.Option("--score", help="With --factors: the column of scores; of a run, a measure (its main one)."),
    ] = None,
    factor: Annotated[
        list[str] | None,
        typer.Option("--factor", help="With --factors: a column that is a factor; of a run, all settings. Repeatable."),
    ] = None,
    map_: Map = None,
    output: Annotated[
        str | None, typer.Option("-o", "--output", help="A file: .html .md .tex .csv .json .xlsx or .txt.")
    ] = None,
    seed: Annotated[int | None, typer.Option("--seed", min=0, help="Of the draws; 0 by default.")] = None,
    runs_dir: RunsDir = "runs",
    as_json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    debug: Debug = False,
) -> None:  # fmt: skip
    """Compare systems question by question; power of a test set; factors of a grid.

    --power says how small a difference a test set can show, and how many questions a given one takes; runs or score
    tables beside it show how far scores differ, and without them the worst case is taken. --factors says which factor
    of a grid matters, which depend on each other, and which cells equal the best.
    Exit codes: 0 done, 2 bad input, 3 no common questions, 5 done but some scores had failed.
    """
    paired = {
        "testset": testset, "baseline": baseline, "test": test, "correction": correction, "draws": draws,
        "flips": flips, "common": common, "match": match, "seed": seed,
    }  # fmt: skip
    powered = {"difference": difference, "level": level, "power": at_power, "comparisons": comparisons}
    read = {"measures": measure, "lower": lower, "columns": columns_of(map_), "runs_dir": runs_dir}
    printing = {"as_json": as_json, "quiet": quiet}
    if power and factors:
        raise UsageError("--power and --factors are two questions. Ask one at a time.")
    if power:
        refuse({**paired, "by": by or None}, "compares systems. Leave it or --power out.")
    else:
        refuse({"at_power" if name == "power" else name: value for name, value in powered.items()}, "is for --power.")
    if factors:
        refuse({**paired, "measure": measure or None, "lower": lower or None, "map": map_ or None, "output": output},
               "compares systems. Leave it or --factors out.")  # fmt: skip
        if len(inputs) > 1 or len(by or ()) > 1:
            raise UsageError("--factors takes one grid, and one --by.")
        _factors(inputs[0], score, factor, by, runs_dir, printing)
        return
    refuse({"score": score, "factor": factor or None}, "is for --factors.")
    if power:
        _power(inputs, {**read, **_given(powered)}, output, printing)
    else:
        options = {**read, **_given({**paired, "common": common, "by": by})}
        _compare(inputs, options, output, {**printing, "verbose": verbose})


def _given(options: dict[str, Any]) -> dict[str, Any]:
    """The options that were given; the others have their defaults where they are used."""
    return {name: value for name, value in options.items() if value is not None}


def _compare(inputs: list[str], options: dict[str, Any], output: str | None, printing: dict[str, bool]) -> None:
    from karat.experiment.compare import FLIPS, compare, comparison_writer
    from karat.report import objects
    from karat.report.build.comparison import document

    write = comparison_writer(output) if output is not None else None
    progress = progress_on_terminal(printing["quiet"] or printing["as_json"])
    options.setdefault("flips", None if printing["verbose"] else FLIPS)
    test: dict[str, Any] = {
        name: options.pop(name) for name in ("test", "correction", "draws", "seed") if name in options
    }
    comparison = compare(*inputs, test=test, matching=options.pop("match", None), progress=progress, **options)
    progress("")
    show_and_write(comparison, document, objects.comparison, write, output, **printing)
    if comparison.failed:
        leave(FAILED)


def _power(inputs: list[str], options: dict[str, Any], output: str | None, printing: dict[str, bool]) -> None:
    from karat.experiment.power import power
    from karat.experiment.rendering import file_writer
    from karat.report import objects
    from karat.report.build.power import document

    write = file_writer(output, document, {".json": objects.power}) if output is not None else None
    telling = power(inputs[0], *inputs[1:], **options)
    show_and_write(telling, document, objects.power, write, output, **printing)


def _factors(
    grid: str, score: str | None, factor: list[str] | None, by: list[str] | None, runs_dir: str, how: dict[str, bool]
) -> None:
    from karat.experiment.factors import factors
    from karat.report import objects
    from karat.report.build.factors import document

    analysis = factors(grid, score, factor=factor or (), by=by[0] if by else None, runs_dir=runs_dir)
    show(analysis, document, objects.factors, **how)
