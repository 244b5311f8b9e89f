"""karat testset make: a test set from documents."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from karat.cli._options import Debug, Json, Map, Quiet, Redact, Verbose, columns_of, refuse, with_chat, with_hosts
from karat.cli._output import FAILED, announced, announcer, counted_on_terminal, leave, print_json, show_document
from karat.core.text.words import plural

if TYPE_CHECKING:
    from karat.experiment.logged import LoggedTestSet
    from karat.experiment.nuggets import NuggetTestSet

NO_QUESTIONS = 3
SOURCES = ("documents", "traces")
EACH, LEAST_TOKENS = 1, 40


@with_hosts
@with_chat
def command(
    index: Annotated[
        str,
        typer.Argument(
            metavar="INDEX", help="A folder that `karat index` wrote; with --from traces a file of traces or results."
        ),
    ],
    source: Annotated[
        str, typer.Option("--from", metavar="SOURCE", help="documents, or traces: questions that were really asked.")
    ] = "documents",
    samples: Annotated[
        int,
        typer.Option(
            "--samples", help="Chunks to ask about; each gives one question of every kind. Of traces: questions."
        ),
    ] = 30,
    kinds: Annotated[
        str | None,
        typer.Option("--kinds", help="Kinds of questions, with commas between: literal,paraphrase,scenario ..."),
    ] = None,
    offline: Annotated[bool, typer.Option("--offline", help="By grammar, in English, without a model.")] = False,
    each: Annotated[
        int, typer.Option("--each", help="With --offline: questions of every kind that each chunk gives, at most.")
    ] = EACH,
    output: Annotated[str | None, typer.Option("-o", "--output", help="The file to write, .jsonl.")] = None,
    extend: Annotated[str | None, typer.Option("--extend", help="A test set to add questions to.")] = None,
    fill_gaps: Annotated[
        bool, typer.Option("--fill-gaps", help="With --extend: ask where it asks little or nothing.")
    ] = False,
    mix: Annotated[
        str | None, typer.Option("--mix", help="A YAML file of categories with shares, or `default`.")
    ] = None,
    doc: Annotated[list[str] | None, typer.Option("--doc", help="Ask about this document only. Repeatable.")] = None,
    least_tokens: Annotated[
        int, typer.Option("--least-tokens", help="Leave out chunks shorter than this.")
    ] = LEAST_TOKENS,
    nuggets_for: Annotated[
        str | None,
        typer.Option("--nuggets-for", help="A test set: write nuggets for its questions from their gold in the index."),
    ] = None,
    candidates: Annotated[
        int | None,
        typer.Option("--candidates", help="With --from traces: retrieved documents to take as gold to review."),
    ] = None,
    redact: Redact = None,
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

    By a chat model, or with --offline by grammar, in English; or from the traces of a system, with no model. With
    --nuggets-for no question is made: the facts that answers should state are written for those of a test set.
    Exit codes: 0 done, 2 bad input, 3 no question was made, 5 done but some calls of the model failed.
    """
    from karat.core.errors import UsageError, did_you_mean
    from karat.experiment.generate import generate
    from karat.experiment.logged import sample_traces
    from karat.experiment.nuggets import nuggets_for as nuggets
    from karat.report import objects
    from karat.report.build.generated import document

    if output is None and extend is None:
        raise UsageError("no file is named for the test set. Name one with -o qa.jsonl, or add to one with --extend.")
    if source not in SOURCES:
        raise UsageError(f"--from {source} is not known.{did_you_mean(source, SOURCES)} Write {' or '.join(SOURCES)}.")
    of_questions = {
        "kinds": kinds, "offline": offline, "each": each if each != EACH else None, "extend": extend,
        "fill_gaps": fill_gaps, "mix": mix, "doc": doc,
        "least_tokens": least_tokens if least_tokens != LEAST_TOKENS else None,
    }  # fmt: skip
    if source == "traces":
        of_documents = {**of_questions, "model": chat["model"], "nuggets_for": nuggets_for}
        refuse(of_documents, "is for questions made from documents: leave it out with --from traces.")
        logged = sample_traces(
            index, samples=samples, seed=seed, candidates=candidates or 0, redact=redact or (), output=output,
            force=force, columns=columns_of(map_),
        )  # fmt: skip
        _show(logged, as_json, quiet)
        return
    refuse({"candidates": candidates, "redact": redact}, "is for --from traces. Leave it out.")
    progress = counted_on_terminal(quiet or as_json)
    if nuggets_for is not None:
        refuse(of_questions, "is for questions that are made: leave it out with --nuggets-for.")
        told_of = nuggets(
            nuggets_for, index, output=output or "", force=force, columns=columns_of(map_), say=progress,
            chat={**chat, "announce": announcer(quiet or as_json)},
        )  # fmt: skip
        progress("", 0, 0)
        _show_nuggets(told_of, index, as_json, quiet)
        return
    result = generate(
        index, samples=samples, kinds=kinds, offline=offline, each=each, seed=seed, mix=mix, extend=extend,
        fill_gaps=fill_gaps, docs=doc, least_tokens=least_tokens, output=output, force=force, columns=columns_of(map_),
        say=progress, chat={**chat, "announce": announcer(quiet or as_json)},
    )  # fmt: skip
    progress("", 0, 0)
    if as_json:
        typer.echo(
            objects.generated(result.generated, result.chunks, result.testset, spent=result.spent, output=result.output)
        )
    else:
        page = document(result.generated, result.chunks, result.testset, spent=result.sentence, output=result.output)
        show_document(page, quiet=quiet, verbose=verbose)
    if result.n_failed and not (quiet or as_json):
        announced(
            f"{result.n_failed:,} call{' of the model' if result.n_failed == 1 else 's of the model'} failed. The same "
            "command with --force asks again only what has no reply yet."
        )
    if not result.questions:
        leave(NO_QUESTIONS)
    if result.n_failed:
        leave(FAILED)


def _show(logged: LoggedTestSet, as_json: bool, quiet: bool) -> None:
    """Print what was sampled from traces."""
    if as_json:
        counts = {"questions": len(logged.testset), "available": logged.available}
        typer.echo(json.dumps({**counts, "output": logged.output, "notes": logged.notes}, ensure_ascii=False, indent=2))
        return
    for note in () if quiet else logged.notes:
        typer.echo(note)
    typer.echo(f"{logged.available:,} distinct questions, {len(logged.testset):,} drawn: wrote {logged.output}")
    if not quiet:
        typer.echo(f"Answers are what the system said: go through them with `karat testset review {logged.output}`.")


def _show_nuggets(testset: NuggetTestSet, index: str, as_json: bool, quiet: bool) -> None:
    """Print which questions got nuggets and which did not."""
    outcome, new = testset.made, testset.made.nuggets
    vital = sum(nugget.vital for nugget in new)
    if as_json:
        about = {
            "output": None if testset.output is None else str(testset.output), "questions": len(outcome.testset),
            "nuggets": len(new), "vital": vital, "made": list(outcome.made), "had": list(outcome.had),
            "without": list(outcome.without), "failed": outcome.failed, "spent": testset.spent,
            "rejected": [{"question": qid, "nugget": text} for qid, text in outcome.rejected],
        }  # fmt: skip
        print_json(about)
    else:
        written = f"wrote {testset.output}" if testset.output is not None else "nothing was written"
        typer.echo(f"{len(new):,} nuggets ({vital:,} vital) for {plural(len(outcome.made), 'question')}: {written}")
        for count, what in (
            (len(outcome.had), "had nuggets, which stay as they are"),
            (len(outcome.without), "unanswerable or without gold in the index, and got none"),
            (len(outcome.rejected), "of the facts written rejected, because the gold does not bear them out"),
        ):
            if count and not quiet:
                typer.echo(f"{count:,} {what}.")
        for qid, reason in outcome.failed.items():
            typer.echo(f"{qid}: {reason}.")
        if testset.sentence is not None and not quiet:
            typer.echo(testset.sentence)
        if testset.output is not None and not quiet:
            typer.echo(f"Go through them: karat testset review {testset.output} {index}. Then: karat testset freeze.")
    if not outcome.made:
        leave(NO_QUESTIONS)
    if outcome.failed:
        leave(FAILED)
