"""A pool on a Ray cluster that is there: shards and what comes of them are files on storage that every node sees."""

from __future__ import annotations

import os
import shutil
from collections.abc import Container, Iterator, Sequence
from dataclasses import asdict, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from karat.core.errors import KaratError
from karat.core.progress import Progress
from karat.core.versions import versions
from karat.pool._replies import plain_shard, raised, shard_of
from karat.pool._shown import ShownShards
from karat.pool._task import Shard
from karat.pool.process import ChildProcess, message

if TYPE_CHECKING:
    from karat.pool._ledger import Ledger
    from karat.pool._settings import PoolSettings
    from karat.pool._task import Task

_SERVE = "karat.pool._ray_leader:serve"
_ENVIRONMENT = {"RAY_USAGE_STATS_ENABLED": "0"}


class RayPool:
    """The workers of a cluster; those of its nodes that come and go included."""

    is_cluster = True

    def __init__(self, settings: PoolSettings, logs: Path | None = None) -> None:
        if find_spec("ray") is None:
            raise KaratError("the pool ray needs Ray. Install it: pip install 'karat[ray]'.")
        self._settings, self._logs = settings, logs
        self._leader: ChildProcess | None = None
        self.jobs = settings.jobs or self._connected()
        """How many shards at a time; without a number as many as the cluster has processors now."""

    def _connected(self) -> int:
        """Start the process that leads; how many shards the cluster does at a time."""
        self._leader = ChildProcess(_SERVE, _ENVIRONMENT)
        settings = self._settings
        first = {"address": settings.address or "auto", "jobs": settings.jobs, "resources": dict(settings.resources)}
        self._leader.send(message(first))
        return int(self._reply()["jobs"])

    def _reply(self) -> dict[str, Any]:
        assert self._leader is not None
        try:
            reply: dict[str, Any] = self._leader.receive()
        except EOFError:
            ended = self._leader.ended()
            self._leader = None
            raise KaratError(
                f"the process that leads on the Ray cluster ended ({ended.how}: {ended.last_words}). What is done is "
                "kept: run the same command again."
            ) from None
        if "error" in reply:
            self._end()
            raise raised(reply["error"])
        return reply

    def map(
        self,
        task: Task,
        shards: Sequence[Shard],
        ledger: Ledger,
        progress: Progress,
        *,
        anew: Container[str] = (),
    ) -> Iterator[tuple[Shard, Shard]]:
        """Each shard with what came of it, in any order; see Pool.

        A shard whose worker dies is done once more, one whose node goes on another; a node without room is left alone.
        """
        todo = yield from ledger.standing(task, shards, anew)
        if not todo:
            return
        if self._leader is None:
            self._connected()
        assert self._leader is not None
        shown, by_digest = ShownShards(task, todo, progress), dict[str, list[Shard]]()
        for shard in todo:
            by_digest.setdefault(shard.digest, []).append(shard)
        probe = ledger.probe()
        try:
            distinct = [same[0] for same in by_digest.values()]
            self._leader.send(message(self._request(task, distinct, ledger, probe)))
            while "done" not in (event := self._reply()):
                if "output" in event:
                    key, output = event["output"]
                    done = shard_of(output)
                    ledger.await_folder(done.path)
                    shown.done(by_digest[key][0])
                    yield from ((shard, replace(done, name=shard.name)) for shard in by_digest[key])
                elif "step" in event:
                    key, *step = event["step"]
                    shown.step(by_digest[key][0], *step)
                else:
                    progress(event["note"], 0, 1)
        except BaseException:
            self._end()
            raise
        finally:
            shutil.rmtree(probe.parent, ignore_errors=True)

    def _request(self, task: Task, todo: Sequence[Shard], ledger: Ledger, probe: Path) -> dict[str, Any]:
        home = {
            "folder": os.getcwd(),
            "probe": str(probe.absolute()),
            "token": probe.read_text("utf-8"),
            "versions": versions(),
        }
        shards = [{**plain_shard(shard), "log": ledger.name_of(task, shard)} for shard in todo]
        logs = str(self._logs.absolute()) if self._logs is not None else None
        return {
            "home": home,
            "task": asdict(task),
            "ledger": str(ledger.folder.absolute()),
            "logs": logs,
            "shards": shards,
        }

    def _end(self) -> None:
        """End the process that leads, and with it all that is under way."""
        if self._leader is not None:
            self._leader.end()
            self._leader = None

    def __del__(self) -> None:
        if getattr(self, "_leader", None) is not None:
            self._end()
