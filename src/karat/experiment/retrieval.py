"""Retrieval: many systems over one index, every engine asked once for each question."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from karat.core.means import Means
from karat.core.ranked import Ranked
from karat.experiment.system import System, SystemSettings, remarks_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from karat.experiment.index import Index
    from karat.fuse import FusedParts, Legs
    from karat.retrieve.rewrite import Rewriter, Rewritten

    Seconds = NDArray[np.float64]

Say = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Retrieved:
    """What a system found for every question: the whole pool, best first, its legs, and the seconds each took.

    `failed` are questions without a result, by number, with the reason. `notes` are what should be known of the rest.
    """

    settings: SystemSettings
    ranked: Ranked
    legs: Mapping[str, Ranked]
    seconds: Seconds
    parts: FusedParts | None = None
    failed: Mapping[int, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


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
    depends on how deep it is searched, approximate or rewritten, is searched once for each depth. A model that
    rewrites is asked for all questions at once, before they are searched; its seconds count for each question.
    """

    def __init__(
        self,
        index: Index,
        questions: Sequence[str],
        say: Say = lambda what, done, total: None,
        memory: Memory | None = None,
        means: Means | None = None,
    ) -> None:
        self.index, self.questions, self._say = index, tuple(questions), say
        self._means = means or Means()
        self._rewriters: dict[tuple[str, ...], list[Rewriter]] = {}
        self._rewritten: dict[tuple[str, ...], dict[int, Rewritten]] = {}
        self._asking: dict[tuple[str, ...], Seconds] = {}  # what the model took that rewrites
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

        if settings.needs_chat:
            self._means.chat_for(settings.name)
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
        system = self._system(settings)

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
        parts: FusedParts | None,
    ) -> Retrieved:
        rewritten = self._rewritten.get(settings.rewrite, {})
        failed = {i: one.error for i, one in rewritten.items() if one.error is not None}
        notes = tuple(remarks_of(rewritten.values(), len(self.questions)))
        seconds = seconds + self._asking.get(settings.rewrite, 0.0)
        found = Retrieved(settings, ranked, legs, seconds, parts, failed, notes)
        if settings.rerank is None:
            return found
        self._say(f"reranking for {settings.name}", 0, 1)
        reranked = self._system(settings).reranked(ranked, self.index.chunks, self.questions)
        return replace(
            found, ranked=reranked.ranked, seconds=seconds + reranked.seconds, failed={**reranked.failed, **failed}
        )

    def _system(self, settings: SystemSettings) -> System:
        """A system over the index; those that rewrite alike share what models said."""
        system = System(settings, self.index, self._means, self._rewriters.get(settings.rewrite))
        if settings.rewrite:
            self._rewriters[settings.rewrite] = system.rewriting()
        return system

    def _leg(self, name: str, settings: SystemSettings, depth: int) -> tuple[Ranked, Seconds]:
        if not settings.rewrite and not is_approximate(self.index, name):
            depth = max(depth, self._depth.get((name, settings.rewrite), 0))
        key = (name, settings.rewrite, depth)
        if key not in self._found:
            alone = SystemSettings(name, depth=depth, rewrite=settings.rewrite)
            self._found[key] = self._searched(self._system(alone), depth)
        return self._found[key]

    def _searched(self, system: System, depth: int) -> tuple[Ranked, Seconds]:
        settings = system.settings
        by = f" by {self._means.chat_for(settings.name).label}" if settings.needs_chat else ""
        leg = f"{'+'.join((settings.engine, *settings.rewrite))} to {depth}{by}"
        known = {i: found for i in range(len(self.questions)) if (found := self._memory.recall(leg, i)) is not None}
        missing = [i for i in range(len(self.questions)) if i not in known]
        rewritten = self._asked_beforehand(system, missing, by) if settings.needs_chat else {}
        if missing:
            system.search([""], 1)  # what is loaded at the first search is no question's time
        for number, text in enumerate(self.questions):
            if number not in known:
                given = [rewritten[number]] if number in rewritten else None
                started = perf_counter()
                ranked = system.search([text], depth, whole=True, rewritten=given).ranked
                known[number] = ranked, perf_counter() - started
                if given is None or not (given[0].error or given[0].remarks):
                    self._memory.keep(leg, number, *known[number])
            self._say(f"searching by {settings.name}", number + 1, len(self.questions))
        every = [known[number] for number in range(len(self.questions))]
        return joined([found for found, _ in every]), np.array([spent for _, spent in every], np.float64)

    def _asked_beforehand(self, system: System, missing: Sequence[int], by: str) -> Mapping[int, Rewritten]:
        """What a model made of the questions that are still to be searched; it is asked once for all legs."""
        names = system.settings.rewrite
        step, nothing = f"{'+'.join(names)}{by}", Ranked.empty(1)
        known = self._rewritten.setdefault(names, {})
        if names not in self._asking:
            recalled = (self._memory.recall(step, i) for i in range(len(self.questions)))
            self._asking[names] = np.array([found[1] if found is not None else 0.0 for found in recalled])
        new = [i for i in missing if i not in known]
        if new:
            self._say(f"rewriting for {system.settings.name}", 0, len(new))
            for i, done in zip(new, system.rewritten([self.questions[i] for i in new]), strict=True):
                known[i], self._asking[names][i] = done, done.seconds
                if not (done.error or done.remarks):
                    self._memory.keep(step, i, nothing, done.seconds)
        return known

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
