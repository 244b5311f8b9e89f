"""karat gate: may this run pass."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from karat.cli._options import Debug, Json, Quiet, Run, RunsDir, refuse
from karat.cli._output import leave, print_json, show_document
from karat.core.errors import InputError, UsageError

if TYPE_CHECKING:
    from karat.report.document import Document
    from karat.results.gating import Gate

EXIT = {"pass": 0, "fail": 10, "unknown": 11}
SUMMARY = "GITHUB_STEP_SUMMARY"


def command(
    run: Run = "LAST",
    rules: Annotated[
        list[str] | None,
        typer.Argument(help='What must hold: "nDCG@10 >= 0.60", "failed == 0"; those of karat.yaml unless given.'),
    ] = None,
    baseline: Annotated[
        str | None,
        typer.Option("--baseline", help="What `baseline` in a rule means: a name, its file, or the folder of a run."),
    ] = None,
    save: Annotated[
        str | None,
        typer.Option("--save", metavar="NAME", help="Save the run as a baseline: a name, or a file.json to commit."),
    ] = None,
    system: Annotated[
        str | None, typer.Option("--system", help="The system of rules that name none; the best unless given.")
    ] = None,
    allow_incomplete: Annotated[
        bool,
        typer.Option(
            "--allow-incomplete", help="Decide by the rows there are, though some failed or the run was stopped."
        ),
    ] = False,
    allow: Annotated[
        list[str] | None, typer.Option("--allow", metavar="GUARD", help="Accept the warning of this guard. Repeatable.")
    ] = None,
    junit: Annotated[
        str | None, typer.Option("--junit", metavar="FILE", help="Write JUnit XML, a test for every rule.")
    ] = None,
    markdown: Annotated[
        str | None, typer.Option("--markdown", metavar="FILE", help="Write a comment in Markdown.")
    ] = None,
    github: Annotated[
        bool, typer.Option("--github", help="Write GitHub's step summary, and annotate what is wrong.")
    ] = False,
    runs_dir: RunsDir = "runs",
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Check a run against rules and a baseline: pass or fail, for CI.

    --save writes a small file, runs/baselines/NAME.json; delete it to remove the baseline.
    Exit codes: 0 all rules are kept, 2 bad rules or input, 10 a rule is broken or a guard fired, 11 cannot tell
    because the run is incomplete.
    """
    from karat.experiment.gate import gate
    from karat.report import objects
    from karat.report.build.gate import document

    if any(sign in run for sign in "<>="):
        raise UsageError(f"{run!r} is a rule, and stands where the run does. Name that first: karat gate LAST {run!r}.")
    if save is not None:
        if rules:
            raise UsageError("--save saves a run as a baseline, and checks no rules. Do one at a time.")
        checking = {
            "baseline": baseline,
            "junit": junit,
            "markdown": markdown,
            "github": github,
            "allow": allow or None,
        }
        refuse({**checking, "allow_incomplete": allow_incomplete}, "is for checking rules, and --save checks none.")
        _save(runs_dir, save, run, system, as_json)
        return
    result = gate(
        run, rules or (), baseline=baseline, system=system, runs_dir=runs_dir, allow_incomplete=allow_incomplete,
        allow=allow or (),
    )  # fmt: skip
    code = EXIT[result.outcome]
    _write(result, junit, markdown)
    if as_json:
        typer.echo(objects.gate(result, code))
    elif github:
        typer.echo(_unheard(document(result, broken_only=quiet), quiet), nl=False)
    else:
        show_document(document(result, broken_only=quiet), quiet=quiet)
    if github:
        _github(result, err=as_json)
    if code:
        leave(code)


def _save(runs_dir: str, name: str, run: str, system: str | None, as_json: bool) -> None:
    """Save a run as a baseline, and say what it replaces."""
    from karat.experiment.baseline import save_baseline

    saved, path, before = save_baseline(runs_dir, name, run, system)
    if as_json:
        shown = {key: getattr(saved, key) for key in ("name", "run", "testset", "system", "set_at")}
        print_json({**shown, "file": str(path)})
        return
    which = f"run {saved.run}" + (f", {system}" if system else "")
    replaced = f"; it was {before.run} before" if before is not None and before.run != saved.run else ""
    typer.echo(f"baseline {saved.name} is {which}{replaced}. Wrote {path}")


def _unheard(shown: Document, quiet: bool) -> str:
    """A document from which GitHub takes no commands."""
    from karat.report.document import level_of
    from karat.report.render import console
    from karat.report.render.github import unheard

    return unheard(console.render(shown, level_of(quiet, False)))


def _write(result: Gate, junit: str | None, markdown: str | None) -> None:
    from karat.io.writing import write_whole
    from karat.report.render.github import comment
    from karat.report.render.junit import render

    if junit is not None:
        write_whole(junit, render(result))
    if markdown is not None:
        write_whole(markdown, comment(result))


def _github(result: Gate, *, err: bool) -> None:
    """Add to the step summary, and print the annotations; GitHub reads them from both streams."""
    import os

    from karat.report.render.github import comment, workflow_commands

    target = os.environ.get(SUMMARY)
    if not target:
        typer.echo(f"karat: --github: {SUMMARY} is not set, so that no step summary is written.", err=True)
    else:
        try:
            with open(target, "a", encoding="utf-8") as file:
                file.write(comment(result))
        except OSError as problem:
            raise InputError(f"the step summary cannot be written: {problem.strerror}", place=target) from None
    for line in workflow_commands(result):
        typer.echo(line, err=err)
