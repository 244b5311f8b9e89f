"""Retrieval: many systems over one index, every engine asked once for each question."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from karat.core.ranked import Ranked
from karat.experiment.system import System, SystemSettings

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from karat.experiment.index import Index
    from karat.fuse import Legs, Parts

    Seconds = NDArray[np.float64]

Say = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Retrieved:
    """What a system found for every question: the whole pool, best first, its legs, and the seconds each took."""

    settings: SystemSettings
    ranked: Ranked
    legs: Mapping[str, Ranked]
    seconds: Seconds
    parts: Parts | None = None


class Memory:
    """What a leg found for a question, and the seconds it took: here nothing is kept, a journal does."""

    def recall(self, leg: str, question: int) -> tuple[Ranked, float] | None:
        """What is known from before."""
        return None

    def keep(self, leg: str, question: int, found: Ranked, seconds: float) -> None:
        """Remember what was found."""


class Retrieval:
    """Questions over one index. A leg is searched once, as deep as any system needs it, one question at a time.

    So seconds are those of single questions, and a result does not depend on which others are asked. A leg whose top
    depends on how deep it is searched, approximate or rewritten, is searched once for each depth.
    """

    def __init__(
        self,
        index: Index,
        questions: Sequence[str],
        say: Say = lambda what, done, total: None,
        memory: Memory | None = None,
    ) -> None:
        self.index, self.questions, self._say = index, tuple(questions), say
        self._memory = memory or Memory()
        self._found: dict[tuple[str, tuple[str, ...], int], tuple[Ranked, Seconds]] = {}
        self._depth: dict[tuple[str, tuple[str, ...]], int] = {}
        self._laid: dict[tuple[tuple[str, ...], tuple[str, ...], int], tuple[Legs, float]] = {}

    def plan(self, systems: Sequence[SystemSettings], k: int) -> None:
        """Say which systems will be asked for, so that each leg is searched deep enough the first time."""
        for settings in systems:
            for leg in settings.consulted:
                key = (leg, settings.rewrite)
                self._depth[key] = max(self._depth.get(key, 0), settings.depth_for(k))

    def of(self, settings: SystemSettings, k: int) -> Retrieved:
        """What a system finds; every list is as deep as its legs are."""
        from karat.fuse import FUSIONS

        depth = settings.depth_for(k)
        names = settings.consulted
        found = {name: self._leg(name, settings, depth) for name in names}
        legs = {name: ranked.top(depth) for name, (ranked, _) in found.items()}
        seconds = np.sum([spent for _, spent in found.values()], axis=0)
        if len(legs) == 1:
            return self._finished(settings, legs[names[0]], legs, seconds, None)
        laid, spent = self._laid_over(names, settings.rewrite, depth, legs)
        started = perf_counter()
        parts = FUSIONS.get(settings.fusion).parts(laid, **settings.fusion_settings)
        seconds = seconds + (spent + perf_counter() - started) / max(1, len(self.questions))
        return self._finished(settings, parts.ranked, legs, seconds, parts)

    def deep(self, settings: SystemSettings) -> Callable[[str, int], Ranked]:
        """Searches a leg of a system for one question as deep as the index goes."""
        system = System(settings, self.index)

        def search(leg: str, question: int) -> Ranked:
            alone = SystemSettings(leg, depth=len(self.index.chunks), rewrite=settings.rewrite)
            system.settings = alone
            return system.search([self.questions[question]], len(self.index.chunks), whole=True).ranked

        return search

    def _finished(
        self,
        settings: SystemSettings,
        ranked: Ranked,
        legs: Mapping[str, Ranked],
        seconds: Seconds,
        parts: Parts | None,
    ) -> Retrieved:
        if settings.rerank is None:
            return Retrieved(settings, ranked, legs, seconds, parts)
        started = perf_counter()
        reranked = System(settings, self.index).reranked(ranked, self.index.chunks, self.questions)
        spent = (perf_counter() - started) / max(1, len(self.questions))
        return Retrieved(settings, reranked, legs, seconds + spent, parts)

    def _leg(self, name: str, settings: SystemSettings, depth: int) -> tuple[Ranked, Seconds]:
        if not settings.rewrite and not is_approximate(self.index, name):
            depth = max(depth, self._depth.get((name, settings.rewrite), 0))
        key = (name, settings.rewrite, depth)
        if key not in self._found:
            alone = SystemSettings(name, depth=depth, rewrite=settings.rewrite)
            self._found[key] = self._searched(System(alone, self.index), depth)
        return self._found[key]

    def _searched(self, system: System, depth: int) -> tuple[Ranked, Seconds]:
        seconds = np.zeros(len(self.questions))
        lists: list[Ranked] = []
        leg, warm = f"{'+'.join((system.settings.engine, *system.settings.rewrite))} to {depth}", False
        for number, text in enumerate(self.questions):
            known = self._memory.recall(leg, number)
            if known is None:
                if not warm:
                    system.search([""], 1)  # what is loaded at the first search is no question's time
                    warm = True
                started = perf_counter()
                found = system.search([text], depth, whole=True).ranked
                known = found, perf_counter() - started
                self._memory.keep(leg, number, *known)
            lists.append(known[0])
            seconds[number] = known[1]
            self._say(f"searching by {system.settings.name}", number + 1, len(self.questions))
        return joined(lists), seconds

    def _laid_over(
        self, names: tuple[str, ...], rewrite: tuple[str, ...], depth: int, legs: Mapping[str, Ranked]
    ) -> tuple[Legs, float]:
        from karat.fuse import Legs

        key = (names, rewrite, depth)
        if key not in self._laid:
            started = perf_counter()
            self._laid[key] = Legs([legs[name] for name in names]), perf_counter() - started
        return self._laid[key]


def is_approximate(index: Index, name: str) -> bool:
    """Whether a search of an engine less deep may find something else than the top of a deeper one."""
    settings: Mapping[str, Any] = getattr(index.engine(name), "settings", {})
    return bool(settings.get("ann", "exact") != "exact")


def joined(lists: Sequence[Ranked]) -> Ranked:
    """Rankings of one query each as one of all of them."""
    if not lists:
        return Ranked.empty(0)
    sizes = [len(ranked.rows) for ranked in lists]
    offsets = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
    return Ranked(offsets, np.concatenate([r.rows for r in lists]), np.concatenate([r.scores for r in lists]))
