"""Blocks: many rows that are worked on in parts, each part a file of JSON that a stage reads, and another it writes."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any, ClassVar

from karat.core.progress import Progress
from karat.io.checksum import digest
from karat.io.writing import private_folder, write_whole
from karat.pool._ledger import Ledger
from karat.pool._task import Pool, Shard, Task

PAYS = 20.0
"""Seconds of work from which on processes are worth what starting them takes, some two seconds each."""
_REPLY = "reply.json"


class BlockStage:
    """A stage that makes one JSON value of another. The name of its task is that of its class."""

    work: ClassVar[str]

    def __init__(self, settings: Mapping[str, Any], progress: Progress) -> None:
        """Get ready; the same settings, the same replies."""

    def reply(self, block: Any) -> Any:
        """What comes of a block."""
        raise NotImplementedError

    def run(self, shard: Shard, folder: Path) -> int:
        """Write what comes of the block in the file of a shard."""
        reply = self.reply(json.loads(shard.path.read_text("utf-8")))
        (folder / _REPLY).write_text(json.dumps(reply), "utf-8")
        return shard.rows

    @classmethod
    def task(cls, settings: Mapping[str, Any], label: str) -> Task:
        """The task of this stage."""
        return Task(name=f"{cls.__module__}:{cls.__qualname__}", settings=settings, work=cls.work, label=label)


@dataclass(frozen=True)
class Blocks:
    """So many rows in parts of `size`; `make` gives a part as JSON, by its first row and the one after its last."""

    rows: int
    size: int
    make: Callable[[int, int], Any] = field(repr=False)

    def __len__(self) -> int:
        return -(-self.rows // self.size)

    def bounds(self, number: int) -> tuple[int, int]:
        """The first row of a part, and the one after its last."""
        return number * self.size, min(self.rows, (number + 1) * self.size)


class BlockPool:
    """A pool for blocks. What workers read and write stands in a folder until the last reply was taken.

    In a folder of a run it is found again by the run that goes on after this one; without a folder it is gone.
    """

    def __init__(self, pool: Pool, folder: Path | None = None) -> None:
        self.pool, self._folder = pool, folder

    def replies(
        self, task: Task, blocks: Blocks, here: Callable[[int, int], Any], progress: Progress | None = None
    ) -> Iterator[Any]:
        """What comes of each block, in their order.

        On a cluster workers do them. Elsewhere `here` does, which gets the bounds of a block, until it has shown that
        what is left takes so long that processes pay.
        """
        notify = progress or (lambda what, done, total: None)
        first = 0
        if not self.pool.is_cluster or len(blocks) < 2:
            seconds = 0.0
            while first < len(blocks):
                start, end = blocks.bounds(first)
                begun = perf_counter()
                reply = here(start, end)
                seconds += perf_counter() - begun
                first += 1
                yield reply
                notify(task.label, end, blocks.rows)
                left = len(blocks) - first
                if left > 1 and self.pool.jobs > 1 and seconds / first * left > PAYS:
                    break
        if first < len(blocks):
            yield from self._by_workers(task, blocks, first, notify)

    def _by_workers(self, task: Task, blocks: Blocks, first: int, progress: Progress) -> Iterator[Any]:
        with self._opened(task.work) as folder:
            ledger = Ledger(folder / "done")
            ledger.forget_parts()
            shards = [_written(folder, number, blocks) for number in range(first, len(blocks))]
            replies: dict[str, Path] = {}
            following = 0
            distinct = list({shard.digest: shard for shard in shards}.values())
            for shard, output in self.pool.map(task, distinct, ledger, progress):
                replies[shard.digest] = output.path
                while following < len(shards) and shards[following].digest in replies:
                    path = replies[shards[following].digest]
                    yield json.loads((path / _REPLY).read_text("utf-8"))
                    following += 1

    @contextmanager
    def _opened(self, work: str) -> Iterator[Path]:
        """The folder for blocks of this kind of work; it stays where the work is not finished."""
        if self._folder is None:  # workers of a cluster see what the folder that it was started in sees
            with TemporaryDirectory(prefix=".karat-", dir=Path.cwd() if self.pool.is_cluster else None) as made:
                yield Path(made)
            return
        folder = self._folder / work
        private_folder(self._folder)
        private_folder(folder)
        yield folder
        shutil.rmtree(folder, ignore_errors=True)
        with suppress(OSError):
            self._folder.rmdir()  # unless other work is unfinished


def _written(folder: Path, number: int, blocks: Blocks) -> Shard:
    start, end = blocks.bounds(number)
    path, content = folder / f"{number}.json", json.dumps(blocks.make(start, end))
    write_whole(path, content, private=True)
    return Shard(path=path, rows=end - start, digest=digest({"block": content}), name=f"block {number}")
