"""What a worker of a Ray cluster does: one shard after another, as the process that leads says in JSON."""

from __future__ import annotations

import json
import os
import socket
import time
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from karat.core.errors import KaratError
from karat.core.progress import Progress
from karat.core.versions import PACKAGES, versions
from karat.pool._ledger import Ledger
from karat.pool._replies import described, plain_shard, shard_of
from karat.pool._task import Stage, Task
from karat.pool.process import FEW_THREADS

_OFTEN = 0.5  # seconds between two reports of progress of a shard

_at_home: set[str] = set()
_stages: dict[str, tuple[Stage, dict[str, Progress]]] = {}


def work(request: str, board: Any) -> str:
    """Do a shard, or where none is named look whether one could be done here; what came of it, or the error."""
    from ray import get, get_runtime_context

    asked = json.loads(request)
    node = get_runtime_context().get_node_id()
    reply: dict[str, Any] = {"node": node, "host": socket.gethostname()}
    try:
        _be_at_home(asked["home"])
        if "shard" in asked:
            key = asked["shard"]["digest"]
            get(board.begun.remote(key, node))  # known before it can end this process
            with _logged(asked["log"], asked["task"]["label"], asked["shard"]["name"], node):
                reply["output"] = _done(asked, lambda *step: board.step.remote(key, *step))
    except Exception as problem:
        reply["error"] = described(problem)
    return json.dumps(reply)


def _be_at_home(home: Mapping[str, Any]) -> None:
    """Stand in the folder of the process that leads; refuse where its files or its versions are not here."""
    key = json.dumps(home, sort_keys=True)
    if key in _at_home:
        return
    where = f"the node {socket.gethostname()}"
    for name, value in FEW_THREADS.items():
        os.environ.setdefault(name, value)
    os.environ.setdefault("RAYON_NUM_THREADS", os.environ.get("OMP_NUM_THREADS", "1"))  # Ray sets but the latter
    here, there = (
        {name: found.get(name, "not installed") for name in PACKAGES} for found in (versions(), home["versions"])
    )
    if other := [name for name in PACKAGES if here[name] != there[name]]:
        what = ", ".join(f"{name} {here[name]} instead of {there[name]}" for name in other)
        raise KaratError(f"{where} has {what}. Install the same versions on every node.")
    try:
        seen = Path(home["probe"]).read_text("utf-8")
    except OSError:
        seen = None
    if seen != home["token"]:
        raise KaratError(
            f"{where} does not see the files in {Path(home['probe']).parents[1]}. Index and run in a folder on storage "
            "that every node mounts at the same path."
        )
    try:
        os.chdir(home["folder"])
    except OSError:
        raise KaratError(
            f"{where} has no folder {home['folder']}. Start karat in a folder that every node mounts at the same path."
        ) from None
    _at_home.add(key)


def _done(asked: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
    task, shard, ledger = Task(**asked["task"]), shard_of(asked["shard"]), Ledger(Path(asked["ledger"]))
    reported = 0.0

    def report(what: str, done: int, total: int) -> None:
        nonlocal reported
        if time.monotonic() - reported >= _OFTEN:
            reported = time.monotonic()
            progress(what, done, total)

    key = json.dumps([task.name, task.settings, task.hints], sort_keys=True)
    if key not in _stages:
        _stages.clear()  # a stage may hold a model
        current: dict[str, Progress] = {"report": report}
        _stages[key] = task.open(lambda *step: current["report"](*step)), current
    stage, current = _stages[key]
    current["report"] = report
    return plain_shard(ledger.write(task, stage, shard))


@contextmanager
def _logged(log: str | None, label: str, name: str, node: str) -> Iterator[None]:
    """What is printed meanwhile goes to a file, with the time, the node and the error, if there was one."""
    if log is None:
        yield
        return
    path = Path(log)
    path.parent.mkdir(parents=True, exist_ok=True)
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0), 0o600)
    kept = os.dup(1), os.dup(2)
    os.dup2(file, 1)
    os.dup2(file, 2)

    def line(what: str) -> None:
        os.write(file, f"{datetime.now(UTC).isoformat(timespec='seconds')} {what}\n".encode("utf-8", "replace"))

    begun = time.monotonic()
    try:
        line(f"{label}: {name} on {socket.gethostname()} (node {node[:12]}, process {os.getpid()})")
        yield
        line(f"done in {time.monotonic() - begun:.1f} s")
    except BaseException as problem:
        line(f"failed after {time.monotonic() - begun:.1f} s: {problem}")
        os.write(file, "".join(traceback.format_exception(problem)).encode("utf-8", "replace"))
        raise
    finally:
        for number, before in enumerate(kept, 1):
            os.dup2(before, number)
            os.close(before)
        os.close(file)


class Owner:
    """A worker that lasts, for the shards of one owner: it opens what they need once."""

    def work(self, request: str, board: Any) -> str:
        """As `work`."""
        return work(request, board)


class Board:
    """Where workers say how far they are; the process that leads looks at it from time to time."""

    def __init__(self) -> None:
        self._begun: dict[str, str] = {}
        self._steps: dict[str, tuple[str, int, int]] = {}

    def begun(self, key: str, node: str) -> None:
        """That a shard is begun, on which node."""
        self._begun[key] = node

    def step(self, key: str, what: str, done: int, total: int) -> None:
        """How far a shard is."""
        self._steps[key] = (what, done, total)

    def taken(self) -> tuple[dict[str, str], dict[str, tuple[str, int, int]]]:
        """What was begun and where, and the last step of each shard, since this was asked last."""
        taken = self._begun, self._steps
        self._begun, self._steps = {}, {}
        return taken
