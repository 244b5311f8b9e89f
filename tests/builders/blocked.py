"""A pool that stands for a cluster in tests, and a stage of blocks that says what it is told."""

import os
import signal
from pathlib import Path

from karat.pool import BlockStage, LocalPool


class Cluster(LocalPool):
    """Workers of this machine that are used as those of a cluster are."""

    is_cluster = True

    def __init__(self, jobs=1):
        super().__init__(jobs)
        self.shards = []

    def map(self, task, shards, ledger, progress, *, anew=()):
        self.shards += [(task.work, shard.name) for shard in shards]
        pairs = list(super().map(task, shards, ledger, progress, anew=anew))
        return reversed(pairs)  # in any order


class Doubling(BlockStage):
    """Doubles each number of a block; a worker dies at the first block that holds 13."""

    work = "score"

    def __init__(self, settings, progress):
        self.folder = Path(settings["folder"])

    def reply(self, block):
        if 13 in block and not (self.folder / "died").exists():
            (self.folder / "died").touch()
            os.kill(os.getpid(), signal.SIGKILL)
        with (self.folder / "log").open("a") as log:
            log.write(f"{block[0]}\n")
        return [2 * number for number in block]
