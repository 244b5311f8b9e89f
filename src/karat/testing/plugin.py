"""The pytest plug-in: one fixture, `karat_run`. Nothing of karat is imported before a test asks for it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from karat.experiment.finished import FinishedRun

_RUN = ("fresh", "retry_errors", "changed_testset")  # options of a run that are no keys of its karat.yaml
_EXPLAIN = "__karat_explain__"  # by which a figure says more where an assertion about it fails


@pytest.fixture(scope="session")
def karat_run(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., FinishedRun]:
    """Does what a karat.yaml says and returns what it found: `karat_run("karat.yaml").mean("Recall@5")`.

    Paths count from pytest's root folder. The same experiment runs once in a session, however many tests ask for it.
    `runs_dir` names the folder of its runs, pytest's cache unless given; `answer`, `judge`, `model` and the other
    options of `karat run` stand in place of the keys of karat.yaml.
    """
    done: dict[str, FinishedRun] = {}
    ours: list[Path] = []  # the folder of runs that no test names a folder for

    def run(spec: str | os.PathLike[str] = "karat.yaml", **options: Any) -> FinishedRun:
        path = pytestconfig.rootpath / spec
        key = repr((str(path), sorted(options.items())))
        if key not in done:
            runs_dir = options.pop("runs_dir", None)
            if runs_dir is None and not ours:
                ours.append(_folder(pytestconfig, tmp_path_factory))
                _remove_finished(ours[0])
            done[key] = _run(path, ours[0] if runs_dir is None else pytestconfig.rootpath / runs_dir, **options)
        return done[key]

    return run


def pytest_assertrepr_compare(config: pytest.Config, op: str, left: object, right: object) -> list[str] | None:
    """What a failed comparison of a mean says: the figure, its interval, and the questions that broke."""
    for one, other, sign in ((left, right, op), (right, left, _turned(op))):
        explain = getattr(one, _EXPLAIN, None)
        if explain is not None:
            lines: list[str] = explain(sign, other)
            return lines
    return None


def _turned(op: str) -> str:
    """The sign seen from the other side."""
    return {">=": "<=", "<=": ">=", ">": "<", "<": ">"}.get(op, op)


def _folder(config: pytest.Config, temporary: pytest.TempPathFactory) -> Path:
    """Where runs are kept: pytest's cache, so that indexes last; a folder for each worker of pytest-xdist."""
    worker = os.environ.get("PYTEST_XDIST_WORKER", "main")
    cache = getattr(config, "cache", None)
    if cache is None:
        return temporary.mktemp("karat")
    folder: Path = cache.mkdir("karat") / worker
    return folder


def _run(spec: Path, runs_dir: Path, **options: Any) -> FinishedRun:
    """Do what a karat.yaml says; of its outputs only the rows are written, unless `outputs` asks for more."""
    from karat.experiment.run import run
    from karat.experiment.spec import load_spec

    chosen = load_spec(spec).changed({"outputs": list(options.pop("outputs", ()))})
    doing = {name: options.pop(name) for name in _RUN if name in options}
    done = run(chosen.with_options(**options), runs_dir=runs_dir, command=["pytest"], **doing)
    done.on_broken = partial(pytest.fail, pytrace=False)
    return done


def _remove_finished(runs_dir: Path) -> None:
    """Remove the finished runs of a folder: those of earlier sessions. Indexes stay, and what can be resumed."""
    from karat.experiment.store import runs_in

    for old in runs_in(runs_dir):
        if old.is_done:
            shutil.rmtree(old.path, ignore_errors=True)
