"""karat review: a test set, question by question."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from karat.cli._options import Debug, Json, Map, Quiet, columns_of, progress_on_terminal

if TYPE_CHECKING:
    from karat.experiment.review import Session


def command(
    testset: Annotated[str, typer.Argument(help="Questions with gold: any format of docs/formats.md.")],
    index: Annotated[
        str | None, typer.Argument(help="A folder that `karat index` wrote, to see the chunks that hold the gold.")
    ] = None,
    start: Annotated[str | None, typer.Option("--from", help="Begin at the question with this id.")] = None,
    apply: Annotated[bool, typer.Option("--apply", help="Write the test set with what was decided.")] = False,
    output: Annotated[
        str | None, typer.Option("-o", "--output", help="With --apply: write to this file, not in place.")
    ] = None,
    map_: Map = None,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Walk through the questions of a test set: keep, edit or drop each; every key is saved at once.

    --json prints how far the review is. Where input is no terminal, commands are read a line each.
    Exit codes: 0 done, 2 bad input.
    """
    import json
    from dataclasses import asdict

    from karat.core.errors import UsageError
    from karat.experiment.review import apply_review, begin
    from karat.report import reviewed

    if output is not None and not apply:
        raise UsageError("-o is where --apply writes to. Add --apply, or leave it out.")
    columns = columns_of(map_)
    if apply:
        done = apply_review(testset, output=output, columns=columns)
        told = {
            "output": str(done.path), "questions": len(done.testset), "digest": done.testset.digest,
            "original": None if done.original is None else str(done.original),
        }  # fmt: skip
        if as_json:
            typer.echo(json.dumps(told, ensure_ascii=False, indent=2))
            return
        kept = f" The original is {done.original}." if done.original is not None else ""
        typer.echo(f"wrote {len(done.testset):,} questions to {done.path}, digest {done.testset.digest[:12]}.{kept}")
        return
    progress = progress_on_terminal(quiet or as_json)
    session = begin(testset, index, columns=columns, start=start, say=progress)
    progress("")
    if as_json:
        counts = session.review.counts
        typer.echo(json.dumps({**asdict(counts), "undecided": counts.undecided}, indent=2))
        return
    if session.review.testset.changed is not None:
        typer.echo(f"{testset} is {session.review.testset.changed}.", err=True)
    if session.review.outdated:
        n = len(session.review.outdated)
        about = "1 question that was" if n == 1 else f"{n:,} questions that were"
        typer.echo(f"{about} changed after being decided about: undecided again.", err=True)
    _walk(session)
    typer.echo(reviewed.progress(session.review.counts, None))
    if session.review.decisions:
        typer.echo(f"To write the test set with what was decided: karat review {testset} --apply")


def _walk(session: Session) -> None:
    """Show, read a command, carry it out, until all is decided or the user quits."""
    from karat.core.errors import UsageError
    from karat.experiment.review import KEYS
    from karat.report import reviewed

    while (page := session.page) is not None:
        reviewed.show(
            sys.stdout, number=page.number, of=len(session.review.testset), question=page.question, stood=page.stood,
            verdict=page.verdict, chunks=page.chunks, remarks=page.remarks, has_index=session.resolution is not None,
        )  # fmt: skip
        typer.echo(f"\n{reviewed.progress(session.review.counts, session.seconds_each)}\n{reviewed.keys(KEYS)}")
        while True:
            line = _key()
            if line is None:
                return
            try:
                if not session.do(line, _text):
                    return
                break
            except UsageError as problem:
                typer.echo(str(problem))


def _key() -> str | None:
    """One key on a terminal, one line elsewhere; None where input has ended."""
    if not sys.stdin.isatty():
        line = sys.stdin.readline()
        while line and not line.strip():
            line = sys.stdin.readline()
        return line or None
    key = typer.getchar()
    return None if key == "\x04" else key


def _text(what: str, stands: str) -> str | None:
    """A line that the user writes in place of the text that stands."""
    from karat.report.reviewed import editable

    if not sys.stdin.isatty():
        return sys.stdin.readline() or None
    try:
        import readline
    except ImportError:
        return input(f"{what}: ")
    readline.set_startup_hook(lambda: readline.insert_text(editable(stands)))
    try:
        return input(f"{what}: ")
    except EOFError:
        return None
    finally:
        readline.set_startup_hook(None)
