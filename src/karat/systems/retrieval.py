"""Retrieval: the one way from questions to hits, for a search, a run and a sweep alike.

Every leg is searched once and kept; systems that fuse the same legs share them, and their candidates.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from karat.core.errors import KaratError, UsageError
from karat.core.models import Models
from karat.core.progress import Progress
from karat.core.ranked import Ranked
from karat.core.text.words import plural
from karat.retrieve import Reranked, rerank
from karat.retrieve.rewrite import Rewritten, rewrite_all
from karat.systems.candidates import Candidates
from karat.systems.chunk_columns import ChunkColumns
from karat.systems.engines import Engines, on_one_table, unmet_legs
from karat.systems.retrieved import Retrieved
from karat.systems.settings import CHAT, SystemSettings, steps_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from karat.core.docs import Chunks
    from karat.core.ranked import Ints
    from karat.match import Exclusions, Pages
    from karat.systems.search_stage import SearchPool

    Seconds = NDArray[np.float64]

TIMED = 100  # questions that are searched one at a time where they are timed: enough for a 95% of their seconds
_ALONE = -1  # the block of questions that are timed alone where they are timed
BATCH = 1000  # questions that are searched together, and journaled when all are: what a run that is stopped does again


class Memory:
    """What a leg returned for some questions, and the seconds of each: here nothing is kept, a journal does.

    Seconds are NaN of what was searched together with others.
    """

    def recall(self, leg: str, questions: Sequence[int]) -> tuple[Ranked, Seconds] | None:
        """What is known from before of exactly these questions."""
        return None

    def earlier(self, leg: str, questions: Sequence[int]) -> tuple[list[int], Ranked]:
        """Those of the questions that an earlier run asked as they are now, and what it found for them."""
        return [], Ranked.empty(0)

    def keep(self, leg: str, questions: Sequence[int], ranked: Ranked, seconds: Seconds) -> None:
        """Remember what was retrieved."""


@dataclass(frozen=True)
class _Leg:
    """What one engine returned for every question, and the seconds each took; `failed` are those a store failed on."""

    chunks: Chunks
    ranked: Ranked
    seconds: Seconds
    failed: Mapping[int, str] = field(default_factory=dict)


class Retrieval:
    """Questions over some engines. A leg is searched once, as deep as any system of the plan needs it.

    With `timed` some questions are searched singly and timed, TIMED of them or all where there are no more; the others
    in batches, by a `pool` where that pays, and a `memory` may know what was found before. A pool that is a cluster
    searches all of them, and nobody tells their seconds. A leg whose top depends on
    how deep it is searched, approximate or rewritten, is searched once for each depth. A model that rewrites is asked
    for all questions at once, before they are searched. What a question excludes is searched past.
    """

    def __init__(
        self,
        engines: Engines,
        questions: Sequence[str],
        models: Models | None = None,
        *,
        progress: Progress = lambda what, done, total: None,
        memory: Memory | None = None,
        timed: bool = False,
        pool: SearchPool | None = None,
        excluded: Exclusions | None = None,
    ) -> None:
        self.engines, self.questions, self._progress, self._excluded = engines, tuple(questions), progress, excluded
        self._models, self._memory, self._timed, self._pool = models or Models(), memory or Memory(), timed, pool
        self._rewritten: dict[tuple[str, ...], dict[int, Rewritten]] = {}
        self._rewriting: dict[tuple[str, ...], Seconds] = {}
        self._depth: dict[tuple[str, tuple[str, ...]], int] = {}
        self._legs: dict[tuple[str, tuple[str, ...], int], _Leg] = {}
        self.pools: dict[tuple[tuple[str, ...], tuple[str, ...], int], Candidates] = {}
        self._columns: dict[Pages, ChunkColumns] = {}
        self._ranks: dict[tuple[str, tuple[str, ...]], dict[tuple[int, bytes], int]] = {}

    def plan(self, systems: Sequence[SystemSettings], k: int) -> None:
        """Say which systems will be asked for, so that each leg is searched deep enough the first time."""
        for settings in systems:
            for name in settings.consulted:
                key = (name, settings.rewrite)
                self._depth[key] = max(self._depth.get(key, 0), settings.depth_for(k))

    def of(self, settings: SystemSettings, k: int) -> Retrieved:
        """What a system retrieves; every list is as deep as its legs are."""
        if settings.needs_chat:
            self._models.chat_for(settings.name)
        depth, names = settings.depth_for(k), settings.consulted
        searched = {name: self._leg(name, settings.rewrite, depth) for name in names}
        rewritten = self._rewritten.get(settings.rewrite, {})
        seconds = {"rewriting": self._rewriting[settings.rewrite]} if settings.rewrite else {}
        seconds |= {name: leg.seconds for name, leg in searched.items()}
        chunks, legs = on_one_table({name: (leg.chunks, leg.ranked.top(depth)) for name, leg in searched.items()})
        notes = remarks_of(rewritten.values(), len(self.questions))
        notes += unmet_legs({name: leg.chunks for name, leg in searched.items()}, chunks, legs)
        candidates, ranked = None, legs[names[0]]
        if len(names) > 1:
            started = perf_counter()
            candidates = self._candidates_of(names, settings.rewrite, depth, legs)
            ranked = candidates.ranked(settings)
            seconds["fusion"] = self._shared(perf_counter() - started)
        failed = {i: reason for leg in searched.values() for i, reason in leg.failed.items()}
        failed |= {i: one.error for i, one in rewritten.items() if one.error is not None}
        if settings.rerank is not None:
            self._progress(f"reranking for {settings.name}", 0, 1)
            reranked = self._reranked(settings, ranked, chunks)
            ranked, failed = reranked.ranked, {**reranked.failed, **failed}
            seconds["reranking"] = reranked.seconds
        return Retrieved(
            settings=settings, chunks=chunks, ranked=ranked, legs=legs, candidates=candidates,
            rewritten=tuple(rewritten.values()), seconds=seconds, failed=failed,
            notes=tuple(notes),
            columns=self._columns if self.engines.index is not None and chunks is self.engines.index.chunks else {},
        )  # fmt: skip

    def candidates(self, settings: SystemSettings, length: int) -> Candidates:
        """The candidates that a system ranks: systems that consult the same legs as deep share them.

        One engine alone ranks the first `length` hits; legs that are fused are as deep as the settings say.
        """
        names, deepest = settings.consulted, settings.depth_for(length)
        depth = length if len(names) == 1 else deepest
        if (names, settings.rewrite, depth) in self.pools:
            return self.pools[names, settings.rewrite, depth]
        searched = {name: self._leg(name, settings.rewrite, deepest) for name in names}
        for leg in searched.values():
            if leg.failed:
                raise KaratError(f"{plural(len(leg.failed), 'question')} failed: {next(iter(leg.failed.values()))}")
        legs = {name: leg.ranked.top(depth) for name, leg in searched.items()}
        return self._candidates_of(names, settings.rewrite, depth, legs)

    def ranks_of(self, settings: SystemSettings) -> Callable[[str, Sequence[int], Sequence[Ints]], Ints]:
        """Finds the ranks of rows by a leg of a system for questions, however deep; systems share what they are."""

        def of(leg: str, questions: Sequence[int], rows: Sequence[Ints]) -> Ints:
            ranks = self._ranks.setdefault((leg, settings.rewrite), {})
            keys = [(question, some.tobytes()) for question, some in zip(questions, rows, strict=True)]
            new = {key: number for number, key in enumerate(keys) if key not in ranks}
            known = self._rewritten.get(settings.rewrite, {})
            asked = sorted({question for question, _ in new if question not in known})
            known = {**known, **dict(zip(asked, self._ask(settings.rewrite, asked), strict=True))}
            found = self._ranks_of(leg, [known[question] for question, _ in new], [rows[i] for i in new.values()])
            ranks |= zip(new, found.tolist(), strict=True)
            return np.array([ranks[key] for key in keys], np.int64)

        return of

    def _ranks_of(self, leg: str, asked: Sequence[Rewritten], rows: Sequence[Ints]) -> Ints:
        """The rank of the best of some rows for each question, by the pool where it can."""
        index, pool, ranks = self.engines.index, self._pool, np.zeros(len(asked), np.int64)
        here = np.arange(len(asked))
        if (
            index is not None
            and pool is not None
            and pool.can_rank(index, leg)
            and not self.engines.is_approximate(leg)
        ):
            is_plain = np.array([len(one.queries) == 1 for one in asked], bool)
            there, here = np.flatnonzero(is_plain), np.flatnonzero(~is_plain)
            if len(there):
                queries = [asked[i].queries[0] for i in there.tolist()]
                ranks[there] = pool.ranks_of(index, leg, queries, [rows[i] for i in there.tolist()], self._progress)
        for begin in range(0, len(here), BATCH):
            part = here[begin : begin + BATCH]
            some = part.tolist()
            ranks[part] = self.engines.ranks_of(leg, [asked[i] for i in some], [rows[i] for i in some])
        return ranks

    def _leg(self, name: str, rewrite: tuple[str, ...], depth: int) -> _Leg:
        if not rewrite and not self.engines.is_approximate(name):
            depth = max(depth, self._depth.get((name, rewrite), 0))
        key = (name, rewrite, depth)
        if key not in self._legs:
            search = self._in_batches if self._timed else self._together
            self._legs[key] = self._without_excluded(name, depth, lambda deep: search(name, rewrite, deep))
        return self._legs[key]

    def _without_excluded(self, name: str, depth: int, search: Callable[[int], _Leg]) -> _Leg:
        """A leg of so many hits that no question excludes, where there are so many."""
        if not self._excluded:
            return search(depth)
        leg = search(depth + self._excluded.most(self.engines.chunks(name)))
        return replace(leg, ranked=self._excluded.without_rows(leg.ranked, leg.chunks).top(depth))

    def _together(self, name: str, rewrite: tuple[str, ...], depth: int) -> _Leg:
        known = self._rewrite(rewrite, range(len(self.questions)))
        rewritten, index, pool = [known[i] for i in range(len(self.questions))], self.engines.index, self._pool
        self._progress(f"searching by {'+'.join((name, *steps_of(rewrite, None)))}", 0, 1)
        parts, rest, seconds, failed = list[Ranked](), rewritten, np.full(len(rewritten), np.nan), dict[int, str]()
        if index is None or pool is None or not pool.takes_all(index, name):
            self.engines.get(name)  # what loading it takes is no question's time
            first = BATCH if pool is not None and pool.reaches(index, name) else len(rewritten)
            started = perf_counter()
            parts.append(self.engines.search(name, rewritten[:first], depth))
            spent, rest, failed = perf_counter() - started, rewritten[first:], self.engines.failed
            if rest and pool is not None and not pool.pays(index, name, spent / first * len(rest)):
                parts.append(self.engines.search(name, rest, depth))
                spent, rest = perf_counter() - started, []
            if ":" in name:
                seconds[list(self.engines.seconds)] = list(self.engines.seconds.values())
            elif not rest:
                seconds = self._shared(spent)
        if rest:
            assert index is not None
            assert pool is not None
            blocks = {begin: rest[begin : begin + BATCH] for begin in range(0, len(rest), BATCH)}
            searched = dict(pool.search(index, name, depth, blocks, self._progress))
            parts += [searched[begin] for begin in blocks]
        return _Leg(self.engines.chunks(name), Ranked.joined(parts), seconds, failed)

    def _in_batches(self, name: str, rewrite: tuple[str, ...], depth: int) -> _Leg:
        key = f"{'+'.join((name, *rewrite))} to {depth}{self._by(rewrite)}"
        batches = batches_of(len(self.questions))
        known = {
            i: before for i, batch in enumerate(batches) if (before := self._memory.recall(key, batch)) is not None
        }
        several = [i for i, batch in enumerate(batches) if i not in known and len(batch) > 1]  # the others are timed
        earlier = {i: self._memory.earlier(key, batches[i]) for i in several}
        found = {number for numbers, _ in earlier.values() for number in numbers}
        todo = {
            i: [number for number in batch if number not in found] for i, batch in enumerate(batches) if i not in known
        }
        missing = [number for batch in todo.values() for number in batch]
        rewritten = self._rewrite(rewrite, missing)
        index = self.engines.index
        elsewhere = self._pool is not None and self._pool.takes_all(index, name)
        if missing and not elsewhere:
            self.engines.search(name, rewrite_all([], [""]), 1)  # loads what is no question's time
        searching = f"searching by {'+'.join((name, *steps_of(rewrite, None)))}"
        done = len(self.questions) - len(missing)
        timed = [float(spent[0]) for _, spent in known.values() if len(spent) == 1 and not np.isnan(spent[0])]
        asked = {i: [rewritten[number] for number in batch] for i, batch in todo.items()}
        search = self._elsewhere if elsewhere else self._searched
        for i, ranked, spent in search(name, depth, asked, several, timed):
            if i in earlier:
                numbers, ranked = [*earlier[i][0], *todo[i]], Ranked.joined([earlier[i][1], ranked])
                ranked = ranked.take(np.argsort(np.array(numbers, np.int64)))
            known[i] = ranked, np.full(len(batches[i]), spent)
            if all(map(_is_settled, asked[i])):
                self._memory.keep(key, batches[i], *known[i])
            done += len(todo[i])
            if not elsewhere:  # a cluster says it itself
                self._progress(searching, done, len(self.questions))
        back = np.argsort(np.array([number for batch in batches for number in batch], np.int64))
        every = [known[i] for i in range(len(batches))]
        seconds = np.concatenate([spent for _, spent in every] or [np.zeros(0)])[back]
        return _Leg(self.engines.chunks(name), Ranked.joined([ranked for ranked, _ in every]).take(back), seconds)

    def _searched(
        self, name: str, depth: int, todo: Mapping[int, Sequence[Rewritten]], several: Sequence[int], timed: list[float]
    ) -> Iterator[tuple[int, Ranked, float]]:
        """What an engine finds for batches by their numbers, in any order, and the seconds of one that is a question.

        Those come first: with what was `timed` before they tell whether processes pay for `several` together.
        """
        blocks = {i: todo[i] for i in several}
        for i in [i for i in todo if i not in blocks]:
            started = perf_counter()
            ranked = self.engines.search(name, todo[i], depth)
            timed.append(perf_counter() - started)
            yield i, ranked, timed[-1]
        expected = float(np.median(timed or [0.0])) * sum(map(len, blocks.values()))
        index = self.engines.index
        if self._pool is not None and index is not None and self._pool.pays(index, name, expected):
            yield from ((i, ranked, np.nan) for i, ranked in self._pool.search(index, name, depth, blocks))
        else:
            yield from ((i, self.engines.search(name, block, depth), np.nan) for i, block in blocks.items())

    def _elsewhere(
        self, name: str, depth: int, todo: Mapping[int, Sequence[Rewritten]], several: Sequence[int], _: list[float]
    ) -> Iterator[tuple[int, Ranked, float]]:
        """The same by a cluster, which is asked for all: those that are timed here are one block there, and untimed."""
        assert self._pool is not None
        assert self.engines.index is not None
        alone = [i for i in todo if i not in several]
        yield from ((i, Ranked.empty(0), np.nan) for i in several if not todo[i])
        blocks = {i: todo[i] for i in several if todo[i]} | ({_ALONE: [todo[i][0] for i in alone]} if alone else {})
        for i, ranked in self._pool.search(self.engines.index, name, depth, blocks, self._progress):
            if i == _ALONE:
                yield from ((one, ranked.take(np.array([place])), np.nan) for place, one in enumerate(alone))
            else:
                yield i, ranked, np.nan

    def _by(self, rewrite: tuple[str, ...]) -> str:
        """The chat model that rewrites, as keys of a memory have it."""
        settings = SystemSettings(rewrite=rewrite)
        return f" by {self._models.chat_for(settings.name).label}" if settings.needs_chat else ""

    def _rewrite(self, rewrite: tuple[str, ...], numbers: Iterable[int]) -> Mapping[int, Rewritten]:
        """The questions of these numbers as they are searched, each rewritten once for all legs."""
        known = self._rewritten.setdefault(rewrite, {})
        new = [i for i in numbers if i not in known]
        key = "+".join(rewrite) + self._by(rewrite)
        if rewrite not in self._rewriting:
            recalled = (self._memory.recall(key, [i]) if rewrite else None for i in range(len(self.questions)))
            self._rewriting[rewrite] = np.array([before[1][0] if before is not None else 0.0 for before in recalled])
        if new and rewrite:
            self._progress(f"rewriting by {'+'.join(rewrite)}", 0, len(new))
        started = perf_counter()
        done = self._ask(rewrite, new)
        each = (perf_counter() - started) / max(1, len(new))
        for i, one in zip(new, done, strict=True):
            known[i], self._rewriting[rewrite][i] = one, one.seconds or each
            if rewrite and _is_settled(one):
                self._memory.keep(key, [i], Ranked.empty(1), self._rewriting[rewrite][i : i + 1])
        return known

    def _ask(self, rewrite: tuple[str, ...], numbers: Sequence[int]) -> list[Rewritten]:
        return rewrite_all(self.engines.rewriters(rewrite), [self.questions[i] for i in numbers], self._models)

    def _candidates_of(
        self, names: tuple[str, ...], rewrite: tuple[str, ...], depth: int, legs: Mapping[str, Ranked]
    ) -> Candidates:
        from karat.fuse import Legs

        key = (names, rewrite, depth)
        if key not in self.pools:
            self.pools[key] = Candidates(Legs([legs[name] for name in names]))
        return self.pools[key]

    def _reranked(self, settings: SystemSettings, ranked: Ranked, chunks: Chunks) -> Reranked:
        """The first hits ordered anew by a cross-encoder in a folder, or by a chat model; it may fail on a list."""
        depth = settings.rerank_depth
        first = (ranked.of(i)[0][:depth].tolist() for i in range(len(ranked)))
        for row in dict.fromkeys(row for rows in first for row in rows):
            if not chunks[row].text.strip():
                raise UsageError(
                    f"reranking reads texts, and the hit {chunks[row].id!r} has none. Put a .jsonl file with ids and "
                    "texts beside the store, or name the index that holds its chunks."
                )
        if settings.rerank == CHAT:
            from karat.models.chat_reranker import ChatReranker

            scorer = ChatReranker(self._models.chat_for("reranking by chat"))
            return rerank(ranked, lambda row: chunks[row].text, self.questions, scorer, depth)
        from karat.models.cross_encoder import CrossEncoder

        assert settings.rerank is not None
        started = perf_counter()
        done = rerank(ranked, lambda row: chunks[row].text, self.questions, CrossEncoder(settings.rerank), depth)
        return replace(done, seconds=self._shared(perf_counter() - started))

    def _shared(self, seconds: float) -> Seconds:
        """Seconds that all questions took together, a share for each."""
        return np.full(len(self.questions), seconds / max(1, len(self.questions)))


def _is_settled(rewritten: Rewritten) -> bool:
    """Whether asking again would change nothing."""
    return not (rewritten.error or rewritten.remarks)


def remarks_of(rewritten: Iterable[Rewritten], questions: int) -> list[str]:
    """What should be known of how questions were rewritten, each thing once, with how many it was true of."""
    counts = Counter(remark for one in rewritten for remark in one.remarks)
    return [f"{remark} ({n:,} of {questions:,} questions)" for remark, n in counts.items()]


def batches_of(questions: int) -> list[list[int]]:
    """Numbers of questions that are searched together: those that are timed alone, in even steps, then the others.

    They depend on how many questions there are and on nothing else, so that a run that was stopped makes the same.
    """
    timed = np.unique(np.linspace(0, questions - 1, min(TIMED, questions)).round().astype(np.int64))
    others = np.setdiff1d(np.arange(questions), timed).tolist()
    return [*([number] for number in timed.tolist()), *(others[i : i + BATCH] for i in range(0, len(others), BATCH))]
