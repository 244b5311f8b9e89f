"""Progress over the shards of a task, whoever does them."""

from __future__ import annotations

from collections.abc import Sequence

from karat.core.progress import Progress
from karat.pool._task import Shard, Task

_NEARLY = 0.999  # of a shard that says that its last step is done, and is not
_MB = 10**6


class ShownShards:
    """Progress over all shards: of one alone its own steps, of several how many of their rows are done."""

    def __init__(self, task: Task, shards: Sequence[Shard], progress: Progress) -> None:
        self.label, self.progress, self._shards = task.label, progress, shards
        self._in_bytes = task.counts_bytes
        self._shares = dict.fromkeys((shard.digest for shard in shards), 0.0)

    def current(self, what: str, done: int, total: int) -> None:
        """A step of the shard that the plain loop is at."""
        self.step(next(shard for shard in self._shards if self._shares[shard.digest] < 1), what, done, total)

    def step(self, shard: Shard, what: str, done: int, total: int) -> None:
        """A step of a shard."""
        if len(self._shards) == 1:
            self.progress(what, done, total)
        else:
            share = min(_NEARLY, done / total) if total > 1 else 0.0
            self._shares[shard.digest] = max(self._shares[shard.digest], share)
            self._show()

    def done(self, shard: Shard) -> None:
        """That a shard is done."""
        self._shares[shard.digest] = 1.0
        if len(self._shards) > 1:
            self._show()

    def _show(self) -> None:
        rows = sum(self._shares[shard.digest] * shard.rows for shard in self._shards)
        total = sum(shard.rows for shard in self._shards)
        if self._in_bytes:
            self.progress(f"{self.label} [MB]", int(rows / _MB), -(-total // _MB))
        else:
            self.progress(self.label, int(rows), total)
