"""karat judge: measures of stored answers by a language model."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from karat.cli._options import (
    CallsFile,
    Debug,
    Json,
    Quiet,
    Run,
    RunsDir,
    Verbose,
    counted_on_terminal,
    with_chat_of_run,
    with_hosts,
)
from karat.cli.run import announced
from karat.core.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from karat.experiment.models import ModelSettings

    Progress = Callable[[str, int, int], None]


@with_hosts
@with_chat_of_run
def command(
    run: Run = "LAST",
    measure: Annotated[
        list[str] | None,
        typer.Option("-m", "--measure", help="Faithfulness, Correctness, ContextRelevance, ... Repeatable."),
    ] = None,
    system: Annotated[
        list[str] | None,
        typer.Option("--system", help="A system whose answers are judged, all by default. Repeatable."),
    ] = None,
    tamper_test: Annotated[
        bool,
        typer.Option("--tamper-test", help="Measure how far injection, verbosity and position move this judge."),
    ] = False,
    calls: CallsFile = None,
    runs_dir: RunsDir = "runs",
    as_json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
    debug: Debug = False,
    **chat: Any,
) -> None:
    """Judge the answers of a run by a language model, without retrieving or answering anything again.

    Options about the model stand in place of the keys of the run's karat.yaml.
    Exit codes: 0 done, 2 bad input, 5 done but some judgements failed.
    """
    from karat.experiment.judge import judge, judging
    from karat.experiment.store import find_run
    from karat.report import objects
    from karat.report.build.study import document
    from karat.report.render import console

    folder = find_run(runs_dir, run)
    progress = counted_on_terminal(quiet or as_json)
    chat |= {"calls": calls, "announce": None if quiet or as_json else announced}
    if tamper_test:
        if system or chat["repeat"] is not None:
            raise UsageError("the tamper test has cases of its own: --system and --repeat would change nothing.")
        _tamper(judging(folder, chat).within(folder.path.parent), measure, as_json, progress)
        return
    study = judge(folder, measure or (), chat=chat, systems=system or (), progress=progress).study
    progress("", 0, 0)
    place = str(folder.path)
    if as_json:
        typer.echo(objects.study(study, place))
    else:
        console.show(document(study, place), sys.stdout, quiet=quiet, verbose=verbose)
    if (study.evaluation.scores.status == 2).any():
        sys.stdout.flush()
        raise typer.Exit(5)


def _tamper(settings: ModelSettings, measures: list[str] | None, as_json: bool, progress: Progress) -> None:
    """Print how far a judge can be moved."""
    import json
    from dataclasses import asdict

    from karat.experiment.models import close, models_of
    from karat.experiment.tamper import JUDGES, tamper
    from karat.report.build.tamper import document
    from karat.report.render import console

    models = models_of(settings)
    try:
        found = asdict(tamper(models.chat, measures or JUDGES, progress=progress))
    finally:
        close(models)
    progress("", 0, 0)
    if as_json:
        typer.echo(json.dumps(found, ensure_ascii=False, indent=2))
    else:
        console.show(document(found), sys.stdout)
    if any(one["failed"] for one in found["plain"]):
        sys.stdout.flush()
        raise typer.Exit(5)
