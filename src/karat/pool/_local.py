"""A pool on this machine: a plain loop for one job or one shard, else processes that take one shard after another."""

from __future__ import annotations

import os
import queue
import threading
import time
from collections.abc import Container, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from karat.core.errors import KaratError, UsageError
from karat.core.progress import Progress
from karat.pool._ledger import Ledger
from karat.pool._replies import described, plain_shard, raised, shard_of
from karat.pool._shown import ShownShards
from karat.pool._task import Shard, Stage, Task
from karat.pool.process import ChildProcess, Requests, message

ATTEMPTS = 2
"""How often a shard is tried whose process dies."""
_OFTEN = 0.1  # seconds between two reports of progress of a worker
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS")
_SERVE = f"{__name__}:serve"

_Queue = queue.SimpleQueue[tuple[Shard, Any]]


class LocalPool:
    """So many processes at a time; without a number as many as there are processors."""

    is_cluster = False

    def __init__(self, jobs: int | None = None) -> None:
        if jobs is not None and jobs < 1:
            raise UsageError(f"the number of jobs must be 1 or more, found {jobs}.")
        self.jobs = jobs or processors()

    def map(
        self,
        task: Task,
        shards: Sequence[Shard],
        ledger: Ledger,
        progress: Progress,
        *,
        anew: Container[str] = (),
    ) -> Iterator[tuple[Shard, Shard]]:
        """Each shard with what came of it, in any order.

        What the ledger holds is not done again, but for the shards of the digests `anew`.
        A process that dies, by the system for want of memory, say, is replaced and its shard tried once more.
        """
        todo = yield from ledger.standing(task, shards, anew)
        if not todo:
            return
        shown = ShownShards(task, todo, progress)
        if min(self.jobs, len(todo)) == 1:
            stage = task.open(shown.current)
            for shard in todo:
                output = ledger.write(task, stage, shard)
                shown.done(shard)
                yield shard, output
        else:
            yield from _by_processes(task, todo, ledger, min(self.jobs, len(todo)), shown)


def processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _by_processes(
    task: Task, todo: Sequence[Shard], ledger: Ledger, jobs: int, shown: ShownShards
) -> Iterator[tuple[Shard, Shard]]:
    """Several processes, each asked by a thread of its own; whatever ends this ends them."""
    waiting: _Queue = queue.SimpleQueue()
    for shard in todo:
        waiting.put((shard, None))
    events: _Queue = queue.SimpleQueue()
    workers = [_Worker(task, ledger, processors() // jobs) for _ in range(jobs)]
    threads = [threading.Thread(target=worker.work, args=(waiting, events), daemon=True) for worker in workers]
    for thread in threads:
        thread.start()
    try:
        left = len(todo)
        while left:
            shard, event = events.get()
            if isinstance(event, BaseException):
                raise event
            if isinstance(event, Shard):
                left -= 1
                shown.done(shard)
                yield shard, event
            elif isinstance(event, str):
                shown.progress(event, 0, 1)
            else:
                shown.step(shard, *event)
    finally:
        for worker in workers:
            worker.end()
        for thread in threads:
            thread.join()


class _Worker:
    """One process, started anew when it dies."""

    def __init__(self, task: Task, ledger: Ledger, threads: int) -> None:
        self._request = {"task": asdict(task), "ledger": str(ledger.folder)}
        self._label = task.label
        self._environment = dict.fromkeys(_THREADS, str(max(1, threads)))
        self._process: ChildProcess | None = None
        self._lock = threading.Lock()
        self._ended = False

    def work(self, waiting: _Queue, events: _Queue) -> None:
        """Take one shard after another until none is left; whatever happens is an event."""
        while not self._ended:
            try:
                shard, _ = waiting.get_nowait()
            except queue.Empty:
                break
            try:
                events.put((shard, self._do(shard, events)))
            except BaseException as problem:  # raised by who waits for it
                events.put((shard, problem))
                break
        self.end()

    def _do(self, shard: Shard, events: _Queue) -> Shard:
        name = shard.name or shard.path
        for attempt in range(1, ATTEMPTS + 1):
            try:
                return self._ask(shard, events)
            except EOFError:
                why = self._why_ended()
                if attempt < ATTEMPTS:
                    events.put((shard, f"{self._label}: a process ended at {name} ({why}); trying it again"))
        raise KaratError(
            f"{self._label}: the process at {name} ended {ATTEMPTS} times ({why}). "
            "If memory ran out, use fewer jobs (-j 1). What is done is kept: run the same command again."
        )

    def _ask(self, shard: Shard, events: _Queue) -> Shard:
        with self._lock:
            if self._ended:
                raise EOFError
            if self._process is None:
                self._process = ChildProcess(_SERVE, self._environment)
                self._process.send(message(self._request))
            process = self._process
        process.send(message(plain_shard(shard)))
        while True:
            reply = process.receive()
            if "step" in reply:
                events.put((shard, reply["step"]))
            elif "error" in reply:
                raise raised(reply["error"])
            else:
                return shard_of(reply["output"])

    def _why_ended(self) -> str:
        with self._lock:
            if self._process is None:
                return "stopped"
            process, self._process = self._process, None
            ended = process.ended()
            return f"{ended.how}: {ended.last_words}" if ended.last_words else ended.how

    def end(self) -> None:
        """End the process, whatever it is at."""
        with self._lock:
            self._ended = True
            if self._process is not None:
                self._process.end()


def serve() -> None:
    """Do what is asked for: what a worker runs."""
    requests = Requests()
    first = requests.next()
    task, ledger = Task(**first["task"]), Ledger(Path(first["ledger"]))
    reported = 0.0

    def progress(what: str, done: int, total: int) -> None:
        nonlocal reported
        if time.monotonic() - reported >= _OFTEN:
            reported = time.monotonic()
            requests.reply(step=[what, done, total])

    stage: Stage | None = None
    while True:
        shard = shard_of(requests.next())
        try:
            stage = stage or task.open(progress)
            requests.reply(output=plain_shard(ledger.write(task, stage, shard)))
        except Exception as problem:
            requests.reply(error=described(problem))
