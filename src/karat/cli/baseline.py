"""karat baseline: names for the runs that later ones are held against."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from karat.cli._options import Debug, Json, RunsDir

if TYPE_CHECKING:
    from karat.results.gating import Baseline

ACTIONS = ("set", "list", "show", "remove")


def command(
    action: Annotated[str, typer.Argument(help="set NAME RUN, list, show NAME, or remove NAME.")] = "list",
    name: Annotated[str | None, typer.Argument(help="The baseline: main, release-2, ...")] = None,
    run: Annotated[
        str | None, typer.Argument(help="For set: LAST, a run's name, or the beginning of its id; LAST unless given.")
    ] = None,
    system: Annotated[
        str | None, typer.Option("--system", help="For set: the system that rules are held against.")
    ] = None,
    runs_dir: RunsDir = "runs",
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Name a run as the baseline that `karat gate` holds later runs against; list, show or remove such names.

    Exit codes: 0 done, 2 bad usage, or no such baseline or run.
    """
    import json
    from dataclasses import asdict

    from karat.core.errors import UsageError, did_you_mean
    from karat.experiment.baseline import baselines_in, find_baseline, remove_baseline, set_baseline
    from karat.report.build.runs import baselines_document
    from karat.report.render import console

    if action not in ACTIONS:
        offered = f"There are {', '.join(ACTIONS)}."
        raise UsageError(f"karat baseline {action}: no such action.{did_you_mean(action, ACTIONS)} {offered}")
    if (name is None) != (action == "list"):
        raise UsageError(f"karat baseline {action}: " + ("name the baseline." if name is None else "takes no name."))
    if action != "set" and (run is not None or system is not None):
        raise UsageError(f"karat baseline {action}: takes no run and no system.")
    kept: list[Baseline] = []
    said = ""
    if action == "list":
        kept = list(baselines_in(runs_dir).values())
    elif action == "show":
        kept = [find_baseline(runs_dir, str(name))]
    elif action == "remove":
        kept = [remove_baseline(runs_dir, str(name))]
        said = f"{name} is no baseline any more; its run {kept[0].run} stays."
    else:
        made, before = set_baseline(runs_dir, str(name), run or "LAST", system)
        kept = [made]
        said = f"{name} is run {made.run}" + (f", {system}" if system else "")
        said += f"; it was {before.run} before." if before is not None and before.run != made.run else "."
    if as_json:
        rows = [{**asdict(one), "problem": _problem(runs_dir, one)} for one in kept]
        typer.echo(json.dumps(rows if action == "list" else rows[0], ensure_ascii=True, indent=2))
    elif said:
        typer.echo(said)
    else:
        problems = [(one, _problem(runs_dir, one) or "") for one in kept]
        console.show(baselines_document(problems, runs_dir), sys.stdout)


def _problem(runs_dir: str, one: Baseline) -> str | None:
    """Why a baseline cannot be used, where it cannot."""
    from pathlib import Path

    from karat.experiment.store import MANIFEST

    return None if (Path(runs_dir) / one.run / MANIFEST).is_file() else "its run is gone: deleted or moved"
