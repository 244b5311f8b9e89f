"""karat benchmark: from documents to a run in one command."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from karat.cli._options import Debug, Json, Quiet, RunsDir, Verbose, counted_on_terminal, with_chat_of_run, with_hosts
from karat.cli.run import announced, show


@with_hosts
@with_chat_of_run
def command(
    docs: Annotated[list[str], typer.Argument(help="Documents: a folder, or files.")],
    samples: Annotated[int, typer.Option("--samples", help="Chunks to make questions about.")] = 30,
    answer_limit: Annotated[
        int, typer.Option("--answer-limit", help="Questions to answer: a sample over kinds and gold.")
    ] = 20,
    eval_mode: Annotated[
        str, typer.Option("--eval-mode", help="literal, semantic (paraphrase and scenario), or all.")
    ] = "all",
    skip_answers: Annotated[bool, typer.Option("--skip-answers", help="Retrieval alone.")] = False,
    testset: Annotated[
        str | None, typer.Option("--testset", help="The test set: used if it stands, else made there.")
    ] = None,
    regenerate: Annotated[
        bool, typer.Option("--regenerate", help="Make the test set again; the old one is kept beside it.")
    ] = False,
    system: Annotated[
        list[str] | None, typer.Option("--system", help="A preset to compare; repeatable. Three by default.")
    ] = None,
    dialect: Annotated[
        str, typer.Option("--dialect", help="Whose meaning of the measures: karat, or rag-benchmark.")
    ] = "karat",
    chunk: Annotated[str, typer.Option("--chunk", help="How documents are cut; see docs/chunking.md.")] = (
        "tokens:200:40"
    ),
    embedder: Annotated[
        str | None, typer.Option("--embedder", help="Of the dense engine; as in `karat index`.")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of everything drawn at random.")] = 0,
    name: Annotated[str | None, typer.Option("--name", help="Of the benchmark; the folder's by default.")] = None,
    runs_dir: RunsDir = "runs",
    changed_testset: Annotated[
        bool, typer.Option("--changed-testset", help="Go on with a frozen test set that was changed since.")
    ] = False,
    as_json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    debug: Debug = False,
    **chat: Any,
) -> None:
    """Make a test set from documents, or take the one that stands; retrieve, answer, report: in one command.

    Without --model no language model is asked: questions by grammar, answers by extraction.
    Exit codes: 0 done, 2 bad input, 3 no question was made, 5 done but some rows or calls failed.
    """
    from karat.experiment.benchmark import SYSTEMS, benchmark

    progress = counted_on_terminal(quiet or as_json)
    done = benchmark(
        docs, samples=samples, answer_limit=answer_limit, eval_mode=eval_mode, skip_answers=skip_answers,
        testset=testset, regenerate=regenerate, systems=system or SYSTEMS, dialect=dialect, chunk=chunk,
        embedder=embedder, seed=seed, name=name, runs_dir=runs_dir, changed_testset=changed_testset,
        command=["karat", *sys.argv[1:]], say=progress, announce=None if quiet or as_json else announced, **chat,
    )  # fmt: skip
    progress("", 0, 0)
    show(done, as_json=as_json, quiet=quiet, verbose=verbose)
