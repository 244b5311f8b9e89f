"""Indexes that an experiment makes for itself: each built once, and again only where something changed."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from karat.core.errors import KaratError
from karat.io.dataset_folder import split_named
from karat.io.limits import ReadLimits
from karat.io.opening import open_regular, read_whole
from karat.models import EmbedderSettings, hosts
from karat.systems.index import Index, index

if TYPE_CHECKING:
    from karat.pool import PoolChoice
    from karat.retrieve import Progress

_MADE = "made-from.json"


def index_of(
    sources: Sequence[str | os.PathLike[str]],
    work: Path,
    *,
    chunk: str,
    embedder: EmbedderSettings | None,
    engines: Sequence[str],
    titles: bool = True,
    settings: Mapping[str, Mapping[str, Any]] | None = None,
    limits: ReadLimits | None = None,
    follow_links: bool = False,
    pool: PoolChoice = None,
    say: Progress = lambda what, done, total: None,
) -> Index:
    """The index of documents under these settings; the one that stands in `work` where nothing changed.

    Without an embedder the language of the documents says which, and what is installed.
    """
    from importlib.metadata import version

    from karat.io.writing import write_whole
    from karat.models.embedders import multilingual

    if embedder is not None:
        hosts.allow(embedder)
    by_language = {"multilingual is installed": multilingual.is_installed()}
    made_from = {
        "documents": digest_of(sources), "chunk": chunk, "engines": list(engines),
        "embedder": by_language if embedder is None else embedder.plain(),
        "titles": titles, "settings": {k: dict(v) for k, v in (settings or {}).items()}, "karat": version("karat"),
        "limits": asdict(ReadLimits.of(limits)), "follow_links": follow_links,
    }  # fmt: skip
    how = json.dumps({**made_from, "documents": sorted(map(str, sources))}, sort_keys=True, default=str)
    mark = hashlib.sha256(how.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    folder = work / re.sub(
        r"[^\w.-]+", "-", f"{chunk}-{embedder.label if embedder is not None else 'default'}-{mark}.index"
    )
    note = folder.with_name(f"{folder.name}.{_MADE}")
    try:
        if json.loads(read_whole(note)) == made_from:
            return Index.open(folder)
    except (OSError, ValueError, KaratError):
        pass
    made = index(
        list(sources), folder, chunk=chunk, titles=titles, embedder=embedder, engines=engines, settings=settings,
        limits=limits, follow_links=follow_links, pool=pool, progress=say,
    )  # fmt: skip
    write_whole(note, json.dumps(made_from, indent=2, default=str) + "\n")
    return made


def digest_of(sources: Sequence[str | os.PathLike[str]]) -> str:
    """Names and bytes of all source files as one number; what cannot be read counts by name."""
    digest = hashlib.sha256()
    for source in sources:
        path, split = split_named(source)
        if split is not None:
            digest.update(split.encode("utf-8", "surrogatepass") + b"\0")
        files = sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]
        for file in files:
            name = file.relative_to(path).as_posix() if path.is_dir() else file.name
            digest.update(name.encode("utf-8", "surrogatepass") + b"\0")
            try:
                with open_regular(file) as stream:
                    digest.update(hashlib.file_digest(stream, "sha256").digest())
            except OSError:
                digest.update(b"unread")
    return digest.hexdigest()
