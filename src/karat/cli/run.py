"""karat run: systems compared on documents, or as karat.yaml says."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from karat.cli._options import (
    TESTSET_MAKING,
    ChangedTestset,
    Claims,
    Debug,
    Json,
    Map,
    Quiet,
    Verbose,
    columns_of,
    refuse,
    with_chat_of_run,
    with_hosts,
    with_pool,
    with_testset_making,
)
from karat.cli._output import announced, announcer, counted_on_terminal, show_planned, show_run
from karat.core.errors import UsageError

if TYPE_CHECKING:
    from karat.experiment.finished import FinishedRun
    from karat.experiment.spec import Spec

FOR_DOCUMENTS = "is for documents without a test set of their own: karat run DOCS. In karat.yaml a key says the same."
FOR_TESTSETS = "is for a karat.yaml, or for documents with a test set: karat run DOCS TESTSET."


@with_hosts
@with_pool
@with_chat_of_run
@with_testset_making
def command(
    sources: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="SPEC | DOCS [TESTSET]",
            help="A karat.yaml or the folder that holds one (the default); or documents (a folder, a file or an "
            "index) and questions with gold, which are made from the documents unless given.",
        ),
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
    claims: Claims = None,
    runs_dir: Annotated[
        str | None, typer.Option("--runs-dir", help="The folder that holds the runs, unless karat.yaml's.")
    ] = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Start a new run, even where one of the same was stopped.")
    ] = False,
    retry_errors: Annotated[
        bool,
        typer.Option("--retry-errors", help="Resume the last run of the same, and retry what failed."),
    ] = False,
    changed_testset: ChangedTestset = False,
    dialect: Annotated[
        str | None, typer.Option("--dialect", help="Definitions of the measures: karat, trec, healthcare ...")
    ] = None,
    match: Annotated[
        str | None, typer.Option("--match", help="How hits are matched with gold, as in `karat score`.")
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
            "--no-code", help="Refuse a karat.yaml that runs code, loads a model or asks a host, as a stranger's may."
        ),
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what chat models would be asked and what that costs; run nothing.")
    ] = False,
    jobs: Annotated[
        int | None,
        typer.Option(
            "-j",
            "--jobs",
            metavar="N",
            help="How much runs at a time: processes that index and search, and model calls.",
        ),
    ] = None,
    map_: Map = None,
    as_json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    debug: Debug = False,
    **options: Any,
) -> None:
    """Compare systems on your documents, or as karat.yaml says, and write a report.

    A run that was stopped goes on where it was. `karat run DOCS TESTSET` runs the karat.yaml that `karat init` would
    write. `karat run DOCS` makes a test set from the documents, or takes the one it made before, and answers a sample
    of it; without --model no language model is asked. Other options stand in place of the keys of karat.yaml.
    Exit codes: 0 done, 2 bad input, 3 no common ids or no question was made, 5 done but some rows, calls or documents
    failed.
    """
    from karat.experiment.claims import rooted_claims
    from karat.experiment.planned import planned_run
    from karat.experiment.run import run
    from karat.experiment.spec.draft import spec_for

    making = {name: options.pop(name) for name in TESTSET_MAKING}
    making["systems"] = making.pop("system") or None
    named = sources or ["karat.yaml"]
    progress = counted_on_terminal(quiet or as_json)
    common: dict[str, Any] = {
        "changed_testset": changed_testset, "command": ["karat", *sys.argv[1:]], "say": progress,
        "announce": announcer(quiet or as_json),
    }  # fmt: skip
    matching = {
        "match": match, "page_offset": page_offset, "pages": pages, "allow_zero_overlap": allow_zero_overlap or None
    }  # fmt: skip
    spec_only = {"no_code": no_code, "dry_run": dry_run, "fresh": fresh, "retry_errors": retry_errors}
    claiming = rooted_claims(claims, os.path.abspath) if claims else None
    answering = {"answer": answer, "contexts": contexts, "judge": judge, "claims": claiming}
    if _makes_testset(named, making):
        refuse({**spec_only, **answering, **matching, "map": map_}, FOR_TESTSETS)
        done = _run_documents(
            named, {**making, "runs_dir": runs_dir, "dialect": dialect, "jobs": jobs, **options}, common
        )
    else:
        refuse(making, FOR_DOCUMENTS)
        columns = columns_of(map_)
        written = spec_for(*named, columns=columns)
        if no_code:
            written.resolved().refuse_code()
        chosen = written.with_options(
            columns=columns, matching={"dialect": dialect, **matching}, processes=jobs,
            jobs=jobs if options["model"] or written.keys.model else None, **answering, **options,
        )  # fmt: skip
        if dry_run:
            show_planned(planned_run(chosen), as_json=as_json)
            return
        if not quiet:
            _show_uses(chosen.resolved())
        done = run(chosen, runs_dir=runs_dir, fresh=fresh, retry_errors=retry_errors, **common)
    progress("", 0, 0)
    show_run(done, as_json=as_json, quiet=quiet, verbose=verbose)


def _makes_testset(named: list[str], making: Mapping[str, Any]) -> bool:
    """Whether documents are named, and no test set beside them."""
    from karat.experiment.spec.draft import is_spec

    if making["testset"] is None and len(named) > 2:
        raise UsageError(
            f"{len(named)} files are named. Documents and a test set are two: karat run DOCS TESTSET. Several "
            "documents take --testset FILE, which is used if it exists, and else made."
        )
    return not is_spec(named[0]) and (making["testset"] is not None or len(named) == 1)


def _run_documents(documents: list[str], options: Mapping[str, Any], common: Mapping[str, Any]) -> FinishedRun:
    """A run over a test set that is made of the documents; an option that is not given has its default there."""
    from karat.experiment.run_documents import run_documents

    return run_documents(documents, **{name: value for name, value in options.items() if value is not None}, **common)


def _show_uses(spec: Spec) -> None:
    """Say on standard error what a karat.yaml makes karat run, load and ask, before it does."""
    for kind, what in (("code", "runs code"), ("model", "loads models"), ("host", "asks hosts")):
        names = dict.fromkeys(use.name for use in spec.uses if use.kind == kind)
        if names:
            announced(f"{what}: {', '.join(names)}")
