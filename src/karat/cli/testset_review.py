"""karat testset review: the questions of a test set in a file to decide about, and the decisions applied."""

from __future__ import annotations

from typing import Annotated

import typer

from karat.cli._options import Debug, Json, Map, Quiet, Testset, columns_of, refuse
from karat.cli._output import print_json, progress_on_terminal


def command(
    testset: Testset,
    index: Annotated[
        str | None, typer.Argument(help="A folder that `karat index` wrote, to see the chunks that hold the gold.")
    ] = None,
    apply: Annotated[
        str | None, typer.Option("--apply", help="The review with its verdicts: write the test set they make.")
    ] = None,
    output: Annotated[
        str | None,
        typer.Option("-o", "--output", help="The file to write: TESTSET.review.csv, or with --apply in place."),
    ] = None,
    labels: Annotated[
        str | None,
        typer.Option("--labels", help="A labels.jsonl of `karat view`: bad questions and changed gold become edits."),
    ] = None,
    map_: Map = None,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Write the questions to a file to keep, edit or drop each, and apply the verdicts.

    Exit codes: 0 done, 2 bad input.
    """
    from karat.experiment.review import apply_review, export_review

    columns = columns_of(map_)
    if apply is None:
        progress = progress_on_terminal(quiet or as_json)
        path, questions = export_review(
            testset, index, output=output, labels=labels, columns=columns, say=progress,
            notify=lambda note: typer.echo(note, err=True),
        )  # fmt: skip
        progress("")
        if questions.changed is not None:
            typer.echo(f"{testset} is {questions.changed}.", err=True)
        if as_json:
            print_json({"output": str(path), "questions": len(questions)})
            return
        typer.echo(
            f"wrote {len(questions):,} questions to {path}. Write keep or drop into the column verdict, edit question "
            f"and answer where they stand, then: karat testset review {testset} --apply {path}"
        )
        return
    refuse({"labels": labels}, "is for writing the review. Leave it out.")
    done = apply_review(testset, apply, output=output, columns=columns)
    if as_json:
        about = {
            "output": str(done.path), "questions": len(done.testset), "digest": done.testset.digest,
            "original": None if done.original is None else str(done.original), "kept": done.kept,
            "edited": done.edited, "dropped": done.dropped, "undecided": done.undecided,
        }  # fmt: skip
        print_json(about)
        return
    original = f" The original is {done.original}." if done.original is not None else ""
    typer.echo(
        f"wrote {len(done.testset):,} questions to {done.path}, digest {done.testset.digest[:12]}: {done.kept:,} kept "
        f"({done.edited:,} edited), {done.dropped:,} dropped, {done.undecided:,} undecided.{original}"
    )
