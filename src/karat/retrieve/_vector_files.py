"""The files of a dense engine: its vectors, written to a folder and mapped from it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from karat.core.errors import KaratError, UsageError
from karat.io.arrays import damaged, mapped_array
from karat.retrieve._engine import order_fault
from karat.retrieve._precision import PRECISIONS, StoredVectors
from karat.retrieve._vectors import EmbeddedRows, VectorShard

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from karat.retrieve._graph import Graph

    Ints = NDArray[np.int64]

_CARD = "dense.json"
_FORMAT = 1


def write(folder: Path, settings: Mapping[str, Any], content: EmbeddedRows, measured: Mapping[str, Any]) -> None:
    """The files of an engine, into a folder."""
    card = {"settings": settings, "fingerprint": content.fingerprint, **({"measured": measured} if measured else {})}
    write_card(folder, _FORMAT, card)
    for name, array in content.vectors.arrays().items():
        np.save(folder / f"{name}.npy", array)
    np.save(folder / "digests.npy", np.ascontiguousarray(content.digests, np.uint8))
    np.save(folder / "rows.npy", np.ascontiguousarray(content.rows, np.int64))


def read(
    folder: Path, completed: Callable[[Mapping[str, Any]], dict[str, Any]]
) -> tuple[dict[str, Any], EmbeddedRows, dict[str, Any]]:
    """The settings, the content and the measurements that `write` wrote, the vectors by mmap."""
    card = read_card(folder, _FORMAT, completed)
    settings = card["settings"]
    precision = settings.get("precision", "float32")
    vectors = mapped_array(folder / "vectors.npy", PRECISIONS[precision], 2)
    scales = mapped_array(folder / "scales.npy", np.float32, 1) if precision == "int8" else None
    digests = mapped_array(folder / "digests.npy", np.uint8, 2)
    rows = mapped_array(folder / "rows.npy", np.int64, 1)
    if digests.shape != (len(vectors), 16):
        raise damaged(folder / "digests.npy", f"has the shape {digests.shape} beside {len(vectors)} vectors")
    if scales is not None and len(scales) != len(vectors):
        raise damaged(folder / "scales.npy", f"has {len(scales)} numbers beside {len(vectors)} vectors")
    if len(rows) and not (rows.min() >= -1 and rows.max() < len(vectors)):
        raise damaged(folder / "rows.npy", f"points outside the {len(vectors)} vectors")
    content = EmbeddedRows(card["fingerprint"], StoredVectors(vectors, scales), digests, rows)
    return settings, content, card["measured"]


def read_shards(
    folders: Sequence[Path],
    orders: Sequence[Ints],
    only: Sequence[int] | None,
    settings: Mapping[str, Any],
    completed: Callable[[Mapping[str, Any]], dict[str, Any]],
) -> list[VectorShard]:
    """Shards that `write` wrote, or some by number; `orders` has the rows of the collection that each one holds.

    All must be of these settings, and embedded by one model.
    """
    shards = []
    for number in range(len(folders)) if only is None else only:
        folder, order = folders[number], orders[number]
        saved, content, _ = read(folder, completed)
        if problem := order_fault(order, len(content.rows)):
            raise damaged(folder, f"is damaged: {problem}")
        if _without_effort(saved) != _without_effort(settings):
            raise damaged(folder, "is damaged: it was built with other settings")
        shards.append(VectorShard(content, read_graph(folder, saved, content), order if len(folders) > 1 else None))
    prints = sorted({shard.content.fingerprint for shard in shards if len(shard.content.vectors)})
    sizes = {shard.content.vectors.shape[1] for shard in shards if len(shard.content.vectors)}
    if len(prints) > 1 or len(sizes) > 1:
        raise KaratError(
            f"the shards of this index were embedded by several models: {', '.join(prints)}. "
            "Their vectors cannot be compared: index again."
        )
    return shards


def read_graph(folder: Path, settings: Mapping[str, Any], content: EmbeddedRows) -> Graph | None:
    """The graph beside the vectors, where they are searched by one."""
    if settings["ann"] != "hnsw" or not len(content.vectors):
        return None
    from karat.retrieve._graph import Graph

    return Graph.load(folder, content.vectors.values)


def _without_effort(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that a shard depends on."""
    return {name: value for name, value in settings.items() if name != "ef_search"}


def write_card(folder: Path, form: int, card: Mapping[str, Any]) -> None:
    """What is to be known of the other files of a folder."""
    text = json.dumps({"format": form, **card}, indent=1, ensure_ascii=False, sort_keys=True)
    (folder / _CARD).write_text(text + "\n", "utf-8")


def read_card(folder: Path, form: int, completed: Callable[[Mapping[str, Any]], dict[str, Any]]) -> dict[str, Any]:
    """What `write_card` wrote: at least the settings, completed, the fingerprint and what was measured."""
    try:
        card = json.loads((folder / _CARD).read_text("utf-8"))
        if card["format"] != form:
            raise damaged(folder / _CARD, f"is of format {card['format']}, karat reads {form}")
        settings, fingerprint = completed(card["settings"]), str(card["fingerprint"])
        return {**card, "settings": settings, "fingerprint": fingerprint, "measured": dict(card.get("measured", {}))}
    except OSError as problem:
        raise damaged(folder / _CARD, f"cannot be read ({problem.strerror})") from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, UsageError) as problem:
        raise damaged(folder / _CARD, f"is not what karat wrote ({problem})") from None
