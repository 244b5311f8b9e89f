"""Index: documents read, cut and made searchable, in memory or in a folder."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from karat.core.docs import Chunks, Problem
from karat.core.errors import KaratError, UsageError, did_you_mean
from karat.core.glance import NotebookView, Table
from karat.core.progress import shown_in_notebook
from karat.core.text import Language, main_language
from karat.core.text.words import plural
from karat.corpus import Chunking, Docs, load_chunks, load_docs
from karat.io.limits import ReadLimits
from karat.models import EmbedderSettings, hosts
from karat.retrieve import ENGINES, Engine, Progress
from karat.retrieve.rewriters.spell import Spell
from karat.systems.hits import Hits, search_one

if TYPE_CHECKING:
    from karat.core.ranked import Ints
    from karat.pool import PoolChoice
    from karat.systems.index_folder import PieceReuse

WORDS = "words.txt"
ENGINES_BUILT = ("bm25", "dense")
_ENGINE = re.compile(r"[A-Za-z0-9_-]+")  # no store of another tool, no path


@dataclass(repr=False)
class Index(NotebookView):
    """Chunks that can be searched, the documents they were cut from, and what could not be read.

    Opened from a folder, each part is compared with its checksums and loaded when it is first asked for.
    """

    about: dict[str, Any]
    folder: Path | None = None
    built: dict[str, Engine] = field(default_factory=dict)
    path: Path | None = None
    verified: bool = False
    reuse: PieceReuse | None = None
    """What was used again, where it has just been built."""

    @classmethod
    def open(cls, path: str | os.PathLike[str], *, verify: bool = False) -> Index:
        """An index that `karat index` wrote; `verify` compares every byte with its checksum."""
        from karat.systems.index_folder import damaged, opened

        about, folder = opened(Path(path), verify=verify)
        for name in about["settings"]["engines"]:
            if not _ENGINE.fullmatch(name):
                raise damaged(Path(path), f"it names the engine {name!r}, which none can be called")
        return cls(about, folder, path=Path(path), verified=verify)

    @cached_property
    def chunks(self) -> Chunks:
        """What is ranked, by row."""
        return load_chunks(self._chunk_folders("chunks."), self._orders)

    @cached_property
    def docs(self) -> Docs:
        """The documents the chunks were cut from."""
        return load_docs(self._chunk_folders("docs."), self.chunks)

    @cached_property
    def spell(self) -> Spell:
        """The words of the corpus, for mending a query."""
        return Spell.load(self._part(WORDS) / WORDS)

    @cached_property
    def language(self) -> Language | None:
        """The language that most of its chunks are in; None where karat does not recognise it."""
        corpus = self.about["corpus"]
        return corpus["language"] if "language" in corpus else main_language(self.chunks.texts)

    @property
    def embedder(self) -> EmbedderSettings | None:
        """The embedder that it was built with; None where it has no dense engine."""
        values: Any = self.about["settings"]["engines"].get("dense", {}).get("embedder")
        return None if values is None else EmbedderSettings.of(values)

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Files that could not be read, and what else should be known of them."""
        return tuple(Problem(**p) for p in self.about.get("problems", ()))

    @property
    def engines(self) -> tuple[str, ...]:
        """Names of the engines it was built with."""
        return tuple(self.about["settings"]["engines"])

    def engine(self, name: str) -> Engine:
        """One of its engines, loaded."""
        if name not in self.built:
            self.built[name] = self.engine_over(name)
        return self.built[name]

    def shard_rows(self, name: str) -> list[int]:
        """How many rows each shard of an engine has; nothing where it has none."""
        from karat.systems.index_folder import shards_of

        if self.path is None:
            return []
        return [one.rows for one in shards_of(self.path, self.about, f"engines/{name}", check=False)]

    def engine_over(self, name: str, only: Sequence[int] | None = None) -> Engine:
        """One of its engines over some of its shards, by their numbers, of which alone anything is read; None: all."""
        if name not in self.engines:
            have = ", ".join(self.engines)
            raise UsageError(
                f"this index has no engine {name!r}.{did_you_mean(name, self.engines)} It was built with {have}: "
                "choose one of these with --engine or --legs, or index again."
            )
        kind: Any = ENGINES.get(name)
        part = f"engines/{name}"
        others = [] if only is None else [n for n in range(len(self.shard_rows(name))) if n not in only]
        folder = self._part(f"{part}/", but=tuple(f"{part}/{number}/" for number in others)) / "engines" / name
        shards, more = self._shards(part, others=others), {} if only is None else {"only": only}
        engine: Engine = kind.load_shards(folder, shards, self._orders, **more) if shards else kind.load(folder)
        return engine

    def _part(self, beginning: str, but: tuple[str, ...] = ()) -> Path:
        """The folder of the generation, its files whose names begin so compared with their checksums."""
        from karat.systems.index_folder import check_part

        assert self.folder is not None
        if self.path is not None and not self.verified:
            check_part(self.path, self.about, self.folder, beginning, but)
        return self.folder

    def _shards(self, part: str, beginning: str = "", others: Sequence[int] = ()) -> list[Path]:
        """The folders of the shards of a part, likewise; none where it stands in the generation.

        Shards of the numbers `others` are not compared.
        """
        from karat.systems.index_folder import shards_of

        if self.path is None:
            return []
        names = [self.about["shards"][part][number]["name"] for number in others]
        check = not self.verified
        return [one.path for one in shards_of(self.path, self.about, part, beginning, check=check, whole=names)]

    def _chunk_folders(self, beginning: str) -> list[Path]:
        return self._shards("chunks", beginning) or [self._part(beginning)]

    @cached_property
    def _orders(self) -> list[Ints] | None:
        """The row of each row of each shard; None where the index has none."""
        from karat.systems.row_order import ORDER, load_orders

        shards = self._shards("chunks", "chunks.offsets")
        return load_orders(self._part(ORDER), [len(load_chunks(one)) for one in shards]) if shards else None

    def search(self, question: str, k: int = 10, engine: str | None = None, **settings: Any) -> Hits:
        """The best k chunks for a question, as `karat search` finds them.

        `engine` is one that the index was built with, or "hybrid"; without it the index's default is searched, which
        goes by the language of the documents. `settings` are those of a system: alpha, fusion, depth, rewrite ...
        """
        from karat.systems.defaults import system_for

        return search_one(system_for(self, engine=engine, **settings), question, k)

    def _line(self) -> str:
        corpus = self.about["corpus"]
        counts = f"{plural(corpus['docs'], 'document')}, {plural(corpus['chunks'], 'chunk')}"
        return f"{str(self.path or 'in memory')!r}, {counts}"

    def _table(self) -> Table:
        rows = [*self.about["corpus"].items(), ("engines", ", ".join(self.engines)), ("problems", len(self.problems))]
        return ("", ""), [*rows, ("chunking", self.about["settings"]["chunk"])]


@shown_in_notebook("progress")
def index(
    sources: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    output: str | os.PathLike[str],
    *,
    chunk: str = "tokens:200:40",
    titles: bool = True,
    engines: str | Iterable[str] = ENGINES_BUILT,
    embedder: str | EmbedderSettings | None = None,
    settings: Mapping[str, Mapping[str, Any]] | None = None,
    columns: Mapping[str, str] | None = None,
    limits: ReadLimits | Mapping[str, float | None] | None = None,
    follow_links: bool = False,
    jobs: int | None = None,
    pool: PoolChoice = None,
    progress: Progress | None = None,
) -> Index:
    """Read documents, cut them into chunks, build engines over them and write all of it to a folder.

    With `titles` a chunk is searched by its title as well as its text. Without an `embedder` the language of the
    documents says which. `settings` holds the settings of engines by
    their names, such as `{"bm25": {"k1": 1.2}}`. An index that stands at `output` is replaced when the new one is
    complete; of its embeddings those that still fit are used again. An engine that cannot be built, because an endpoint
    is down, say, is left out and named among the problems, unless it would take one away that stands there already.
    `limits` is what reading one file may take, such as `{"memory_mb": 2048, "seconds": 300}`: one that takes more is
    named among the problems. Links that lead out of a folder are left out and named, unless `follow_links`. A large
    corpus is read and built in pieces, by `jobs` processes at a time, as many as there are processors unless given, or
    by another `pool`: its name, or a dict such as `{"by": "ray", "address": "auto"}`. What was made of a piece for the
    index that stands there, or by a build that was killed, is used again.
    """
    from karat.pool import open_pool
    from karat.systems.index_build import IndexSettings, build
    from karat.systems.index_folder import LOGS, drafted

    names = (engines,) if isinstance(engines, str) else tuple(dict.fromkeys(engines))
    wanted = IndexSettings(
        sources=sources,
        chunking=Chunking.parse(chunk),
        titles=titles,
        engines=_settings(names, embedder, settings or {}),
        columns=columns,
        limits=ReadLimits.of(limits),
        follow_links=follow_links,
    )
    target = Path(output)
    opened = open_pool(pool, jobs, target / LOGS)
    with drafted(target) as draft:
        build(wanted, draft, _earlier(target), opened, progress or (lambda what, done, total: None))
    return replace(Index.open(target), reuse=draft.reuse)


def _settings(
    names: Sequence[str], embedder: str | EmbedderSettings | None, given: Mapping[str, Mapping[str, Any]]
) -> dict[str, dict[str, Any]]:
    """Settings of each engine to build, by name; without an embedder where none is named."""
    if not names:
        raise UsageError("no engine was named. An index needs at least one, such as bm25.")
    for name in names:
        ENGINES.get(name)
    for name in given:
        if name not in names:
            raise UsageError(f"settings are given for {name!r}, which is not built.{did_you_mean(name, names)}")
    chosen = EmbedderSettings.parse(embedder) if isinstance(embedder, str) else embedder
    wanted = {name: dict(given.get(name, {})) for name in names}
    if "dense" in wanted and chosen is not None:
        wanted["dense"].setdefault("embedder", chosen.plain())
    if "embedder" in wanted.get("dense", {}):
        hosts.allow(EmbedderSettings.of(wanted["dense"]["embedder"]))
    return wanted


def _earlier(path: Path) -> Index | None:
    """The index that is to be replaced, if it can be read."""
    try:
        return Index.open(path)
    except KaratError:
        return None


def check_order(testset: str, index: str) -> None:
    """Refuse an index where a test set is meant, when the two were swapped."""
    from karat.systems.index_folder import is_index

    if is_index(testset) and not is_index(index):
        raise UsageError(f"the test set comes first, then the index: write {index} {testset}.")
