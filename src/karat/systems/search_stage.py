"""Searching by a pool: a block of queries is a shard, and what an engine finds for them comes back as columns.

On this machine each process opens the whole index. On a cluster an index of several shards is searched by owners: each
opens a group of its shards alone, and what the groups find is merged by the process that leads. Queries are embedded
once before, not by every owner.
"""

from __future__ import annotations

import inspect
import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from karat.core.errors import KaratError
from karat.core.ranked import Ranked
from karat.io.arrays import mapped_array
from karat.io.checksum import digest
from karat.io.writing import private_folder, write_whole
from karat.models import EmbedderSettings, same_embedder
from karat.pool import PAYS, Ledger, LocalPool, Pool, Progress, Shard, Task
from karat.retrieve import ENGINES, merged
from karat.retrieve.rewrite import Rewritten, queries_with_owner
from karat.systems.engines import by_question
from karat.systems.index import Index

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from karat.core.ranked import Ints

    Asked = list[str] | NDArray[np.float32]

SEARCHES = "searches"
"""The folder in which a pool keeps what it is at."""
TOGETHER = 1000
"""Queries whose ranks are counted together."""
_COLUMNS = {"offsets": np.int64, "rows": np.int64, "scores": np.float64}
_VECTORS, _COUNTS = "vectors.npy", "counts.npy"


class EmbedQueries:
    """Embeds a block of queries, which the file of the shard has."""

    def __init__(self, settings: Mapping[str, Any], progress: Progress) -> None:
        self._embedder = same_embedder(EmbedderSettings.of(settings["embedder"]), settings["fingerprint"])

    def run(self, shard: Shard, folder: Path) -> int:
        """Write their vectors."""
        queries = _queries(shard.path)
        np.save(folder / _VECTORS, np.asarray(self._embedder.embed(queries, "query"), np.float32))
        return len(queries)


class _OwnedEngine:
    """An engine of an index, or of it the group of shards that an owner opens; `groups` has their numbers."""

    def __init__(self, settings: Mapping[str, Any], progress: Progress) -> None:
        self._index = Index.open(settings["index"])
        if _generation(self._index) != settings["generation"]:
            raise KaratError(f"{settings['index']} was built again while it was searched. Run the same command again.")
        self._settings = settings
        self._opened: tuple[int | None, Any] | None = None

    def over(self, owner: int | None) -> Any:
        """The engine of an owner; the whole of it for none."""
        if self._opened is None or self._opened[0] != owner:
            leg = self._settings["leg"]
            engine = (
                self._index.engine(leg)
                if owner is None
                else self._index.engine_over(leg, self._settings["groups"][owner])
            )
            self._opened = owner, engine
        return self._opened[1]


class SearchBlock(_OwnedEngine):
    """Searches a block of queries, which the shard has as they are or as vectors."""

    def run(self, shard: Shard, folder: Path) -> int:
        """Write offsets, rows and scores of the hits."""
        engine, asked, depth = self.over(shard.owner), _asked(shard.path), self._settings["depth"]
        if not len(asked):
            _write(folder, Ranked.empty(0))
        elif isinstance(asked, list):
            _write(folder, engine.search(asked, depth))
        else:
            _write(folder, engine.search_vectors(asked, depth))
        return len(asked)


class CountAbove(_OwnedEngine):
    """Finds the best of some rows for each query of a block, or counts what stands above the best that owners found."""

    def run(self, shard: Shard, folder: Path) -> int:
        """Write the best hit of each query; or, where the file of the shard says what that is, how many are above."""
        about = json.loads(shard.path.read_text("utf-8"))
        engine, asked = self.over(shard.owner), _asked(Path(about["asked"]))
        if "rows" in about:
            _write(folder, engine.best_of(asked, [np.array(rows, np.int64) for rows in about["rows"]]))
        else:
            np.save(folder / _COUNTS, engine.above(asked, _ranked(Path(about["best"]))))
        return len(asked)


class SearchPool:
    """Searches by a pool; what its workers wrote stands in a folder of the run until the leg is done."""

    def __init__(self, folder: Path, pool: Pool) -> None:
        self._folder, self._pool = folder, pool
        self._ledger = Ledger(folder / "done")

    def reaches(self, index: Index | None, leg: str) -> bool:
        """Whether a leg is an engine of an index that another process can open."""
        return index is not None and index.path is not None and leg in index.engines

    def takes_all(self, index: Index | None, leg: str) -> bool:
        """Whether the pool searches whatever is asked: a cluster does, where the index is one that it can open."""
        return self._pool.is_cluster and self.reaches(index, leg)

    def pays(self, index: Index | None, leg: str, seconds: float) -> bool:
        """Whether to search by the pool what would take so many seconds here.

        On this machine endpoints that embed are asked from one place, and a folder of a model is loaded once.
        """
        if index is None or not self.reaches(index, leg):
            return False
        if self._pool.is_cluster:
            return True
        is_light = index.embedder is None or not index.embedder.is_made_once(is_cluster=False)
        return is_light and self._pool.jobs > 1 and seconds > PAYS

    def search(
        self,
        index: Index,
        leg: str,
        depth: int,
        blocks: Mapping[int, Sequence[Rewritten]],
        progress: Progress = lambda what, done, total: None,
    ) -> Iterator[tuple[int, Ranked]]:
        """What a leg finds for each block of questions, by number of the block, in any order."""
        self._begin()
        queries = {number: queries_with_owner(block)[0] for number, block in blocks.items()}
        asked = self._prepared(index, leg, queries, progress)
        found = self._owned(SearchBlock, index, leg, asked, {"depth": depth}, f"searching by {leg}", progress)
        for number, folders in found:
            ranked = merged([_ranked(folder) for folder in folders], depth)
            yield number, by_question(blocks[number], ranked, depth)
        self.clear()

    def can_rank(self, index: Index | None, leg: str) -> bool:
        """Whether owners can count what stands above a row."""
        return self.takes_all(index, leg) and hasattr(ENGINES.get(leg), "best_of")

    def ranks_of(
        self, index: Index, leg: str, queries: Sequence[str], rows: Sequence[Ints], progress: Progress
    ) -> Ints:
        """For each query the rank of the best of some rows in a search as deep as it goes; 0: it finds none."""
        self._begin()
        parts = {start: slice(start, start + TOGETHER) for start in range(0, len(queries), TOGETHER)}
        asked = self._prepared(index, leg, {start: list(queries[part]) for start, part in parts.items()}, progress)
        sought = {start: {"rows": [some.tolist() for some in rows[part]]} for start, part in parts.items()}
        bests, ranks = dict[int, Ranked](), np.zeros(len(queries), np.int64)
        described = self._described(asked, sought)
        for start, folders in self._owned(CountAbove, index, leg, described, {}, f"finding gold by {leg}", progress):
            bests[start] = merged([_ranked(folder) for folder in folders], 1)
        best = {}
        for start, hits in bests.items():
            folder = self._folder / f"best{start}"
            folder.mkdir(exist_ok=True)
            _write(folder, hits)
            rows_of = {"queries": hits.query.tolist(), "rows": hits.rows.tolist()}
            best[start] = {"best": str(folder), "hits": digest(rows_of)}
        described = self._described(asked, best)
        for start, folders in self._owned(CountAbove, index, leg, described, {}, f"ranking gold by {leg}", progress):
            above = sum(mapped_array(folder / _COUNTS, np.int64, 1) for folder in folders)
            ranks[parts[start]] = np.where(np.diff(bests[start].offsets) > 0, above + 1, 0)
        self.clear()
        return ranks

    def _begin(self) -> None:
        self._ledger.forget_parts()
        private_folder(self._folder)

    def _prepared(
        self,
        index: Index,
        leg: str,
        blocks: Mapping[int, list[str]],
        progress: Progress,
    ) -> dict[int, Shard]:
        """Blocks of queries as they are searched: on a cluster as vectors, where the engine searches by these.

        An endpoint is asked by this process alone, so that one limit holds for all.
        """
        shards = {number: self._block(number, queries) for number, queries in blocks.items()}
        if not (self._pool.is_cluster and hasattr(ENGINES.get(leg), "embed_queries")):
            return shards
        groups = self._groups(index, leg)
        engine: Any = index.engine_over(leg, groups[0][:1]) if groups else index.engine(leg)
        embedder: EmbedderSettings = engine.embedder_settings
        settings = {"embedder": embedder.plain(), "fingerprint": engine.fingerprint}
        task = Task(name=f"{__name__}:EmbedQueries", settings=settings, work="embed", label="embedding questions")
        pool = LocalPool(1) if embedder.is_made_once(is_cluster=True) else self._pool
        number_of = {shard: number for number, shard in shards.items()}
        done = pool.map(task, list(shards.values()), self._ledger, progress)
        return {number_of[shard]: replace(vectors, name=shard.name) for shard, vectors in done}

    def _block(self, number: int, queries: list[str]) -> Shard:
        path = self._folder / f"{number}.json"
        write_whole(path, json.dumps(queries), private=True)
        return Shard(path=path, rows=len(queries), digest=digest({"queries": queries}), name=f"block {number}")

    def _described(self, asked: Mapping[int, Shard], more: Mapping[int, Mapping[str, Any]]) -> dict[int, Shard]:
        """Blocks with what else is to be known of them, in files of their own."""
        shards = {}
        for number, shard in asked.items():
            about = {"asked": str(shard.path), **more[number]}
            path = self._folder / f"{number}-{digest(about)[:12]}.json"
            write_whole(path, json.dumps(about), private=True)
            shards[number] = replace(shard, path=path, digest=digest({"block": shard.digest, **more[number]}))
        return shards

    def _owned(
        self,
        stage: type,
        index: Index,
        leg: str,
        blocks: Mapping[int, Shard],
        settings: Mapping[str, Any],
        label: str,
        progress: Progress,
    ) -> Iterator[tuple[int, list[Path]]]:
        """What the owners of an engine did to each block, by its number, when the last of them is done."""
        groups = self._groups(index, leg)
        owners: Sequence[int | None] = range(len(groups)) if groups else (None,)
        known = {"index": str(index.path), "generation": _generation(index), "leg": leg, "groups": groups, **settings}
        task = Task(name=f"{__name__}:{stage.__name__}", settings=known, work="search", label=label)
        place_of = {
            _of_owner(block, owner): (number, place)
            for number, block in blocks.items()
            for place, owner in enumerate(owners)
        }
        done: dict[int, dict[int, Path]] = {number: {} for number in blocks}

        def shown(what: str, searched: int, total: int) -> None:
            progress(what, searched // len(owners), -(-total // len(owners)))

        for shard, output in self._pool.map(task, list(place_of), self._ledger, shown):
            number, place = place_of[shard]
            if number in done:  # else a pool says it again
                done[number][place] = output.path
                if len(done[number]) == len(owners):
                    folders = done.pop(number)
                    yield number, [folders[place] for place in range(len(owners))]

    def _groups(self, index: Index, leg: str) -> list[list[int]]:
        """The shards that each owner opens, by number; none where everybody opens the whole index."""
        rows = index.shard_rows(leg) if self._pool.is_cluster else []
        kind: Any = ENGINES.get(leg)
        if len(rows) < 2 or "only" not in inspect.signature(kind.load_shards).parameters:
            return []
        return balanced(rows, min(len(rows), self._pool.jobs))

    def clear(self) -> None:
        """Remove what workers wrote, once it is kept elsewhere."""
        shutil.rmtree(self._folder, ignore_errors=True)


def balanced(rows: Sequence[int], groups: int) -> list[list[int]]:
    """Shards of so many rows, by number, in groups of neighbours that have about as many rows each.

    >>> balanced([4, 1, 1, 1, 1], 2)
    [[0], [1, 2, 3, 4]]
    """
    middles, cuts = np.cumsum(rows) - np.array(rows) / 2, [0]
    for group in range(1, groups):
        cut = int(np.searchsorted(middles, sum(rows) * group / groups))
        cuts.append(min(max(cut, cuts[-1] + 1), len(rows) - groups + group))
    return [list(range(first, last)) for first, last in zip(cuts, [*cuts[1:], len(rows)], strict=True)]


def _of_owner(block: Shard, owner: int | None) -> Shard:
    if owner is None:
        return block
    name = f"{block.name} of owner {owner + 1}"
    return replace(block, owner=owner, name=name, digest=digest({"block": block.digest, "owner": owner}))


def _asked(path: Path) -> Asked:
    """The queries of a file, or the vectors in a folder."""
    if path.is_dir():
        vectors: NDArray[np.float32] = mapped_array(path / _VECTORS, np.float32, 2)
        return vectors
    return _queries(path)


def _queries(file: Path) -> list[str]:
    queries: list[str] = json.loads(file.read_text("utf-8"))
    return queries


def _write(folder: Path, ranked: Ranked) -> None:
    for name, kind in _COLUMNS.items():
        np.save(folder / f"{name}.npy", np.asarray(getattr(ranked, name), kind))


def _ranked(folder: Path) -> Ranked:
    return Ranked(**{name: np.array(mapped_array(folder / f"{name}.npy", kind, 1)) for name, kind in _COLUMNS.items()})


def _generation(index: Index) -> str:
    return str(index.about["generation"])
