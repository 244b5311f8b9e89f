"""Indexes of a sweep over chunkings and embedders, each with the configurations it serves."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from karat.core.errors import UsageError

if TYPE_CHECKING:
    from karat.experiment.sweep.grid import Grid, Point
    from karat.retrieve import Progress
    from karat.systems.index import Index


def built(
    source: Any, grid: Grid, points: Sequence[Point], work: Path, say: Progress
) -> list[tuple[Index, str | None, str | None, tuple[Point, ...]]]:
    """An index for each chunking and embedder, with the configurations it serves under names of their own.

    Engines that need no embedder are built once for each chunking and shared; configurations that consult only such
    engines stand once for each chunking.
    """
    from karat.corpus import Chunking
    from karat.models import EmbedderSettings
    from karat.systems.indexes import index_of

    if isinstance(source, str | os.PathLike) and (Path(source) / "index.json").is_file():
        raise UsageError(
            f"{source} is an index, which has one chunking and one embedder. To sweep over them give the documents."
        )
    chunkings = tuple(dict.fromkeys(Chunking.parse(text).text for text in grid.chunk)) or (Chunking().text,)
    embedders: tuple[str | None, ...] = grid.embedder or (None,)
    names = tuple(dict.fromkeys(name for point in points for name in point.system.consulted))
    sources = [source] if isinstance(source, str | os.PathLike) else list(source)
    found: list[tuple[Index, str | None, str | None, tuple[Point, ...]]] = []
    for chunk in chunkings:
        first: Index | None = None
        for embedder in embedders if "dense" in names else embedders[:1]:
            engines = names if first is None else ("dense",)
            settings = EmbedderSettings.parse(embedder) if embedder is not None else None
            index = index_of(sources, work, chunk=chunk, embedder=settings, engines=engines, say=say)
            chosen = points if first is None else [p for p in points if "dense" in p.system.consulted]
            if first is not None:
                index.built.update({name: first.engine(name) for name in names if name != "dense"})
            marks = (chunk if len(chunkings) > 1 else None, embedder if len(embedders) > 1 else None)
            renamed = tuple(replace(point, name=_name(point, *marks)) for point in chosen)
            own = index.embedder
            found.append((index, chunk, embedder or (own.label if own is not None else None), renamed))
            first = first or index
    return found


def _name(point: Point, chunk: str | None, embedder: str | None) -> str:
    """A configuration's name with its chunking and its embedder, where they tell it apart."""
    marks = [chunk, embedder if "dense" in point.system.consulted else None]
    shown = ", ".join(mark for mark in marks if mark is not None)
    return f"{point.name} [{shown}]" if shown else point.name
