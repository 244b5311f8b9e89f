"""Building an index: a corpus is planned in pieces, each is read and built by itself, and what they share is added up.

The process that leads holds no documents, chunks or vectors: it hands pieces to the pool and adds up what is known of
them. What was done before for the same pieces, for the index that stands there or by a build that was killed, is not
done again.
"""

from __future__ import annotations

import inspect
import json
import shutil
from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import cached_property, reduce
from importlib.metadata import version
from operator import add
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from karat.core.docs import Chunks, Problem
from karat.core.errors import KaratError, UsageError
from karat.core.text.languages import commonest
from karat.core.text.words import plural
from karat.corpus import (
    CHUNKERS,
    READERS,
    Chunking,
    CorpusPiece,
    CorpusPlan,
    PieceFacts,
    load_chunks,
    pieces_again,
    plan_corpus,
)
from karat.io.checksum import digest
from karat.io.filetable import fault
from karat.models import EmbedderSettings
from karat.pool import LocalPool, Pool, Progress, Shard, Task
from karat.retrieve import ENGINES, EarlierJoin
from karat.retrieve.rewriters.spell import Spell
from karat.systems.defaults import default_embedder
from karat.systems.index import WORDS, Index
from karat.systems.index_folder import IndexDraft, PieceReuse, check_part, shards_of
from karat.systems.index_stages import FACTS, SearchedTexts, known_of, summed_languages
from karat.systems.row_order import load_orders, write_order

if TYPE_CHECKING:
    from karat.core.text import Language
    from karat.io.limits import ReadLimits

CHUNKS, ENGINE = "chunks", "engines/{}"
"""The parts of an index that have shards."""
PIECE_BYTES: int | None = None
"""What a piece holds, about; None: by the size of the corpus."""
_BY_CONTENT = ("clash",)  # what a document is missing for that will be so the next time
_STAGES = "karat.systems.index_stages"


@dataclass(frozen=True, kw_only=True)
class IndexSettings:
    """What an index is built of, and how. `engines` has the settings of each engine, as far as they are given."""

    sources: str | PathLike[str] | Sequence[str | PathLike[str]]
    chunking: Chunking
    titles: bool
    engines: Mapping[str, dict[str, Any]]
    columns: Mapping[str, str] | None
    limits: ReadLimits
    follow_links: bool


def build(settings: IndexSettings, draft: IndexDraft, earlier: Index | None, pool: Pool, progress: Progress) -> None:
    """Fill a draft with the index; it is not needed where the earlier index is the same."""
    plan = plan_corpus(
        settings.sources,
        columns=settings.columns,
        limits=settings.limits,
        follow_links=settings.follow_links,
        progress=progress,
        piece_bytes=PIECE_BYTES,
    )
    draft.is_long = len(plan.pieces) > 1
    stage = _ReadStage(settings, draft, pool, progress)
    shards = stage.shards(plan)
    draft.reuse = stage.reuse(shards, earlier)
    folders = [one.shard.path for one in shards]
    facts = reduce(add, (one.facts for one in shards), PieceFacts())
    files = plan.conclude(facts.parts)
    language = commonest(summed_languages(folders, "texts"))
    if "dense" in settings.engines:
        settings.engines["dense"].setdefault("embedder", default_embedder(language).plain())
    draft.shards[CHUNKS] = [one.shard for one in shards]
    engines = _EngineStage(settings, draft, earlier, pool, progress)
    engines.build_shards(summed_languages(folders, "searched"))
    draft.about.update(
        karat=version("karat"),
        settings={"chunk": settings.chunking.text, "titles": settings.titles},
        corpus={
            "docs": facts.docs,
            "pages": facts.pages,
            "chunks": facts.chunks,
            "tokens": facts.tokens,
            "language": language,
        },
        taken=[asdict(file) for file in files.taken],
    )
    problems = [asdict(problem) for problem in files.problems]
    draft.about["made_of"] = digest({"engines": engines.completed, "problems": problems, **draft.about})
    if earlier is not None and earlier.about.get("made_of") == draft.about["made_of"] and engines.stand_in(earlier):
        draft.is_needed = False
        return
    progress("ordering the chunks", 0, 1)
    write_order(folders, draft.folder)
    _join_words(folders, draft.folder / WORDS, earlier)
    chunks = load_chunks(folders, load_orders(draft.folder, [one.shard.rows for one in shards]))
    engines.join(chunks)
    draft.about["settings"]["engines"] = engines.settings
    notes = [*facts.notes.problems, *facts.boilerplate_problems(chunks), *engines.problems]
    draft.about["problems"] = [*problems, *map(asdict, notes)]


def _join_words(shards: Sequence[Path], path: Path, earlier: Index | None) -> None:
    """Save the words of all shards: where most of them are those of the earlier index, from the words of that."""
    before = _earlier_join(earlier, WORDS, CHUNKS, beginning=WORDS)
    if before is not None:
        old, new = ({one.name: one / WORDS for one in some} for some in (before.shards, shards))
        added, removed = (
            [some[name] for name in some if name not in others] for some, others in ((new, old), (old, new))
        )
        if 1 + len(added) + len(removed) < len(shards):
            return Spell.join(path, [before.folder / WORDS, *added], removed)
    return Spell.join(path, [shard / WORDS for shard in shards])


def _earlier_join(
    earlier: Index | None, file: str, part: str, *, beginning: str = "", whole: Container[str] = ()
) -> EarlierJoin | None:
    """What an earlier index joined of the shards of a part, and these; None where a file differs from its checksum.

    Compared are files of what was joined whose names begin as `file`, and of the shards those that begin as
    `beginning`, but for shards that are known to be `whole`.
    """
    if earlier is None or earlier.path is None or earlier.folder is None:
        return None
    try:
        check_part(earlier.path, earlier.about, earlier.folder, file)
        shards = shards_of(earlier.path, earlier.about, part, beginning, check=True, whole=whole)
    except KaratError:
        return None
    return EarlierJoin(earlier.folder, [one.path for one in shards])


@dataclass(frozen=True)
class _ChunkShard:
    """A piece of the corpus, and the shard of its documents and chunks."""

    piece: CorpusPiece
    shard: Shard

    @cached_property
    def facts(self) -> PieceFacts:
        return PieceFacts.load(self.shard.path / FACTS)

    @property
    def is_repeatable(self) -> bool:
        """Whether it would be the same another time: all was read, and by karat's own readers."""
        return not any(
            part.fault is not None
            or any(problem["fatal"] and problem["kind"] not in _BY_CONTENT for problem in part.notes["problems"])
            or (part.reader is not None and READERS.is_plugin(part.reader))
            for parts in self.facts.parts
            for part in parts
        )


class _ReadStage:
    """The first stage: pieces of the corpus read and chunked."""

    def __init__(self, settings: IndexSettings, draft: IndexDraft, pool: Pool, progress: Progress) -> None:
        self._draft, self._pool, self._progress = draft, pool, progress
        self._found: set[str] = set()
        self._reuses = not CHUNKERS.is_plugin(settings.chunking.by)  # else it may have changed
        self._task = Task(
            name=f"{_STAGES}:ReadAndChunk",
            settings={"chunk": settings.chunking.text, "titles": settings.titles},
            work="read",
            label="reading and chunking",
            counts_bytes=True,
        )

    def shards(self, plan: CorpusPlan) -> list[_ChunkShard]:
        """The shards of all pieces. One that has to know something of the others is done again, with that said."""
        shards = self._done(plan.pieces)
        again = self._again(shards)
        if moved := [number for number, piece in again.items() if "row" in piece.description]:
            shards = self._replaced(shards, {n: plan.pieces[n].again(row=plan.pieces[n].row) for n in moved})
            again = self._again(shards)  # by the ids that they have now
        return self._replaced(shards, again)

    def reuse(self, shards: Sequence[_ChunkShard], earlier: Index | None) -> PieceReuse:
        """What was there already."""
        names = [one.shard.path.name for one in shards]
        before = {one["name"] for one in earlier.about["shards"].get(CHUNKS, ())} if earlier is not None else set()
        read = [one for one, name in zip(shards, names, strict=True) if name not in self._found]
        return PieceReuse(
            pieces=len(shards),
            read=len(read),
            docs=sum(one.facts.docs for one in read),
            continued=sum(name in self._found and name not in before for name in names),
            removed=len(before.difference(names)),
            is_first=earlier is None,
        )

    def _again(self, shards: Sequence[_ChunkShard]) -> dict[int, CorpusPiece]:
        if len(shards) < 2:
            return {}
        pieces, facts, folders = zip(*((one.piece, one.facts, one.shard.path) for one in shards), strict=True)
        return pieces_again(pieces, facts, folders)

    def _replaced(self, shards: Sequence[_ChunkShard], again: Mapping[int, CorpusPiece]) -> list[_ChunkShard]:
        """The shards, some of them by these pieces; what they were before will be needed by the next build."""
        self._draft.used += [shards[number].shard for number in again]
        done = dict(zip(again, self._done(list(again.values())), strict=True))
        return [done.get(number, shard) for number, shard in enumerate(shards)]

    def _done(self, pieces: Sequence[CorpusPiece]) -> list[_ChunkShard]:
        """The shards of some pieces, from the ledger where they are there and would be the same another time."""
        inputs = [self._input(piece) for piece in pieces]
        outputs: dict[str, Shard] = {}
        for piece, one in zip(pieces, inputs, strict=True):
            output = self._draft.ledger.find(self._task, one) if self._reuses else None
            if output is not None and _ChunkShard(piece, output).is_repeatable:
                outputs[one.digest] = output
        self._found.update(output.path.name for output in outputs.values())
        todo = {one.digest: one for one in inputs if one.digest not in outputs}
        if outputs and todo:
            self._progress(f"using {len(outputs):,} of {plural(len(pieces), 'piece')} that were read before", 0, 1)
        done = self._pool.map(self._task, list(todo.values()), self._draft.ledger, self._progress, anew=todo)
        outputs |= {one.digest: output for one, output in done}
        return [_ChunkShard(piece, outputs[one.digest]) for piece, one in zip(pieces, inputs, strict=True)]

    def _input(self, piece: CorpusPiece) -> Shard:
        """A piece as the pool takes it: a file that describes it."""
        path = self._draft.plan / f"{piece.digest}.json"
        path.write_text(json.dumps(piece.description), "utf-8")
        first, *others = (file["path"] for file in piece.description["files"])
        name = f"{first} and {len(others):,} other files" if others else first
        return Shard(path=path, rows=piece.bytes, digest=piece.digest, name=name)


class _EngineStage:
    """The engines of an index: their shards, what is joined of these, and why an engine could not be built."""

    def __init__(
        self, settings: IndexSettings, draft: IndexDraft, earlier: Index | None, pool: Pool, progress: Progress
    ) -> None:
        self._wanted, self._titles = dict(settings.engines), settings.titles
        self._draft, self._earlier, self._pool, self._progress = draft, earlier, pool, progress
        self._failed: set[str] = set()
        self.completed: dict[str, dict[str, Any]] = {}
        """The settings of those that are built by shards, with every default."""
        self.settings: dict[str, dict[str, Any]] = {}
        """The settings of those that stand."""
        self.problems: list[Problem] = []

    def build_shards(self, languages: Counter[Language | None]) -> None:
        """Build the shards of each engine that has any; settings that cannot be are refused before."""
        kinds: dict[str, Any] = {name: ENGINES.get(name) for name in self._wanted}
        for name, kind in kinds.items():
            if hasattr(kind, "build_shard"):
                self.completed[name] = kind.completed(self._wanted[name], languages)
        for name in self.completed:
            self._progress(f"building {name}", 0, 1)
            with self._excused(name):
                self._draft.shards[ENGINE.format(name)] = self._shards(name)

    def _shards(self, name: str) -> list[Shard]:
        chunks = self._draft.shards[CHUNKS]
        task = Task(
            name=f"{_STAGES}:BuildShard",
            settings={"engine": name, "titles": self._titles, "settings": self.completed[name]},
            work="embed" if "embedder" in self.completed[name] else "build",
            label=f"building {name}",
        )
        ledger, inputs = self._draft.ledger, {one.digest: one for one in chunks}
        outputs = {} if ENGINES.is_plugin(name) else self._standing(name, task, inputs)  # a plug-in may have changed
        todo = {one: shard for one, shard in inputs.items() if one not in outputs}
        hints = {
            "known": self._known(name, {one.path.name for one in outputs.values()}) if todo else None,
            "journals": {one.digest: str(self._draft.journal(number)) for number, one in enumerate(chunks)},
            "fingerprint": self._fingerprint(name) if todo else None,
        }
        task = replace(task, hints=hints)
        done = self._pool_for(name).map(task, list(todo.values()), ledger, self._progress, anew=todo)
        outputs |= {one.digest: output for one, output in done}
        return [outputs[one.digest] for one in chunks]

    def _pool_for(self, name: str) -> Pool:
        """Who builds the shards of an engine: on a cluster this process alone, where an endpoint embeds."""
        embedder = self.completed[name].get("embedder")
        is_cluster = self._pool.is_cluster
        alone = is_cluster and embedder and EmbedderSettings.of(embedder).is_made_once(is_cluster=is_cluster)
        return LocalPool(1) if alone else self._pool

    def _fingerprint(self, name: str) -> str | None:
        """What makes the vectors of an engine here, which workers on other machines must have; None where none are."""
        of: Callable[[Mapping[str, Any]], str] | None = getattr(ENGINES.get(name), "fingerprint_now", None)
        return of(self.completed[name]) if of is not None and self._pool.is_cluster else None

    def _standing(self, name: str, task: Task, inputs: Mapping[str, Shard]) -> dict[str, Shard]:
        """What is in the ledger and would be the same now."""
        outputs = {one: self._draft.ledger.find(task, shard) for one, shard in inputs.items()}
        found = {one: output for one, output in outputs.items() if output is not None}
        are_current = getattr(ENGINES.get(name), "are_current", None)
        if are_current is None or not found:
            return found
        current = are_current([output.path for output in found.values()], self.completed[name])
        return {one: output for (one, output), is_current in zip(found.items(), current, strict=True) if is_current}

    def stand_in(self, index: Index) -> bool:
        """Whether an index has these engines of these shards, and every byte of what was joined of them."""
        wanted = {part: [one.path.name for one in shards] for part, shards in self._draft.shards.items()}
        standing = {part: [one["name"] for one in shards] for part, shards in index.about["shards"].items()}
        return (
            wanted == standing
            and set(self._wanted) == set(self.completed) == set(index.engines)
            and index.folder is not None
            and fault(index.folder, index.about["files"], large=True) is None
        )

    def join(self, chunks: Chunks) -> None:
        """Join the shards of each engine; one that has none is built over all texts."""
        for name in [name for name in self._wanted if name not in self._failed]:
            folder = self._draft.folder / "engines" / name
            folder.mkdir(parents=True)
            with self._excused(name):
                facts = self._joined(name, folder) if name in self.completed else self._whole(name, chunks, folder)
                self.settings[name] = facts["settings"]
                self.problems += facts.get("problems", ())
                if lost := facts.get("without_vector", 0):
                    self._note_lost(name, lost, len(chunks))
        if not self.settings:
            raise KaratError(" ".join(problem.reason for problem in self.problems))

    def _joined(self, name: str, folder: Path) -> dict[str, Any]:
        kind: Any = ENGINES.get(name)
        shards = [one.path for one in self._draft.shards[ENGINE.format(name)]]
        more = {}
        if "earlier" in inspect.signature(kind.join).parameters:
            part = ENGINE.format(name)
            before = _earlier_join(self._earlier, f"{part}/", part, whole=[one.name for one in shards])
            more["earlier"] = before and replace(before, folder=before.folder / part)
        facts: dict[str, Any] = kind.join(shards, self.completed[name], folder, self._progress, **more)
        return facts

    def _whole(self, name: str, chunks: Chunks, folder: Path) -> dict[str, Any]:
        kind, texts = ENGINES.get(name), SearchedTexts(chunks, self._titles)
        self._progress(f"building {name}", 0, 1)
        more = {"known": known_of(self._known(name), name), "journal": self._draft.journal()}
        taken = inspect.signature(kind.build).parameters
        engine = kind.build(texts, self._wanted[name], self._progress, **{k: v for k, v in more.items() if k in taken})
        engine.save(folder)
        return {"settings": dict(engine.settings), "without_vector": getattr(engine, "without_vector", 0)}

    def _known(self, name: str, whole: Container[str] = ()) -> str | None:
        """The index whose engine of this name may hand on what it knows, every byte of it compared with its checksum.

        Those of the shards that are `whole` were compared already.
        """
        if self._earlier is None or name not in self._earlier.engines:
            return None
        part = ENGINE.format(name)
        is_whole = _earlier_join(self._earlier, f"{part}/", part, whole=whole) is not None
        return str(self._draft.path) if is_whole else None

    @contextmanager
    def _excused(self, name: str) -> Iterator[None]:
        """An engine that cannot be built is left out and named, unless that would take one away that stands."""
        try:
            yield
        except UsageError:
            raise
        except KaratError as problem:
            if self._earlier is not None and name in self._earlier.engines:
                raise KaratError(f"{problem} The index that stands there was left as it was.") from problem
            self.problems.append(Problem(f"engine {name}", "failed", str(problem)))
            self._failed.add(name)
            self._draft.shards.pop(ENGINE.format(name), None)
            shutil.rmtree(self._draft.folder / "engines" / name, ignore_errors=True)

    def _note_lost(self, name: str, lost: int, rows: int) -> None:
        what = f"{lost:,} of {rows:,} chunks have no vector, since the model makes nothing of their texts"
        remedy = "Other engines and a hybrid can; or choose another --embedder."
        self.problems.append(
            Problem(f"engine {name}", "no vector", f"{what}: it never finds them.", remedy=remedy, fatal=False)
        )
