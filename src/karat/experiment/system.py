"""System: a way of retrieving, put together: rewriting, engines, a fusion of them, reranking."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from karat.core.errors import UsageError
from karat.core.means import Means
from karat.experiment._reranking import CHAT, reranked_by
from karat.fuse.rrf import K as RRF_K
from karat.fuse.weighted import NORMALISE

if TYPE_CHECKING:
    from karat.core.docs import Chunk, Chunks
    from karat.core.ranked import Ranked
    from karat.core.run import Run
    from karat.experiment.index import Index
    from karat.fuse import FusedParts
    from karat.match import Pages
    from karat.models import EmbedderSettings
    from karat.retrieve import Reranked
    from karat.retrieve.rewrite import Rewriter, Rewritten

HYBRID = "hybrid"
DEPTH = 100


class _Clock:
    """Seconds by step."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.start()

    def start(self) -> None:
        self._since = perf_counter()

    def stop(self, step: str, least: float = 0.0) -> None:
        """A step has ended, and the next begins. `least` is what a model took that was asked before."""
        self.seconds[step] = max(perf_counter() - self._since, least)
        self.start()


class _Searches(Protocol):
    def search(self, queries: Sequence[str], depth: int = ...) -> Ranked: ...


@dataclass(frozen=True)
class SystemSettings:
    """How to retrieve. `engine` is one engine, a store such as `faiss:PATH`, or `hybrid`, which fuses its legs.

    `alpha` weighs the first leg against the second in a weighted fusion: 1 is the first alone. `depth` is how many
    hits each engine gives, or k where that is more. `rerank` is a folder with a cross-encoder, or `chat`.
    """

    engine: str = HYBRID
    legs: tuple[str, ...] = ("dense", "bm25")
    fusion: str = "weighted"
    alpha: float = 0.3
    normalise: str = NORMALISE[0]
    rrf_k: float = RRF_K
    depth: int = DEPTH
    rewrite: tuple[str, ...] = ()
    rerank: str | None = None
    rerank_depth: int = 20
    embedder: EmbedderSettings | None = None  # of a store that something else made

    @property
    def name(self) -> str:
        """A short name that tells apart what differs."""
        if self.engine != HYBRID:
            name = self.engine
        elif self.fusion == "weighted":
            name = f"hybrid alpha={self.alpha:g}" + (f" {self.normalise}" if self.normalise != NORMALISE[0] else "")
        else:
            name = self.fusion
        return "+".join((name, *steps_of(self.rewrite, self.rerank)))

    @property
    def needs_chat(self) -> bool:
        """Whether a chat model is asked, to rewrite or to rerank."""
        from karat.retrieve.rewrite import needs_of

        return self.rerank == CHAT or any("chat" in needs_of(text) for text in self.rewrite)

    @property
    def consulted(self) -> tuple[str, ...]:
        """The engines that are asked at all: a leg of weight 0 is not."""
        if self.engine != HYBRID:
            return (self.engine,)
        weights = self.weights
        return self.legs if weights is None else tuple(x for x, w in zip(self.legs, weights, strict=True) if w > 0)

    @property
    def has_store(self) -> bool:
        """Whether a store that something else made is asked, which ranks chunks of its own."""
        return any(":" in name for name in self.consulted)

    @property
    def weights(self) -> tuple[float, ...] | None:
        """Of the legs in a weighted fusion."""
        from karat.fuse.weighted import alpha_weights

        return alpha_weights(self.alpha) if self.fusion == "weighted" else None

    def depth_for(self, k: int) -> int:
        """How many candidates each leg gives for a result of k."""
        return max(self.depth, k, self.rerank_depth if self.rerank else 0)

    def essence(self, k: int) -> tuple[Any, ...]:
        """What its results of length k depend on: systems that agree in this find the same."""
        fused = (self.fusion, tuple(sorted(self.fusion_settings.items()))) if len(self.consulted) > 1 else ()
        reranked = (self.rerank, self.rerank_depth) if self.rerank else ()
        depth = self.depth_for(k) if fused or reranked or self.rewrite else k
        return (self.consulted, fused, depth, self.rewrite, reranked, self.embedder)

    def check(self) -> None:
        """Refuse what cannot be before anything is loaded."""
        from karat.core.ranked import Ranked
        from karat.fuse import FUSIONS
        from karat.retrieve.rewrite import check_named

        for text in self.rewrite:
            check_named(text)
        if self.depth < 1:
            raise UsageError(f"depth={self.depth}: each leg gives 1 hit or more.")
        if self.engine == HYBRID:
            fusion = FUSIONS.get(self.fusion)
            if len(set(self.legs)) < len(self.legs) or len(self.legs) < 2:
                raise UsageError(
                    f"a hybrid fuses two engines or more, each once, not {', '.join(self.legs) or 'none'}."
                )
            if self.fusion == "weighted" and len(self.legs) != 2:
                raise UsageError("alpha weighs two legs. Fuse more of them with rrf, combsum, combmnz or isr.")
            fusion.fuse([Ranked.empty(1)] * len(self.legs), **self.fusion_settings)  # checks its settings

    @property
    def fusion_settings(self) -> dict[str, Any]:
        """What the fusion takes of these settings."""
        if self.fusion == "weighted":
            return {"weights": self.weights, "normalise": self.normalise}
        return {"k": self.rrf_k} if self.fusion == "rrf" else {}


def steps_of(rewrite: Sequence[str], rerank: str | None) -> list[str]:
    """What the name of a system says of rewriting and reranking: how, and not by which file."""
    split = (text.partition(":") for text in rewrite)
    more = [f"{name}:{target}" if target.isalnum() else name for name, _, target in split]
    return more + (["rerank:chat" if rerank == CHAT else "rerank"] if rerank else [])


@dataclass(frozen=True)
class Found:
    """What a system found for some questions, with every step on the way to it.

    `legs` holds what each engine that was consulted found; `parts` how the fusion put them together, where there
    was one; `ranked` is the result. `failed` are questions without one, by number, with the reason: a model that
    rewrites or reranks was asked in vain.
    """

    chunks: Chunks
    rewritten: tuple[Rewritten, ...]
    legs: Mapping[str, Ranked]
    parts: FusedParts | None
    ranked: Ranked
    notes: tuple[str, ...] = ()  # what a store of another tool should be known for
    seconds: Mapping[str, float] = field(default_factory=dict)  # of each step, for all questions together
    failed: Mapping[int, str] = field(default_factory=dict)

    def hits(self, question: int) -> list[tuple[float, Chunk]]:
        """Score and chunk of each hit of a question, best first."""
        rows, scores = self.ranked.of(question)
        return [(score, self.chunks[row]) for row, score in zip(rows.tolist(), scores.tolist(), strict=True)]

    def run(self, name: str, question_ids: Sequence[str], pages: Pages = "physical") -> Run:
        """The hits as a run that can be scored and written; what failed is a failed row in it."""
        from karat.core.run import Run

        done = [i for i in range(len(question_ids)) if i not in self.failed]
        ranked = self.ranked.take(np.array(done, np.int64)) if self.failed else self.ranked
        held = {row: self.chunks[row] for row in np.unique(ranked.rows).tolist()}
        hits = [held[row] for row in ranked.rows.tolist()]
        fields: dict[str, list[Any]] = {
            "doc": [c.doc for c in hits],
            "page": [pages_of(c, pages) for c in hits],
            "url": [c.url for c in hits],
            "text": [c.text for c in hits],
            "span": [c.span for c in hits],
            "tokens": [c.tokens for c in hits],
        }
        known = {name: column for name, column in fields.items() if any(v is not None for v in column)}
        return Run(
            name, [question_ids[i] for i in done], ranked.offsets, [chunk.id for chunk in hits], ranked.scores,
            fields=known, failed={question_ids[i]: reason for i, reason in self.failed.items()}, unique=True,
        )  # fmt: skip


def check_pages(pages: str) -> Pages:
    """A way of counting pages, checked."""
    if pages not in ("physical", "printed"):
        raise UsageError(f"--pages {pages}: write physical (counted from 1) or printed (as on the page).")
    return "physical" if pages == "physical" else "printed"


def pages_of(chunk: Chunk, pages: Pages) -> tuple[str, ...] | None:
    """The pages a chunk stands on, by physical number or as printed."""
    found = tuple(map(str, chunk.pages)) if pages == "physical" else chunk.labels
    return found or None


@dataclass
class System:
    """Settings over an index, ready to search; each engine is loaded when it is first asked."""

    settings: SystemSettings
    index: Index | None = None
    means: Means = field(default_factory=Means)
    rewriters: list[Rewriter] | None = None  # opened at the first search, or those of another system
    notes: tuple[str, ...] = ()  # on how the settings were chosen
    _opened: dict[str, _Searches] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.settings.check()

    def rewritten(self, questions: Sequence[str]) -> tuple[Rewritten, ...]:
        """The questions as they are searched; where a model rewrites, it is asked for all of them at once."""
        from karat.retrieve.rewrite import rewrite_all

        return tuple(rewrite_all(self.rewriting(), questions, self.means))

    def search(
        self,
        questions: Sequence[str],
        k: int = DEPTH,
        *,
        whole: bool = False,
        rewritten: Sequence[Rewritten] | None = None,
    ) -> Found:
        """The best k chunks of each question; `whole` keeps all that the legs gave.

        `rewritten` are the questions as they are to be searched, where they were rewritten before.
        """
        from karat.fuse import FUSIONS

        if k < 1:
            raise UsageError(f"k={k}: a cut-off is 1 or more.")
        settings, clock = self.settings, _Clock()
        if settings.needs_chat:
            self.means.chat_for(settings.name)
        rewritten = self.rewritten(questions) if rewritten is None else tuple(rewritten)
        failed = {i: one.error for i, one in enumerate(rewritten) if one.error is not None}
        if settings.rewrite:
            clock.stop("rewriting", max((one.seconds for one in rewritten), default=0.0))
        depth = settings.depth_for(k)
        found = {}
        for name in settings.consulted:
            self.engine(name)
            clock.start()
            found[name] = self._leg(name, rewritten, depth)
            clock.stop(name)
        chunks, legs = self._on_one_table(found)
        parts, ranked = None, next(iter(legs.values()))
        if settings.engine == HYBRID and len(legs) > 1:
            parts = FUSIONS.get(settings.fusion).parts(list(legs.values()), **settings.fusion_settings)
            ranked = parts.ranked
            clock.stop("fusion")
        if settings.rerank is not None:
            reranked = self.reranked(ranked, chunks, questions)
            ranked, failed = reranked.ranked, {**reranked.failed, **failed}
            clock.stop("reranking", float(reranked.seconds.max(initial=0.0)))
        told = (note for name in legs for note in self._notes(name))
        notes = (*self.notes, *told, *remarks_of(rewritten, len(questions)))
        return Found(chunks, rewritten, legs, parts, ranked if whole else ranked.top(k), notes, clock.seconds, failed)

    def _leg(self, name: str, rewritten: Sequence[Rewritten], depth: int) -> tuple[Chunks, Ranked]:
        """What one engine finds, the phrasings of a question fused."""
        from karat.core.ranked import Ranked
        from karat.fuse.rrf import fuse_phrasings
        from karat.retrieve.rewrite import queries_with_owner

        queries, owner = queries_with_owner(rewritten)
        engine = self.engine(name)
        ranked = engine.search(queries, depth) if queries else Ranked.empty(0)
        if any(len(one.queries) > 1 for one in rewritten):
            ranked = fuse_phrasings(ranked, owner, len(rewritten)).top(depth)
        elif len(queries) < len(rewritten):
            ends = np.cumsum([0, *(len(one.queries) for one in rewritten)])
            ranked = Ranked(ranked.offsets[ends], ranked.rows, ranked.scores)
        chunks = getattr(engine, "chunks", None)
        if chunks is None:
            assert self.index is not None
            chunks = self.index.chunks
        elif self.index is not None:
            chunks = _completed(chunks, self.index.chunks)
        return chunks, ranked

    def engine(self, name: str) -> _Searches:
        """An engine or a store, opened when it is first asked for."""
        from karat.models import embedder_named
        from karat.retrieve import STORES

        if name not in self._opened:
            kind, colon, target = name.partition(":")
            if colon:
                chosen = self.settings.embedder
                embedder = embedder_named(chosen) if chosen is not None else None
                self._opened[name] = STORES.get(kind).open(target, embedder)
            elif self.index is None:
                raise UsageError(f"the engine {name!r} needs an index. Build one with `karat index DOCS -o INDEX`.")
            else:
                self._opened[name] = self.index.engine(name)
        return self._opened[name]

    def _notes(self, name: str) -> Iterator[str]:
        """What one should know of an engine or a store."""
        from karat.models import EmbedderSettings

        if ":" in name and self.settings.embedder is None:
            yield (
                f"queries to {name} are embedded by {EmbedderSettings().label}, the default. If another model made its "
                "vectors, name it with --embedder."
            )
        yield from getattr(self.engine(name), "notes", ())

    def _on_one_table(self, found: Mapping[str, tuple[Chunks, Ranked]]) -> tuple[Chunks, dict[str, Ranked]]:
        """The legs over one table of chunks; tables that differ are joined by the ids of what was found."""
        from karat.core.docs import Chunks
        from karat.core.ranked import Ranked

        tables = [chunks for chunks, _ in found.values()]
        if all(table is tables[0] for table in tables):
            return tables[0], {name: ranked for name, (_, ranked) in found.items()}
        held: dict[str, Chunk] = {}
        for table, ranked in found.values():
            for row in np.unique(ranked.rows).tolist():
                held.setdefault(table[row].id, table[row])
        joined = Chunks.ordered(list(held.values()))
        legs = {}
        for name, (table, ranked) in found.items():
            rows = np.array([joined.row_of[table[row].id] for row in ranked.rows.tolist()], np.int64)
            legs[name] = Ranked.ordered(len(ranked), ranked.query, rows, ranked.scores)
        return joined, legs

    def rewriting(self) -> list[Rewriter]:
        """The rewriters of the settings, opened when they are first asked for."""
        from karat.experiment.index import WORDS
        from karat.retrieve.rewrite import rewriter_named

        if self.rewriters is None:
            folder = self.index.folder if self.index is not None else None
            kept = f"spell:{folder / WORDS}" if folder is not None else "spell"
            named = [kept if text == "spell" else text for text in self.settings.rewrite]
            self.rewriters = [rewriter_named(text, self._texts) for text in named]
        return self.rewriters

    def _texts(self) -> Iterable[str]:
        if self.index is None:
            raise UsageError("spell corrects by the words of an index. Name one instead of -.")
        return self.index.chunks.texts

    def reranked(self, ranked: Ranked, chunks: Chunks, questions: Sequence[str]) -> Reranked:
        """The first hits ordered anew by the model of the settings."""
        assert self.settings.rerank is not None
        return reranked_by(self.settings.rerank, self.settings.rerank_depth, self.means, ranked, chunks, questions)


def remarks_of(rewritten: Iterable[Rewritten], questions: int) -> list[str]:
    """What should be known of how questions were rewritten, each thing once, with how many it was true of."""
    counts = Counter(remark for one in rewritten for remark in one.remarks)
    return [f"{remark} ({n:,} of {questions:,} questions)" for remark, n in counts.items()]


def _completed(chunks: Chunks, known: Chunks) -> Chunks:
    """What a store found; where it has an id and no text, the chunk of the index that is called so."""
    from karat.core.docs import Chunks

    row_of = known.row_of
    return Chunks.ordered([known[row_of[c.id]] if not c.text and c.id in row_of else c for c in chunks])
