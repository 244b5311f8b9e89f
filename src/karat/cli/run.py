"""karat run: do what karat.yaml says."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from karat.cli._options import (
    Debug,
    Json,
    Map,
    Quiet,
    Verbose,
    columns_of,
    counted_on_terminal,
    with_chat_of_run,
    with_hosts,
)

if TYPE_CHECKING:
    from karat.experiment.finished import FinishedRun
    from karat.experiment.spec import Spec


@with_hosts
@with_chat_of_run
def command(
    spec: Annotated[
        str,
        typer.Argument(help="A karat.yaml, or the folder that holds one; or documents: a folder, a file or an index."),
    ] = "karat.yaml",
    testset: Annotated[
        str | None, typer.Argument(help="Questions with gold, where documents are named: the format is recognised.")
    ] = None,
    answer: Annotated[
        str | None,
        typer.Option("--answer", help="Who answers: extractive, reciter, chat, call:MODULE:FUNCTION, or none."),
    ] = None,
    contexts: Annotated[
        int | None, typer.Option("--contexts", help="How many of the first hits an answer is made from; 5 by default.")
    ] = None,
    judge: Annotated[
        str | None,
        typer.Option("--judge", metavar="MEASURES", help="What a language model measures: Faithfulness,Correctness."),
    ] = None,
    runs_dir: Annotated[
        str | None, typer.Option("--runs-dir", help="The folder that holds the runs, unless karat.yaml's.")
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Start again, even if a run of the same was stopped.")] = False,
    retry_errors: Annotated[
        bool,
        typer.Option("--retry-errors", help="Go back to the last run of the same and ask what failed again."),
    ] = False,
    changed_testset: Annotated[
        bool, typer.Option("--changed-testset", help="Go on with a frozen test set that was changed since.")
    ] = False,
    dialect: Annotated[
        str | None, typer.Option("--dialect", help="Whose meaning of the measures, such as healthcare.")
    ] = None,
    match: Annotated[
        str | None, typer.Option("--match", help="auto, exact, doc, uuid, url, page, quote, span or regex:PATTERN.")
    ] = None,
    page_offset: Annotated[
        int | None, typer.Option("--page-offset", help="Added to the page numbers of chunks and hits.")
    ] = None,
    pages: Annotated[str | None, typer.Option("--pages", help="Page numbers of chunks: physical or printed.")] = None,
    allow_zero_overlap: Annotated[
        bool, typer.Option("--allow-zero-overlap", help="Accept a system that found no gold at all.")
    ] = False,
    no_code: Annotated[
        bool,
        typer.Option(
            "--no-code", help="Refuse a karat.yaml that runs code, loads a model's folder or asks a host: a stranger's."
        ),
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what chat models would be asked and what that costs; run nothing.")
    ] = False,
    map_: Map = None,
    as_json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    debug: Debug = False,
    **chat: Any,
) -> None:
    """Index, search, answer, score, compare and report as karat.yaml says; a run that was stopped goes on.

    With documents and a test set, `karat run DOCS TESTSET`, no karat.yaml is needed: the one that `karat init` would
    write is run. Options about matching, columns, answers and models stand in place of the keys of karat.yaml.
    Exit codes: 0 done, 2 bad input, 3 no common ids, 5 done but some rows failed or some documents could not be read.
    """
    from karat.experiment.run import run
    from karat.experiment.spec.draft import spec_for

    matching = {
        "dialect": dialect, "match": match, "page_offset": page_offset, "pages": pages,
        "allow_zero_overlap": allow_zero_overlap or None,
    }  # fmt: skip
    written = spec_for(spec, testset)
    if no_code:
        written.resolved().refuse_code()
    chosen = written.with_options(
        answer=answer, contexts=contexts, judge=judge, columns=columns_of(map_), matching=matching, **chat
    )
    if dry_run:
        _show_planned(chosen, as_json)
        return
    if not quiet:
        _show_uses(chosen.resolved())
    progress = counted_on_terminal(quiet or as_json)
    done = run(
        chosen, runs_dir=runs_dir, fresh=fresh, retry_errors=retry_errors, changed_testset=changed_testset,
        command=["karat", *sys.argv[1:]], say=progress, announce=None if quiet or as_json else announced,
    )  # fmt: skip
    progress("", 0, 0)
    show(done, as_json=as_json, quiet=quiet, verbose=verbose)


def _show_uses(spec: Spec) -> None:
    """Say on standard error what a karat.yaml makes karat run, load and ask, before it does."""
    for kind, what in (("code", "runs code"), ("model", "loads models"), ("host", "asks hosts")):
        names = dict.fromkeys(use.name for use in spec.uses if use.kind == kind)
        if names:
            announced(f"{what}: {', '.join(names)}")


def _show_planned(spec: Spec, as_json: bool) -> None:
    """Print what a run would ask chat models."""
    import json

    from karat.experiment.planned import planned_run

    planned = planned_run(spec)
    if as_json:
        typer.echo(json.dumps(planned.plain(), ensure_ascii=False, indent=2))
    else:
        typer.echo("\n".join(planned.lines()))


def announced(sentence: str) -> None:
    """Say on standard error what is about to be asked and may cost."""
    typer.echo(sentence, err=True)


def show(done: FinishedRun, *, as_json: bool, quiet: bool, verbose: bool) -> None:
    """Print what a run found, and exit with 5 when rows failed or documents could not be read."""
    from karat.report import objects

    if as_json:
        typer.echo(objects.study(done.study, str(done.folder.path)))
    else:
        done.print(quiet=quiet, verbose=verbose)
    if done.n_failed or done.unread:
        sys.stdout.flush()
        raise typer.Exit(5)
