"""What the pool is asked for while an index is built or a run is made, in a process of its own: prints JSON.

    python -m benchmarks._counted_pool index|run OWNERS < settings

The pool says that it is a cluster, so that all is done as on one, and does one shard after another in a worker on this
machine: what workers take and what the process that leads takes are counted apart, whoever else is busy here.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import threading
from collections import Counter, defaultdict
from collections.abc import Container, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import karat
from benchmarks._growth import family, resident
from karat.pool import Ledger, PoolSettings, Progress, Shard, Task
from karat.pool._local import _by_processes
from karat.pool._shown import ShownShards
from karat.systems import index_build

PIECE_BYTES = 8 << 20
_LOOKS = 0.05  # seconds between two looks at the memory


class CountedPool:
    """So many owners. Seconds of processors, shards, and bytes read and written, by what tasks are labelled."""

    is_cluster = True

    def __init__(self, owners: int) -> None:
        self.jobs = owners
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self.shards, self.moved = Counter[str](), Counter[str]()

    def map(
        self,
        task: Task,
        shards: Sequence[Shard],
        ledger: Ledger,
        progress: Progress,
        *,
        anew: Container[str] = (),
    ) -> Iterator[tuple[Shard, Shard]]:
        todo = yield from ledger.standing(task, shards, anew)
        for owner in sorted({shard.owner for shard in todo}, key=lambda one: -1 if one is None else one):
            own = [shard for shard in todo if shard.owner == owner]
            before = _seconds(resource.RUSAGE_CHILDREN)
            for shard, output in _by_processes(task, own, ledger, 1, ShownShards(task, own, progress)):
                read = shard.rows if task.counts_bytes else size_of(shard.path)
                self.moved[task.label] += read + size_of(output.path)
                self.shards[task.label] += 1
                yield shard, output
            self.seconds[task.label] += _seconds(resource.RUSAGE_CHILDREN) - before


def size_of(path: Path) -> int:
    """The bytes of a file, or of all files in a folder."""
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files if file.is_file())


def counted(asked: str, owners: int, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Build an index or make a run by a counted pool; what it took."""
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})  # as a shard has: threads that wait for others count too
    pool, peaks, ended = CountedPool(owners), Counter[str](), threading.Event()
    index_build.PIECE_BYTES = settings.get("piece_bytes", PIECE_BYTES)

    def watch() -> None:
        while not ended.wait(_LOOKS):
            leader, *workers = family(os.getpid())
            peaks["leader"] = max(peaks["leader"], resident(leader))
            peaks["worker"] = max([peaks["worker"], *map(resident, workers)])

    watching = threading.Thread(target=watch, daemon=True)
    watching.start()
    before = _seconds(resource.RUSAGE_SELF)
    if asked == "index":
        built = karat.index(settings["docs"], settings["index"], pool=pool)
        disk, rows = size_of(Path(settings["index"])), len(built.chunks)
    else:
        PoolSettings.open = lambda *given: pool  # type: ignore[method-assign]
        done = karat.run(settings["spec"], fresh=True)
        disk, rows = size_of(done.folder.path), len(done.study.evaluation.testset)
    leader = _seconds(resource.RUSAGE_SELF) - before
    ended.set()
    watching.join()
    return {
        "seconds": {**pool.seconds, "leading": leader}, "shards": pool.shards, "moved": pool.moved,
        "memory": peaks, "disk": disk, "rows": rows,
    }  # fmt: skip


def _seconds(whose: int) -> float:
    usage = resource.getrusage(whose)
    return usage.ru_utime + usage.ru_stime


if __name__ == "__main__":
    print(json.dumps(counted(sys.argv[1], int(sys.argv[2]), json.load(sys.stdin))))
