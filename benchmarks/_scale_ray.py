"""The same commands by the local pool and by Ray: 1, 2 and 4 workers, and what either takes for a task and a shard.

    python -m benchmarks scale --pool ray [PART ...] [--most N] [--folder FOLDER]

Parts: index (BM25), embed (dense), run (three systems), overhead. The corpus is of `--most` passages, 250,000 unless
said: above 64 MB it is read in pieces. A worker is a node of its own with one processor, on this machine: with more
workers than processors nothing can be faster. The cluster is started before a command and stopped after it, and is not
timed. Processor seconds are those of all processes, Ray's own included.
"""

from __future__ import annotations

import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks import _made_files as made
from benchmarks._growth import cost_of, processor_seconds
from benchmarks.scale import Scale, karat
from karat.pool import Ledger, PoolSettings, Shard, Task

PASSAGES, QUESTIONS = 250_000, 1_000
WORKERS = (1, 2, 4)
_LOOKS = 0.2  # seconds between two looks at what processes have taken
FEW, MANY = 4, 204  # shards: what more of them take, divided by how many more, is what one takes
SPEC = """name: scale
index: passages.index
testset: qa.jsonl
systems: [pure_dense, pure_sparse, balanced]
"""


class ScaleByRay:
    """The parts, over one folder of made files."""

    def __init__(self, folder: Path, most: int | None) -> None:
        self._passages, self._files = most or PASSAGES, Scale(folder, None, None)
        self._scratch = folder / "overhead"

    def index(self) -> None:
        """karat index, BM25 alone: reading, chunking, counting."""
        self._beside("index: BM25", self._indexed("bm25"))

    def embed(self) -> None:
        """karat index, dense alone: reading, chunking, embedding."""
        self._beside("index: dense", self._indexed("dense"))

    def run(self) -> None:
        """karat run of three systems; the index stands."""
        folder = self._files.passages(self._passages)
        if not (folder / "passages.index").exists():
            cost_of(karat("index", "passages.jsonl", "-o", "passages.index"), folder)
        made.write_questions(folder / "qa.jsonl", folder / "passages.jsonl", QUESTIONS, self._passages)

        def once(pool: Sequence[str], jobs: int) -> Took:
            keys = SPEC if pool else f"{SPEC}pool: {{jobs: {jobs}}}\n"
            (folder / "karat.yaml").write_text(keys, "utf-8")
            return took(karat("run", "--fresh", *pool), folder)

        self._beside(f"run: {QUESTIONS:,} questions x 3 systems", once)

    def overhead(self) -> None:
        """A task that does nothing, over few shards and many; with Ray also by owners, one for each worker."""
        for workers in WORKERS:
            self._nothing(f"local, {workers} processes", PoolSettings(jobs=workers), None)
            with cluster(workers) as address:
                settings = PoolSettings(by="ray", address=address)
                self._nothing(f"Ray, {workers} workers", settings, None)
                self._nothing(f"Ray, {workers} owners", settings, workers)

    def _nothing(self, who: str, settings: PoolSettings, owners: int | None) -> None:
        shutil.rmtree(self._scratch, ignore_errors=True)
        self._scratch.mkdir(parents=True)
        begun = time.perf_counter()
        pool = settings.open()
        opening = time.perf_counter() - begun

        def seconds(count: int) -> float:
            shards = []
            for number in range(count):
                path = self._scratch / f"{count}-{number}-{time.monotonic_ns()}"
                path.touch()
                owner = None if owners is None else number % owners
                shards.append(Shard(path=path, rows=1, digest=path.name, owner=owner))
            task = Task(name="benchmarks._nothing:Nothing", settings={}, work="build")
            begun = time.perf_counter()
            done = list(pool.map(task, shards, Ledger(self._scratch / "done"), lambda *step: None))
            assert len(done) == count
            return time.perf_counter() - begun

        seconds(FEW + 1)  # workers start
        few, many = min(seconds(FEW) for _ in range(3)), seconds(MANY)
        shard = (many - few) / (MANY - FEW)
        task = max(0.0, few - FEW * shard)
        print(
            f"     overhead: {who:<20} pool {opening:6.2f} s  task {task:6.2f} s  shard {1000 * shard:7.1f} ms",
            flush=True,
        )

    def _indexed(self, engine: str) -> Once:
        folder = self._files.passages(self._passages)

        def once(pool: Sequence[str], jobs: int) -> Took:
            shutil.rmtree(folder / "by.index", ignore_errors=True)
            more = pool or ("-j", str(jobs))
            return took(karat("index", "passages.jsonl", "-o", "by.index", "--engine", engine, *more), folder)

        return once

    def _beside(self, label: str, once: Once) -> None:
        """Print what so many workers take, by the local pool and by Ray, and how many times faster than one process."""
        alone = None
        for workers in WORKERS:
            local = once((), workers)
            alone = alone or local
            print(f"     {label:<36} local -j {workers}      {local}   {alone.wall / local.wall:5.2f}x", flush=True)
            with cluster(workers) as address:
                ray = once(("--pool", "ray", "--ray-address", address), workers)
            print(
                f"     {label:<36} Ray, {workers} workers   {ray}   {alone.wall / ray.wall:5.2f}x   "
                f"load {os.getloadavg()[0]:.1f}",
                flush=True,
            )


@dataclass(frozen=True)
class Took:
    """The seconds that a command took, by the clock and of all processors."""

    wall: float
    processor: float

    def __str__(self) -> str:
        return f"{self.wall:8.1f} s   {self.processor:8.1f} s of processors"


Once = Callable[[Sequence[str], int], Took]


def took(command: Sequence[str], folder: Path) -> Took:
    """Run a command in a folder; what a cluster does that this process has started counts too."""
    before = processor_seconds(os.getpid())
    taken, ended = dict(before), threading.Event()

    def watch() -> None:  # what ends is not seen afterwards
        while not ended.wait(_LOOKS):
            taken.update(processor_seconds(os.getpid()))

    watching = threading.Thread(target=watch, daemon=True)
    watching.start()
    begun = time.perf_counter()
    try:
        cost_of(command, folder)
    finally:
        wall = time.perf_counter() - begun
        ended.set()
        watching.join()
    return Took(wall, sum(taken.values()) - sum(before.values()))


@contextmanager
def cluster(workers: int) -> Iterator[str]:
    """The address of a cluster of so many nodes with a processor each, and a head that does no work."""
    os.environ.update(PYTHONPATH=str(Path(__file__).parents[1]), RAY_USAGE_STATS_ENABLED="0")  # nodes inherit both
    from ray.cluster_utils import Cluster

    nodes = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    try:
        for _ in range(workers):
            nodes.add_node(num_cpus=1)
        yield nodes.address
    finally:
        nodes.shutdown()
