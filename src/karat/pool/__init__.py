"""A task over shards: what is done is written down, and done by as many processes as pay."""

from karat.core.progress import Progress
from karat.pool._blocks import PAYS, BlockPool, Blocks, BlockStage
from karat.pool._ledger import Ledger, is_shard_name, shard_card
from karat.pool._local import LocalPool
from karat.pool._settings import PoolChoice, PoolSettings, open_pool
from karat.pool._task import Pool, Shard, Stage, Task

__all__ = [
    "PAYS",
    "BlockPool",
    "BlockStage",
    "Blocks",
    "Ledger",
    "LocalPool",
    "Pool",
    "PoolChoice",
    "PoolSettings",
    "Progress",
    "Shard",
    "Stage",
    "Task",
    "is_shard_name",
    "open_pool",
    "shard_card",
]
