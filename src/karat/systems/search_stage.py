"""Searching by processes: a block of questions is a shard, and what a leg found for them comes back as columns."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from karat.core.errors import KaratError
from karat.core.ranked import Ranked
from karat.io.arrays import mapped_array
from karat.io.checksum import digest
from karat.io.writing import private_folder, write_whole
from karat.pool import Ledger, LocalPool, Shard, Task
from karat.retrieve.rewrite import Rewritten
from karat.systems.engines import Engines
from karat.systems.index import Index

if TYPE_CHECKING:
    from karat.pool import Progress

PAYS = 20.0
"""Seconds of searching from which on processes are worth what starting them takes, some two seconds each."""
_COLUMNS = {"offsets": np.int64, "rows": np.int64, "scores": np.float64}


class SearchBlock:
    """Searches a block of questions, as the file of the shard has their queries, by one engine of an index."""

    def __init__(self, settings: Mapping[str, Any], progress: Progress) -> None:
        index = Index.open(settings["index"])
        if _generation(index) != settings["generation"]:
            raise KaratError(f"{settings['index']} was built again while it was searched. Run the same command again.")
        self._engines, self._leg, self._depth = Engines(index), settings["leg"], settings["depth"]

    def run(self, shard: Shard, folder: Path) -> int:
        """Write offsets, rows and scores of the hits."""
        blocks = [Rewritten("", tuple(queries)) for queries in json.loads(shard.path.read_text("utf-8"))]
        ranked = self._engines.search(self._leg, blocks, self._depth)
        for name, kind in _COLUMNS.items():
            np.save(folder / f"{name}.npy", np.asarray(getattr(ranked, name), kind))
        return len(blocks)


class SearchPool:
    """Processes that search; what they wrote stands in a folder of the run until the leg is done."""

    def __init__(self, folder: Path, jobs: int | None = None) -> None:
        self._folder, self._pool = folder, LocalPool(jobs)

    def pays(self, index: Index, leg: str, seconds: float) -> bool:
        """Whether to search by processes what would take so many seconds here.

        Endpoints that embed are asked from one place, and a folder of a model is loaded once.
        """
        if index.path is None or ":" in leg or self._pool.jobs == 1 or seconds <= PAYS:
            return False
        embedder = index.embedder
        return embedder is None or (embedder.address is None and embedder.folder is None)

    def search(
        self, index: Index, leg: str, depth: int, blocks: Mapping[int, Sequence[Rewritten]]
    ) -> Iterator[tuple[int, Ranked]]:
        """What a leg finds for each block of questions, by number of the block, in any order."""
        settings = {"index": str(index.path), "generation": _generation(index), "leg": leg, "depth": depth}
        task = Task(name=f"{__name__}:SearchBlock", settings=settings, work="search", label=f"searching by {leg}")
        ledger = Ledger(self._folder / "done")
        ledger.forget_parts()
        private_folder(self._folder)
        number_of = {self._shard(number, block): number for number, block in blocks.items()}
        for shard, output in self._pool.map(task, list(number_of), ledger, lambda *step: None):
            yield number_of[shard], _ranked(output.path)
        self.clear()

    def _shard(self, number: int, block: Sequence[Rewritten]) -> Shard:
        queries = [one.queries for one in block]
        path = self._folder / f"{number}.json"
        write_whole(path, json.dumps(queries), private=True)
        return Shard(path=path, rows=len(block), digest=digest({"queries": queries}), name=f"block {number}")

    def clear(self) -> None:
        """Remove what processes wrote, once it is kept elsewhere."""
        shutil.rmtree(self._folder, ignore_errors=True)


def _ranked(folder: Path) -> Ranked:
    return Ranked(**{name: np.array(mapped_array(folder / f"{name}.npy", kind, 1)) for name, kind in _COLUMNS.items()})


def _generation(index: Index) -> str:
    return str(index.about["generation"])
