"""Indexes of a sweep over chunkings and embedders: each built once, and again only where something changed."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from karat.core.errors import KaratError, UsageError

if TYPE_CHECKING:
    from karat.experiment.grid import Grid, Point
    from karat.experiment.index import Index
    from karat.retrieve import Progress

_MADE = "made-from.json"


def built(
    source: Any, grid: Grid, points: Sequence[Point], work: Path, say: Progress
) -> list[tuple[Index, str | None, str | None, tuple[Point, ...]]]:
    """An index for each chunking and embedder, with the configurations it serves under names of their own.

    Engines that need no embedder are built once for each chunking and shared; configurations that consult only such
    engines stand once for each chunking.
    """
    from karat.corpus import Cutting
    from karat.models import EmbedderSettings

    if isinstance(source, str | os.PathLike) and (Path(source) / "index.json").is_file():
        raise UsageError(
            f"{source} is an index, which has one chunking and one embedder. To sweep over them give the documents."
        )
    chunkings = tuple(dict.fromkeys(Cutting.parse(text).text for text in grid.chunk)) or (Cutting().text,)
    embedders = grid.embedder or (EmbedderSettings().label,)
    names = tuple(dict.fromkeys(name for point in points for name in point.system.consulted))
    sources = [source] if isinstance(source, str | os.PathLike) else list(source)
    digest = _digest(sources)
    found: list[tuple[Index, str | None, str | None, tuple[Point, ...]]] = []
    for chunk in chunkings:
        first: Index | None = None
        for embedder in embedders if "dense" in names else embedders[:1]:
            engines = names if first is None else ("dense",)
            index = _index(sources, digest, work, chunk, embedder, engines, say)
            chosen = points if first is None else [p for p in points if "dense" in p.system.consulted]
            if first is not None:
                index.built.update({name: first.engine(name) for name in names if name != "dense"})
            marks = (chunk if len(chunkings) > 1 else None, embedder if len(embedders) > 1 else None)
            renamed = tuple(replace(point, name=_name(point, *marks)) for point in chosen)
            found.append((index, chunk, embedder, renamed))
            first = first or index
    return found


def _name(point: Point, chunk: str | None, embedder: str | None) -> str:
    """A configuration's name with its chunking and its embedder, where they tell it apart."""
    marks = [chunk, embedder if "dense" in point.system.consulted else None]
    shown = ", ".join(mark for mark in marks if mark is not None)
    return f"{point.name} [{shown}]" if shown else point.name


def _index(
    sources: Sequence[Any], digest: str, work: Path, chunk: str, embedder: str, engines: Sequence[str], say: Progress
) -> Index:
    """The index of one chunking and one embedder; the one that stands in the folder where nothing changed."""
    from importlib.metadata import version

    from karat.core.writing import write_whole
    from karat.experiment.index import Index, index

    folder = work / re.sub(r"[^\w.-]+", "-", f"{chunk}-{embedder}-{'-'.join(engines)}")
    made_from = {
        "documents": digest, "chunk": chunk, "embedder": embedder, "engines": list(engines), "karat": version("karat")
    }  # fmt: skip
    note = folder.with_name(f"{folder.name}.{_MADE}")
    try:
        if json.loads(note.read_text(encoding="utf-8")) == made_from:
            return Index.open(folder)
    except (OSError, ValueError, KaratError):
        pass
    made = index(sources, folder, chunk=chunk, embedder=embedder, engines=engines, progress=say)
    write_whole(note, json.dumps(made_from, indent=2) + "\n")
    return made


def _digest(sources: Sequence[str | os.PathLike[str]]) -> str:
    """Names and bytes of all source files as one number; addresses and what cannot be read count by name."""
    digest = hashlib.sha256()
    for source in sources:
        path = Path(source)
        files = sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]
        for file in files:
            digest.update(str(file).encode("utf-8", "surrogatepass") + b"\0")
            try:
                with file.open("rb") as stream:
                    digest.update(hashlib.file_digest(stream, "sha256").digest())
            except OSError:
                digest.update(b"unread")
    return digest.hexdigest()
