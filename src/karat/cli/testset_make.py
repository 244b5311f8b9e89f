"""karat testset make: a test set from documents."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from karat.cli._options import Debug, IndexFolder, Json, Map, Quiet, Verbose, columns_of, with_chat, with_hosts
from karat.cli._output import FAILED, announced, announcer, counted_on_terminal, leave, show_document

NO_QUESTIONS = 3


@with_hosts
@with_chat
def command(
    index: IndexFolder,
    samples: Annotated[
        int, typer.Option("--samples", help="Chunks to ask about; each gives one question of every kind.")
    ] = 30,
    kinds: Annotated[
        str | None,
        typer.Option("--kinds", help="Kinds of questions, with commas between: literal,paraphrase,scenario ..."),
    ] = None,
    offline: Annotated[bool, typer.Option("--offline", help="By grammar, in English, without a model.")] = False,
    each: Annotated[
        int, typer.Option("--each", help="With --offline: questions of every kind that each chunk gives, at most.")
    ] = 1,
    output: Annotated[str | None, typer.Option("-o", "--output", help="The file to write, .jsonl.")] = None,
    extend: Annotated[str | None, typer.Option("--extend", help="A test set to add questions to.")] = None,
    fill_gaps: Annotated[
        bool, typer.Option("--fill-gaps", help="With --extend: ask where it asks little or nothing.")
    ] = False,
    mix: Annotated[
        str | None, typer.Option("--mix", help="A YAML file of categories with shares, or `default`.")
    ] = None,
    doc: Annotated[list[str] | None, typer.Option("--doc", help="Ask about this document only. Repeatable.")] = None,
    least_tokens: Annotated[int, typer.Option("--least-tokens", help="Leave out chunks shorter than this.")] = 40,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of the sample and the mix.")] = 0,
    force: Annotated[bool, typer.Option("--force", help="Replace the file that -o names.")] = False,
    map_: Map = None,
    as_json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    debug: Debug = False,
    **chat: Any,
) -> None:
    """Make a test set from the documents of an index: questions, answers and gold.

    By a chat model, or with --offline by grammar, in English.
    Exit codes: 0 done, 2 bad input, 3 no question was made, 5 done but some calls of the model failed.
    """
    from karat.core.errors import UsageError
    from karat.experiment.generate import generate
    from karat.report import objects
    from karat.report.build.generated import document

    if output is None and extend is None:
        raise UsageError("no file is named for the test set. Name one with -o qa.jsonl, or add to one with --extend.")
    progress = counted_on_terminal(quiet or as_json)
    made = generate(
        index, samples=samples, kinds=kinds, offline=offline, each=each, seed=seed, mix=mix, extend=extend,
        fill_gaps=fill_gaps, docs=doc, least_tokens=least_tokens, output=output, force=force, columns=columns_of(map_),
        say=progress, chat={**chat, "announce": announcer(quiet or as_json)},
    )  # fmt: skip
    progress("", 0, 0)
    if as_json:
        typer.echo(objects.generated(made.generated, made.chunks, made.testset, spent=made.spent, output=made.output))
    else:
        told = document(made.generated, made.chunks, made.testset, spent=made.sentence, output=made.output)
        show_document(told, quiet=quiet, verbose=verbose)
    if made.n_failed and not (quiet or as_json):
        announced(
            f"{made.n_failed:,} call{' of the model' if made.n_failed == 1 else 's of the model'} failed. The same "
            "command with --force asks again only what has no reply yet."
        )
    if not made.questions:
        leave(NO_QUESTIONS)
    if made.n_failed:
        leave(FAILED)
