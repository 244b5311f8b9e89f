"""karat score: score result files against a test set."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from karat.cli._options import (
    Claims,
    Debug,
    Dialect,
    Json,
    Map,
    Quiet,
    Verbose,
    columns_of,
    matching_of,
    with_chat,
    with_hosts,
    with_matching,
    with_pool,
)
from karat.cli._output import FAILED, announcer, leave, progress_on_terminal

if TYPE_CHECKING:
    from karat.experiment.report import Report


@with_hosts
@with_pool
@with_chat
@with_matching
def command(
    testset: Annotated[
        str,
        typer.Argument(
            help="Questions with gold: CSV, TSV, JSON, JSONL, Parquet, qrels, SQuAD, BEIR, FOLDER#SPLIT ..."
        ),
    ],
    results: Annotated[list[str], typer.Argument(help="What one or more systems returned, a file each.")],
    measure: Annotated[
        list[str] | None,
        typer.Option("-m", "--measure", help="nDCG@10, 'Recall@{1,5}', P(rel=2)@5, my_file:my_function. Repeatable."),
    ] = None,
    k: Annotated[
        int | None, typer.Option("-k", help="The cut-off of the default measures, and of a literal @k.")
    ] = None,
    by: Annotated[
        list[str] | None, typer.Option("--by", help="Also a table per slice: kind or a tag. Repeatable.")
    ] = None,
    index: Annotated[
        str | None,
        typer.Option("--index", help="The index the hits are chunks of: the gold is then looked up in it."),
    ] = None,
    dialect: Dialect = "karat",
    missing: Annotated[
        str | None,
        typer.Option(
            "--missing",
            help="Questions without an answer in a file: zero, or skip (left out); the other mean is shown too.",
        ),
    ] = None,
    bands: Annotated[
        bool, typer.Option("--bands", help="Show bands (Excellent, Good ...) and targets, whatever the dialect.")
    ] = False,
    map_: Map = None,
    output: Annotated[
        str | None,
        typer.Option(
            "-o", "--output", help="A folder for row and summary files, or a file: .csv .json .md .tex .txt .parquet."
        ),
    ] = None,
    export: Annotated[
        list[str] | None, typer.Option("--export", help="Also write, with -o FOLDER: liverag or trec. Repeatable.")
    ] = None,
    embedder: Annotated[
        str | None,
        typer.Option("--embedder", help="For SemanticSimilarity, as in `karat index`; that of --index by default."),
    ] = None,
    cross_encoder: Annotated[
        str | None,
        typer.Option("--cross-encoder", help="A folder with the model of CrossEncoder (needs sentence-transformers)."),
    ] = None,
    claims: Claims = None,
    labels: Annotated[
        str | None,
        typer.Option("--labels", help="A labels.jsonl of `karat view`: the scores with its gold stand beside."),
    ] = None,
    without_bad: Annotated[
        bool, typer.Option("--without-bad", help="With --labels: leave questions marked bad out of those scores.")
    ] = False,
    as_json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    debug: Debug = False,
    **options: Any,
) -> None:
    """Score results against a test set.

    File formats and how ids match are recognised, and said under Inputs. A model is asked only where a measure that
    needs one is named. Exit codes: 0 done, 2 bad input, 3 no common ids or questions, 5 done but some rows
    failed.
    """
    from karat.experiment.claims import ClaimSource
    from karat.experiment.models import CALLS
    from karat.experiment.score import score
    from karat.experiment.settings import MatchSettings, settings_of

    matching, pool = matching_of(options, try_all=verbose), options.pop("pool")
    folder = Path(output) if output and not Path(output).suffix else None
    if options["model"] is not None and options["calls"] is None and folder is not None:
        options["calls"] = folder / CALLS
    progress = progress_on_terminal(quiet or as_json)
    report = score(
        testset,
        results,
        measures=measure,
        k=k,
        by=by,
        dialect=dialect,
        matching=matching,
        missing=missing,  # type: ignore[arg-type]  # checked there
        bands=bands,
        index=index,
        columns=columns_of(map_),
        chat={**options, "announce": announcer(quiet or as_json)},
        embedder=embedder,
        cross_encoder=cross_encoder,
        claims=replace(ClaimSource.of(claims), folder=folder),
        labels=labels,
        without_bad=without_bad,
        pool=pool,
        progress=progress,
    )
    progress("")
    following = ""
    if len(results) > 1:
        plainly = replace(settings_of(MatchSettings, matching), match=None, try_all=False) == MatchSettings()
        asks = (index, missing, options["model"], embedder, cross_encoder, claims)
        flags = [("-m", name) for name in measure or ()]
        if plainly and dialect == "karat" and not any(asks):
            flags += [("--map", pair) for pair in map_ or ()]
            flags += [("--match", matching["match"])] if matching["match"] is not None else []
            following = _compare_command(*results, "--testset", testset, flags=flags)
        elif folder is not None and report.evaluation.scores.conversations is None:  # which tables do not tell
            following = _compare_command(str(folder / "rows.csv"), flags=flags)
    _show(report, output, export or [], following, as_json=as_json, quiet=quiet, verbose=verbose)


def _compare_command(*words: str, flags: Iterable[tuple[str, str]]) -> str:
    """The command that compares what was scored, or the scores that were written."""
    return shlex.join(["karat", "compare", *words, *(word for pair in flags for word in pair)])


def _show(
    report: Report, output: str | None, export: list[str], following: str, *, as_json: bool, quiet: bool, verbose: bool
) -> None:
    """Print a report and what to do next, write what was asked for, and exit with 5 when rows failed."""
    from karat.core.errors import UsageError

    if export and not output:
        raise UsageError("--export needs a folder to write into: add -o out/.")
    written = report.save(output, export=export, command=shlex.join(["karat", *sys.argv[1:]])) if output else []
    if as_json:
        typer.echo(report.to_json())
    else:
        report.print(quiet=quiet, verbose=verbose)
        if following and not quiet:
            typer.echo(f"\nNext, which differences are significant: {following}")
        for path in written:
            typer.echo(f"wrote {path}", err=True)
    if report.n_failed:
        leave(FAILED)
