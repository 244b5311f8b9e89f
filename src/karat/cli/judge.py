"""karat judge: measures of stored answers by a language model."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from karat.cli._options import (
    CallsFile,
    Claims,
    Debug,
    Json,
    Quiet,
    Run,
    RunsDir,
    Verbose,
    refuse,
    with_chat_of_run,
    with_hosts,
    with_pool,
)
from karat.cli._output import (
    FAILED,
    announcer,
    counted_on_terminal,
    leave,
    print_json,
    show,
    show_document,
    show_planned,
)
from karat.core.progress import Progress

if TYPE_CHECKING:
    from karat.experiment.models import ModelSettings


@with_hosts
@with_pool
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
    claims: Claims = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be judged, and what that takes and costs; ask nothing.")
    ] = False,
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
    """Judge the answers of a run by a language model, without answering again.

    Options about the model stand in place of the keys of the run's karat.yaml.
    Exit codes: 0 done, 2 bad input, 5 done but some judgements failed.
    """
    from karat.core.scores import Status
    from karat.experiment.judge import judge, judging
    from karat.experiment.planned import planned_judging
    from karat.experiment.store import find_run
    from karat.report import objects
    from karat.report.build.study import document

    folder = find_run(runs_dir, run)
    progress = counted_on_terminal(quiet or as_json)
    pool = chat.pop("pool")
    chat |= {"calls": calls, "announce": announcer(quiet or as_json)}
    if tamper_test:
        given = {"system": system or None, "repeat": chat["repeat"], "claims": claims, "dry_run": dry_run, "pool": pool}
        refuse(given, "would change nothing: the tamper test has cases of its own. Leave it out.")
        _tamper(judging(folder, chat).within(folder.path.parent), measure, as_json, progress)
        return
    if dry_run:
        planned = planned_judging(folder, measure or (), chat=chat, systems=system or (), claims=claims)
        show_planned(planned, as_json=as_json)
        return
    judged = judge(folder, measure or (), chat=chat, systems=system or (), claims=claims, pool=pool, progress=progress)
    study = judged.study
    progress("", 0, 0)
    place = str(folder.path)
    shown = partial(document, place=place), partial(objects.study, place=place)
    show(study, *shown, as_json=as_json, quiet=quiet, verbose=verbose)
    if (study.evaluation.scores.status == Status.failed).any():
        leave(FAILED)


def _tamper(settings: ModelSettings, measures: list[str] | None, as_json: bool, progress: Progress) -> None:
    """Print how far a judge can be moved."""
    from dataclasses import asdict

    from karat.experiment.models import close, models_of
    from karat.experiment.tamper import JUDGES, tamper
    from karat.report.build.tamper import document

    models = models_of(settings)
    try:
        moved = asdict(tamper(models.chat, measures or JUDGES, progress=progress))
    finally:
        close(models)
    progress("", 0, 0)
    if as_json:
        print_json(moved)
    else:
        show_document(document(moved))
    if any(one["failed"] for one in moved["plain"]):
        leave(FAILED)
