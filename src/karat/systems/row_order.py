"""The order of the rows of several shards: over all of them they ascend by id, in byte order, as within each."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from karat.corpus import load_chunks
from karat.io.arrays import mapped_array
from karat.stats.arrays import Ints

if TYPE_CHECKING:
    from karat.core.docs import Chunks


ORDER = "order.npy"
"""The row that each chunk has among all, shard after shard; one shard alone needs none."""


def write_order(shards: Sequence[Path], folder: Path) -> None:
    """Write the order of the chunks of shards, where there are several."""
    if len(shards) > 1:
        orders = row_orders([load_chunks(shard) for shard in shards])
        rows = np.lib.format.open_memmap(folder / ORDER, "w+", np.int64, (sum(map(len, orders)),))
        np.concatenate(orders, out=rows)
        rows.flush()


def load_orders(folder: Path, sizes: Sequence[int]) -> list[Ints]:
    """The row among all of each row of each shard, from where `write_order` wrote it."""
    if len(sizes) == 1:
        return [np.arange(sizes[0])]
    return np.split(mapped_array(folder / ORDER, np.int64, 1), np.cumsum(sizes)[:-1])


def row_orders(shards: Sequence[Chunks]) -> list[Ints]:
    """The row among all of each row of each shard. Only shards whose ids overlap are read row by row."""
    orders = [np.zeros(0, np.int64) for _ in shards]
    done = 0
    for group in _overlapping(shards):
        sizes = [len(shards[number]) for number in group]
        if len(group) == 1:
            orders[group[0]] = np.arange(done, done + sizes[0])
        else:
            merged = heapq.merge(*(_keys(shards[number], place) for place, number in enumerate(group)))
            owners = np.fromiter((place for _, place in merged), np.int64, sum(sizes))
            for place, number in enumerate(group):
                orders[number] = np.flatnonzero(owners == place) + done
        done += sum(sizes)
    return orders


def _overlapping(shards: Sequence[Chunks]) -> Iterator[list[int]]:
    """Shards, by number, in groups: the ids of a group all stand before those of the next."""
    ends = {number: (_key(chunks[0].id), _key(chunks[-1].id)) for number, chunks in enumerate(shards) if len(chunks)}
    group: list[int] = []
    last = b""
    for number in sorted(ends, key=lambda number: ends[number]):
        first, end = ends[number]
        if group and first > last:
            yield group
            group = []
        group.append(number)
        last = max(last, end)
    if group:
        yield group


def _keys(chunks: Chunks, place: int) -> Iterator[tuple[bytes, int]]:
    return ((_key(id_), place) for id_ in chunks.row_of)


def _key(id_: str) -> bytes:
    return id_.encode("utf-8", "surrogatepass")
