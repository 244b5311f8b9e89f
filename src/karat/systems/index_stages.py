"""The stages of building an index, each done to one shard after another, by whichever process.

`ReadAndChunk` makes a piece of the corpus documents and chunks, with counts of them that can be added up. `BuildShard`
makes the chunks of a piece a shard of an engine.
"""

from __future__ import annotations

import inspect
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from karat.core.errors import KaratError
from karat.core.lazy import LazySequence
from karat.core.text.languages import count_languages
from karat.corpus import Chunking, PieceFacts, chunk_docs, load_chunks, read_piece, save_chunks, save_docs
from karat.models import EmbedderSettings, hosts
from karat.retrieve import ENGINES
from karat.retrieve.rewriters.spell import Spell
from karat.systems.index import WORDS, Index

if TYPE_CHECKING:
    from karat.core.docs import Chunks
    from karat.core.text import Language
    from karat.pool import Progress, Shard

FACTS, LANGUAGES = "facts.json", "languages.json"


class ReadAndChunk:
    """Reads a piece of a corpus, as the file of the shard describes it, and chunks its documents."""

    def __init__(self, settings: Mapping[str, Any], progress: Progress) -> None:
        self._chunking, self._titles = Chunking.parse(settings["chunk"]), settings["titles"]
        self._progress = progress

    def run(self, shard: Shard, folder: Path) -> int:
        """Write documents and chunks, and what is known of them."""
        description = json.loads(shard.path.read_text("utf-8"))
        reading = read_piece(description, progress=self._progress)
        chunked = chunk_docs(reading.docs, self._chunking, self._progress, names=description.get("names", ()))
        chunks = chunked.chunks
        self._progress("writing documents and chunks", 0, 1)
        save_docs(reading.docs, folder, chunks)
        save_chunks(chunks, folder)
        PieceFacts.of(reading, chunked).save(folder / FACTS)
        self._progress("collecting the words", 0, 1)
        Spell.build(chunk.text for chunk in chunks).save(folder / WORDS)
        by_text = count_languages(chunks.texts)
        by_searched = count_languages(SearchedTexts(chunks, self._titles))
        languages = {"texts": list(by_text.items()), "searched": list(by_searched.items())}
        (folder / LANGUAGES).write_text(json.dumps(languages) + "\n", "utf-8")
        return len(chunks)


class BuildShard:
    """Builds a shard of an engine over the chunks of a shard.

    `known` is the folder of an index whose embeddings may be used again; `journals` are where those of each shard are
    kept until it is complete; `fingerprint` is that of the model which each worker must have, None where nobody asks.
    """

    def __init__(self, settings: Mapping[str, Any], progress: Progress) -> None:
        self._settings, self._progress = settings, progress
        self._engine: Any = ENGINES.get(settings["engine"])
        embedder = settings["settings"].get("embedder")
        if embedder is not None:
            hosts.allow(EmbedderSettings.of(embedder))

    @cached_property
    def _known(self) -> Any:
        return known_of(self._settings["known"], self._settings["engine"])

    def run(self, shard: Shard, folder: Path) -> int:
        """Write the engine's shard."""
        texts = SearchedTexts(load_chunks(shard.path), self._settings["titles"])
        taken, more = inspect.signature(self._engine.build_shard).parameters, {}
        if "known" in taken:
            more = {"known": self._known, "journal": Path(self._settings["journals"][shard.digest])}
        if "fingerprint" in taken:
            more["fingerprint"] = self._settings["fingerprint"]
        self._engine.build_shard(texts, self._settings["settings"], folder, self._progress, **more)
        return len(texts)


class SearchedTexts(LazySequence[str]):
    """What engines see of chunks: their texts, each under its title where titles are searched."""

    def __init__(self, chunks: Chunks, titles: bool) -> None:
        self._texts = chunks.texts
        self._titles = chunks.column("title") if titles else [None] * len(chunks)

    def __len__(self) -> int:
        return len(self._titles)

    def _at(self, number: int) -> str:
        title, text = self._titles[number], self._texts[number]
        return text if not title or text.startswith(title) else f"{title}\n{text}"


def known_of(path: str | None, engine: str) -> Any:
    """What an engine of an index, every byte of which was compared, can hand on to the one that replaces it."""
    if path is None:
        return None
    try:
        index = Index.open(path)
        index.verified = True
        return getattr(index.engine(engine), "known", None)
    except KaratError:
        return None


def summed_languages(shards: Iterable[Path], name: str) -> Counter[Language | None]:
    """How many texts, or texts as they are searched, of some shards are in each language."""
    counts = Counter[Any]()
    for shard in shards:
        counts.update(dict(json.loads((shard / LANGUAGES).read_text("utf-8"))[name]))
    return counts
