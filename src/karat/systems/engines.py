"""Engines: what is asked for hits: the engines of an index, and stores that something else made, each opened once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from karat.core.docs import Chunk, Chunks
from karat.core.errors import UsageError
from karat.models import EmbedderSettings, embedder_named
from karat.retrieve import STORES, is_embedded
from karat.retrieve.rewrite import Rewriter, Rewritten, queries_with_owner, rewriter_named
from karat.systems.index import WORDS, Index

if TYPE_CHECKING:
    from karat.core.ranked import Ints, Ranked


_FIRST = np.zeros(1, np.int64)  # the number of a query that is alone


class Searches(Protocol):
    """An engine or a store."""

    def search(self, queries: Sequence[str], depth: int = ...) -> Ranked: ...


class Engines:
    """The engines of an index and any stores; `embedder` is of stores, which do not say what made their vectors."""

    def __init__(self, index: Index | None = None, embedder: EmbedderSettings | None = None) -> None:
        self.index, self.embedder = index, embedder
        self.failed: dict[int, str] = {}
        self.seconds: dict[int, float] = {}
        self._opened: dict[str, Searches] = {}
        self._rewriters: dict[tuple[str, ...], list[Rewriter]] = {}

    def get(self, name: str) -> Searches:
        """An engine, or a store such as `faiss:PATH`, opened when it is first asked for."""
        if name not in self._opened:
            kind, colon, target = name.partition(":")
            if colon:
                embedder = embedder_named(self.embedder) if self.embedder is not None else None
                self._opened[name] = STORES.get(kind).open(target, embedder)
            elif self.index is None:
                raise UsageError(f"the engine {name!r} needs an index. Build one with `karat index DOCS -o INDEX`.")
            else:
                self._opened[name] = self.index.engine(name)
        return self._opened[name]

    def is_approximate(self, name: str) -> bool:
        """Whether a search less deep may return something else than the top of a deeper one."""
        known = self.index.about["settings"]["engines"] if self.index is not None else {}  # without opening it
        settings: Mapping[str, Any] = known[name] if name in known else getattr(self.get(name), "settings", {})
        return bool(settings.get("ann", "exact") != "exact")

    def notes(self, name: str) -> Iterator[str]:
        """What one should know of an engine or a store."""
        if self.embedder is None and is_embedded(name):
            yield (
                f"queries to {name} are embedded by {EmbedderSettings().label}, the default. If another model made its "
                "vectors, name it with --embedder."
            )
        yield from getattr(self.get(name), "notes", ())

    def search(self, name: str, rewritten: Sequence[Rewritten], depth: int) -> Ranked:
        """What one engine retrieves for each question, whose phrasings are fused; `failed` has what a store failed on.

        `seconds` are those of questions that a store was asked one by one, all phrasings together.

        A question with one phrasing is found as if it were asked alone.
        """
        from karat.core.ranked import Ranked

        queries, owner = queries_with_owner(rewritten)
        engine = self.get(name)
        ranked = engine.search(queries, depth) if queries else Ranked.empty(0)
        failed: Mapping[int, str] = getattr(engine, "failed", {}) if queries else {}
        self.failed = {int(owner[number]): reason for number, reason in failed.items()}
        self.seconds = {}
        for number, spent in (getattr(engine, "seconds", {}) if queries else {}).items():
            self.seconds[int(owner[number])] = self.seconds.get(int(owner[number]), 0.0) + spent
        return by_question(rewritten, ranked, depth)

    def ranks_of(self, name: str, rewritten: Sequence[Rewritten], rows: Sequence[Ints]) -> Ints:
        """For each question the rank of the best of some rows in a search as deep as it goes; 0: it finds none."""
        ranks_of: Callable[[Sequence[str], Sequence[Ints]], Ints] | None = getattr(self.get(name), "ranks_of", None)
        if ranks_of is not None and not self.is_approximate(name) and all(len(one.queries) == 1 for one in rewritten):
            return ranks_of([one.queries[0] for one in rewritten], rows)
        assert self.index is not None
        ranks = np.zeros(len(rows), np.int64)
        for number, one in enumerate(rewritten):  # a list as long as the index at a time
            ranks[number] = self.search(name, [one], len(self.index.chunks)).ranks_of(
                _FIRST, rows[number : number + 1]
            )[0]
        return ranks

    def chunks(self, name: str) -> Chunks:
        """What an engine ranks; where a store has an id and no text, the chunk of the index that is called so."""
        if self.index is not None and ":" not in name:
            return self.index.chunks  # without opening the engine
        stored: Chunks | None = getattr(self.get(name), "chunks", None)
        if self.index is None:
            assert stored is not None
            return stored
        known = self.index.chunks
        if stored is None:
            return known
        return Chunks.ordered([known[known.row_of[c.id]] if not c.text and c.id in known.row_of else c for c in stored])

    def rewriters(self, names: tuple[str, ...]) -> list[Rewriter]:
        """The rewriters of these names, opened when they are first asked for."""
        if names not in self._rewriters:
            folder = self.index.folder if self.index is not None else None
            spell = f"spell:{folder / WORDS}" if folder is not None else "spell"
            self._rewriters[names] = [rewriter_named(spell if name == "spell" else name, self._texts) for name in names]
        return self._rewriters[names]

    def _texts(self) -> Iterable[str]:
        if self.index is None:
            raise UsageError("spell corrects by the words of an index. Name one instead of -.")
        return self.index.chunks.texts


def by_question(rewritten: Sequence[Rewritten], ranked: Ranked, depth: int) -> Ranked:
    """What is retrieved for each question, from what each of its phrasings retrieved: those of a question are fused."""
    from karat.core.ranked import Ranked
    from karat.fuse.rrf import fuse_phrasings

    _, owner = queries_with_owner(rewritten)
    sizes = np.array([len(one.queries) for one in rewritten], np.int64)
    several, others = np.flatnonzero(sizes > 1), np.flatnonzero(sizes <= 1)
    alone = ranked.take(np.flatnonzero(sizes[owner] == 1)) if len(several) else ranked
    ends = np.concatenate(([0], np.cumsum(sizes[others])))
    single = Ranked(alone.offsets[ends], alone.rows, alone.scores)
    if not len(several):
        return single
    phrasings = np.flatnonzero(sizes[owner] > 1)
    numbers = np.searchsorted(several, owner[phrasings])
    fused = fuse_phrasings(ranked.take(phrasings), numbers, len(several)).top(depth)
    return Ranked.joined([fused, single]).take(np.argsort(np.concatenate([several, others])))


def on_one_table(retrieved: Mapping[str, tuple[Chunks, Ranked]]) -> tuple[Chunks, dict[str, Ranked]]:
    """The legs over one table of chunks; tables that differ are joined by the ids of what was retrieved."""
    from karat.core.ranked import Ranked

    tables = [chunks for chunks, _ in retrieved.values()]
    if all(table is tables[0] for table in tables):
        return tables[0], {name: ranked for name, (_, ranked) in retrieved.items()}
    by_id: dict[str, Chunk] = {}
    for table, ranked in retrieved.values():
        for row in np.unique(ranked.rows).tolist():
            by_id.setdefault(table[row].id, table[row])
    joined = Chunks.ordered(list(by_id.values()))
    legs = {}
    for name, (table, ranked) in retrieved.items():
        rows = np.array([joined.row_of[table[row].id] for row in ranked.rows.tolist()], np.int64)
        legs[name] = Ranked.ordered(len(ranked), ranked.query, rows, ranked.scores)
    return joined, legs


def unmet_legs(tables: Mapping[str, Chunks], joined: Chunks, legs: Mapping[str, Ranked]) -> Iterator[str]:
    """A sentence for each two legs of different tables that share no hit, though both have some for one question."""
    for (one, first), (other, second) in combinations(legs.items(), 2):
        answered = np.flatnonzero((np.diff(first.offsets) > 0) & (np.diff(second.offsets) > 0))
        if tables[one] is tables[other] or not len(answered) or len(np.intersect1d(first.rows, second.rows)):
            continue
        examples = [joined[int(leg.of(int(answered[0]))[0][0])].id for leg in (first, second)]
        yield (
            f"no hit of {one} has the id of a hit of {other} (such as {examples[0]!r} and {examples[1]!r}): if both "
            "hold the same passages, each stands twice with the score of one leg. Name the column of the store that "
            "holds the ids of the other: #NAME?id=COLUMN."
        )
