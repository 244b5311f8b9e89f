"""Baselines: names for runs that later ones are held against, kept beside the runs."""

from __future__ import annotations

import json
import os
import re
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from karat.core.errors import InputError, UsageError, did_you_mean
from karat.experiment.store import MANIFEST, RunFolder, find_run, open_run
from karat.io.lock import locked
from karat.io.opening import read_whole
from karat.io.writing import write_whole
from karat.results.gating import Baseline

BASELINES = "baselines.json"
_NAME = re.compile(r"[\w][\w.-]{0,59}")


def baselines_in(runs_dir: str | os.PathLike[str]) -> dict[str, Baseline]:
    """Every baseline of a folder of runs, by name."""
    path = Path(runs_dir) / BASELINES
    try:
        data = json.loads(read_whole(path))
        return {name: Baseline(name=name, **_checked(about)) for name, about in sorted(data["baselines"].items())}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as problem:
        raise InputError(
            f"the baselines cannot be read: {problem}",
            place=str(path),
            remedy="Remove the file and set them again: `karat baseline set NAME RUN`.",
        ) from None


def _checked(about: dict[str, Any]) -> dict[str, Any]:
    kept = {name: about.get(name) for name in ("run", "testset", "system", "set_at")}
    if not all(isinstance(value, str) for name, value in kept.items() if name != "system" or value is not None):
        raise ValueError("a baseline lacks its run or test set")
    if Path(str(kept["run"])).name != kept["run"]:
        raise ValueError(f"{kept['run']!r} is no run's id")
    return kept


def set_baseline(
    runs_dir: str | os.PathLike[str], name: str, run: str, system: str | None = None
) -> tuple[Baseline, Baseline | None]:
    """Give a finished run a name; what the name stood for before is returned too."""
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"{name!r} cannot name a baseline. Use up to 60 letters, digits, - and _, such as main or release-2."
        )
    folder = find_run(runs_dir, run)
    if not folder.is_done:
        raise UsageError(
            f"run {folder.id} is {folder.state}, and only a finished run can be a baseline. Resume it with `karat run`."
        )
    if folder.path.parent.resolve() != Path(runs_dir).resolve():
        raise UsageError(
            f"{folder.path} is not in {runs_dir}, where its name would be kept. Give its folder as --runs-dir, or name "
            "the path itself: `karat gate --baseline PATH`."
        )
    if system is not None:
        from karat.results.serial import load_study

        systems = load_study(folder.path).evaluation.scores.systems
        if system not in systems:
            offered = f"It has {', '.join(systems[:12])}."
            raise UsageError(f"run {folder.id} has no system {system!r}.{did_you_mean(system, systems)} {offered}")
    now = datetime.now(UTC).isoformat(timespec="seconds")
    made = Baseline(name=name, run=folder.id, testset=testset_of(folder), system=system, set_at=now)
    with locked(Path(runs_dir), "another process is at the baselines. Try again."):
        kept = baselines_in(runs_dir)
        before = kept.get(name)
        _write(runs_dir, {**kept, name: made})
    return made, before


def remove_baseline(runs_dir: str | os.PathLike[str], name: str) -> Baseline:
    """Forget a name; its run stays."""
    find_baseline(runs_dir, name)
    with locked(Path(runs_dir), "another process is at the baselines. Try again."):
        kept = baselines_in(runs_dir)
        gone = kept.pop(name)
        _write(runs_dir, kept)
    return gone


def find_baseline(runs_dir: str | os.PathLike[str], name: str) -> Baseline:
    """The baseline of a name, or a refusal that says what there is."""
    kept = baselines_in(runs_dir)
    if name not in kept:
        offered = f"There are {', '.join(kept)}." if kept else "None is set yet."
        raise UsageError(
            f"there is no baseline {name!r} in {runs_dir}.{did_you_mean(name, kept)} {offered} Set it: `karat baseline "
            f"set {name} RUN`."
        )
    return kept[name]


def open_baseline(runs_dir: str | os.PathLike[str], name: str) -> tuple[RunFolder, Baseline]:
    """The run that a baseline's name means, or that stands at a path."""
    if (Path(name) / MANIFEST).is_file():
        folder = open_run(Path(name))
        return folder, Baseline(name=folder.id, run=folder.id, testset=testset_of(folder))
    found = find_baseline(runs_dir, name)
    path = Path(runs_dir) / found.run
    if not (path / MANIFEST).is_file():
        raise UsageError(
            f"baseline {name!r} is run {found.run}, which is not in {runs_dir} any more: it was deleted or moved. Set "
            f"it to another run: `karat baseline set {name} RUN`."
        )
    folder = open_run(path)
    if testset_of(folder) != found.testset:
        raise UsageError(
            f"baseline {name!r}: run {found.run} is not what it was when the baseline was set: its test set is another "
            f"one. Set it again: `karat baseline set {name} RUN`."
        )
    return folder, found


def testset_of(folder: RunFolder) -> str:
    """The digest of the test set that a run is of."""
    inputs = folder.manifest.get("inputs")
    testset = inputs.get("testset") if isinstance(inputs, dict) else None
    digest = testset.get("digest") if isinstance(testset, dict) else None
    if not isinstance(digest, str):
        raise UsageError(f"run {folder.id} does not say which test set it is of, so it cannot be a baseline.")
    return digest


def _write(runs_dir: str | os.PathLike[str], kept: dict[str, Baseline]) -> None:
    plain = {name: {k: v for k, v in asdict(one).items() if k != "name"} for name, one in sorted(kept.items())}
    write_whole(Path(runs_dir) / BASELINES, json.dumps({"baselines": plain}, ensure_ascii=False, indent=1) + "\n")
