"""Index: documents read, cut and made searchable, in memory or in a folder."""

from __future__ import annotations

import inspect
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from karat.core.docs import Problem
from karat.core.errors import KaratError, UsageError, did_you_mean
from karat.core.glance import NotebookView, Table
from karat.core.progress import shown_in_notebook
from karat.core.text import main_language
from karat.core.text.boilerplate import navigation
from karat.core.text.words import plural

if TYPE_CHECKING:
    from karat.core.docs import Chunk, Chunks, Doc
    from karat.core.text import Language
    from karat.io.limits import ReadLimits
    from karat.models import EmbedderSettings
    from karat.retrieve import Engine, Progress
    from karat.retrieve.rewriters.spell import Spell
    from karat.systems.hits import Hits
    from karat.systems.index_folder import IndexDraft

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
        from karat.corpus import load_chunks

        return load_chunks(self._part("chunks."))

    @cached_property
    def docs(self) -> Sequence[Doc]:
        """The documents the chunks were cut from."""
        from karat.corpus import load_docs

        return load_docs(self._part("docs."))

    @cached_property
    def spell(self) -> Spell:
        """The words of the corpus, for mending a query."""
        from karat.retrieve.rewriters.spell import Spell

        return Spell.load(self._part(WORDS) / WORDS)

    @cached_property
    def language(self) -> Language | None:
        """The language that most of its chunks are in; None where karat does not recognise it."""
        corpus = self.about["corpus"]
        return corpus["language"] if "language" in corpus else main_language(self.chunks.texts)

    @property
    def embedder(self) -> EmbedderSettings | None:
        """The embedder that it was built with; None where it has no dense engine."""
        from karat.models import EmbedderSettings

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
        from karat.retrieve import ENGINES

        if name not in self.built:
            if name not in self.engines:
                have = ", ".join(self.engines)
                raise UsageError(
                    f"this index has no engine {name!r}.{did_you_mean(name, self.engines)} It was built with {have}: "
                    "choose one of these with --engine or --legs, or index again."
                )
            self.built[name] = ENGINES.get(name).load(self._part(f"engines/{name}/") / "engines" / name)
        return self.built[name]

    def _part(self, beginning: str) -> Path:
        """The folder that its files are in, those whose names begin so compared with their checksums."""
        from karat.systems.index_folder import check_part

        assert self.folder is not None
        if self.path is not None and not self.verified:
            check_part(self.path, self.about, self.folder, beginning)
        return self.folder

    def search(self, question: str, k: int = 10, engine: str | None = None, **settings: Any) -> Hits:
        """The best k chunks for a question, as `karat search` finds them.

        `engine` is one that the index was built with, or "hybrid"; without it the index's default is searched, which
        goes by the language of the documents. `settings` are those of a system: alpha, fusion, depth, rewrite ...
        """
        from karat.systems.defaults import system_for
        from karat.systems.hits import search_one

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
    progress: Progress | None = None,
) -> Index:
    """Read documents, cut them into chunks, build engines over them and write all of it to a folder.

    With `titles` a chunk is searched by its title as well as its text. Without an `embedder` the language of the
    documents says which. `settings` holds the settings of engines by
    their names, such as `{"bm25": {"k1": 1.2}}`. An index that stands at `output` is replaced when the new one is
    complete; of its embeddings those that still fit are used again. An engine that cannot be built, because an endpoint
    is down, say, is left out and named among the problems, unless it would take one away that stands there already.
    `limits` is what reading one file may take, such as `{"memory_mb": 2048, "seconds": 300}`: one that takes more is
    named among the problems. Links that lead out of a folder are left out and named, unless `follow_links`.
    """
    from karat.corpus import Chunking, chunk_docs, read, save_chunks, save_docs
    from karat.io.limits import ReadLimits
    from karat.retrieve.rewriters.spell import Spell
    from karat.systems.defaults import default_embedder
    from karat.systems.index_folder import drafted

    say = progress or (lambda what, done, total: None)
    names = (engines,) if isinstance(engines, str) else tuple(dict.fromkeys(engines))
    chunking = Chunking.parse(chunk)
    wanted = _settings(names, embedder, settings or {})
    within = ReadLimits.of(limits)
    target = Path(output)
    with drafted(target) as draft:
        reading = read(sources, progress=say, columns=columns, limits=within, follow_links=follow_links)
        chunks, notes = chunk_docs(reading.docs, chunking, say)
        say("writing documents and chunks", 0, 1)
        save_docs(reading.docs, draft.folder)
        save_chunks(chunks, draft.folder)
        say("collecting the words", 0, 1)
        Spell.build(one.text for one in chunks).save(draft.folder / WORDS)
        language = main_language([one.text for one in chunks])
        if "dense" in wanted:
            wanted["dense"].setdefault("embedder", default_embedder(language).plain())
        built, failures = _build(wanted, [searched(one, titles) for one in chunks], _earlier(target), draft, say)
        problems = [*reading.problems, *notes.problems, *_boilerplate(chunks), *failures]
        draft.about.update(
            karat=_version(),
            settings={"chunk": chunking.text, "titles": titles, "engines": built},
            corpus={
                "docs": len(reading.docs),
                "pages": sum(len(doc.pages) for doc in reading.docs),
                "chunks": len(chunks),
                "tokens": sum(chunk.tokens or 0 for chunk in chunks),
                "language": language,
            },
            taken=[asdict(taken) for taken in reading.taken],
            problems=[asdict(problem) for problem in problems],
        )
    return Index.open(target)


def _settings(
    names: Sequence[str], embedder: str | EmbedderSettings | None, given: Mapping[str, Mapping[str, Any]]
) -> dict[str, dict[str, Any]]:
    """Settings of each engine to build, by name; without an embedder where none is named."""
    from karat.models import EmbedderSettings, hosts
    from karat.retrieve import ENGINES

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


def searched(chunk: Chunk, titles: bool) -> str:
    """What engines see of a chunk."""
    title = chunk.title if titles else None
    return chunk.text if not title or chunk.text.startswith(title) else f"{title}\n{chunk.text}"


def _earlier(path: Path) -> Index | None:
    """The index that is to be replaced, if it can be read."""
    try:
        return Index.open(path)
    except KaratError:
        return None


def _build(
    wanted: Mapping[str, Mapping[str, Any]],
    texts: Sequence[str],
    earlier: Index | None,
    draft: IndexDraft,
    say: Progress,
) -> tuple[dict[str, dict[str, Any]], list[Problem]]:
    """Build and save each engine: the settings of those that stand, and why others do not."""
    from karat.retrieve import ENGINES

    built: dict[str, dict[str, Any]] = {}
    problems: list[Problem] = []
    for name, settings in wanted.items():
        kind = ENGINES.get(name)
        more: dict[str, Any] = {"known": _known(earlier, name), "journal": draft.journal}
        taken = inspect.signature(kind.build).parameters
        say(f"building {name}", 0, 1)
        try:
            engine = kind.build(texts, settings, say, **{key: more[key] for key in more if key in taken})
        except UsageError:
            raise
        except KaratError as problem:
            if earlier is not None and name in earlier.engines:
                raise KaratError(f"{problem} The index that stands there was left as it was.") from problem
            problems.append(Problem(f"engine {name}", "failed", str(problem)))
            continue
        folder = draft.folder / "engines" / name
        folder.mkdir(parents=True)
        engine.save(folder)
        built[name] = dict(engine.settings)
        if lost := getattr(engine, "without_vector", 0):
            what = f"{lost:,} of {len(texts):,} chunks have no vector, since the model makes nothing of their texts"
            remedy = "Other engines and a hybrid can; or choose another --embedder."
            problems.append(
                Problem(f"engine {name}", "no vector", f"{what}: it never finds them.", remedy=remedy, fatal=False)
            )
    if not built:
        raise KaratError(" ".join(problem.reason for problem in problems))
    return built, problems


def _boilerplate(chunks: Iterable[Chunk]) -> Iterator[Problem]:
    """For each document how many of its chunks look like navigation, contents or an index, which answer nothing."""
    sizes = Counter[str]()
    kinds: dict[str, Counter[str]] = {}
    for chunk in chunks:
        sizes[chunk.doc] += 1
        if kind := navigation(chunk.text):
            kinds.setdefault(chunk.doc, Counter())[kind] += 1
    for doc, counts in kinds.items():
        chunks_like_it = counts.total()
        listed = ", ".join(f"{kind} ({count:,})" for kind, count in counts.most_common())
        verb = "looks" if chunks_like_it == 1 else "look"
        reason = f"{chunks_like_it:,} of {plural(sizes[doc], 'chunk')} {verb} like boilerplate: {listed}."
        remedy = "They hold the words of many questions and answer none: leave such pages out of the documents."
        yield Problem(doc, "boilerplate", reason, remedy=remedy, fatal=False)


def _known(earlier: Index | None, name: str) -> Any:
    """What an engine of the index to be replaced can hand on."""
    if earlier is None or name not in earlier.engines:
        return None
    try:
        return getattr(earlier.engine(name), "known", None)
    except KaratError:
        return None


def check_order(testset: str, index: str) -> None:
    """Refuse an index where a test set is meant, when the two were swapped."""
    from karat.systems.index_folder import is_index

    if is_index(testset) and not is_index(index):
        raise UsageError(f"the test set comes first, then the index: write {index} {testset}.")


def _version() -> str:
    from importlib.metadata import version

    return version("karat")
