"""Failure attribution: at which step each missed gold unit was lost, one label a question.

`karat.diagnose.answers` goes on from here with what answers made of the gold that was found.

| label                | the unit                                                                        |
|----------------------|---------------------------------------------------------------------------------|
| `gold_not_in_corpus` | is in a document, at an address or under an id that the corpus does not have      |
| `gold_not_indexed`   | is of a document that was not read, or that is there while no chunk holds the unit |
| `not_in_pool`        | is in a chunk that no engine found within its depth                               |
| `lost_in_fusion`     | was among the first k of an engine, and below k after fusing or reranking           |
| `below_k`            | was found, and stands below k in every engine too                                 |

A question fails when a relevant unit is missing from its first k hits; its label is that of the unit lost earliest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Literal

import numpy as np

from karat.results.study import Failure, FailureCount, FailureLabel

if TYPE_CHECKING:
    from karat.core.docs import Problem
    from karat.core.judged import Ints
    from karat.core.ranked import Ranked
    from karat.match import Resolution, Unresolved

Deep = Callable[[str, Sequence[int], Sequence["Ints"]], "Ints"]
"""The rank by an engine of the best of some chunks, however deep, or 0: (leg, question numbers, rows) -> ranks."""

ErrorClass = Literal["retrieval_failure", "generation_failure", "mixed_failure", "partial_success", "success"]
ORDER: tuple[FailureLabel, ...] = (
    "gold_not_in_corpus", "gold_not_indexed", "not_in_pool", "lost_in_fusion", "below_k",
    "cut_by_budget", "refused", "unsupported", "wrong_answer",
)  # fmt: skip
GOOD_ANSWER = 0.5
_UNKNOWN = ("unknown file", "unknown address", "unknown id")


@dataclass(frozen=True)
class Attribution:
    """Why questions of one system fail, and how often each way."""

    failures: tuple[Failure, ...]
    counts: tuple[FailureCount, ...]


def attribute(
    system: str,
    resolution: Resolution,
    ranked: Ranked,
    k: int,
    *,
    legs: Mapping[str, Ranked] | None = None,
    problems: Sequence[Problem] = (),
    deep: Deep | None = None,
    skipped: Sequence[int] = (),
) -> Attribution:
    """Why questions fail. `ranked` and `legs` rank chunks of the resolution, a list for each question of its test set.

    `deep` tells at which rank an engine has it, however deep; `skipped` are questions without a result of their own.
    """
    wanted = np.flatnonzero(resolution.relevant & ~np.isin(resolution.units.question, skipped))
    ranks = unit_ranks(resolution, wanted, ranked)
    missing = (ranks == 0) | (ranks > k)
    losses = _Losses(
        system=system, resolution=resolution, k=k, problems=[p for p in problems if p.fatal],
        units=wanted[missing], ranks=ranks[missing], lists=ranked, legs=legs or {}, deep=deep,
    )  # fmt: skip
    lost = list(zip(resolution.units.question[losses.units].tolist(), losses.traced(), strict=True))
    worst: dict[int, Failure] = {}
    for question, failure in sorted(lost, key=lambda pair: (pair[0], ORDER.index(pair[1].label))):
        worst.setdefault(question, failure)
    failures = tuple(worst.values())
    return Attribution(failures, _counted(failures, system, resolution, lost, skipped))


def unit_ranks(resolution: Resolution, units: Ints, ranked: Ranked) -> Ints:
    """The rank of the first hit of its question that holds each unit; 0 where none does."""
    return ranked.ranks_of(resolution.units.question[units], [resolution.holders[unit] for unit in units.tolist()])


@dataclass(frozen=True, kw_only=True)
class _Losses:
    """All that tells how units were lost: their ranks in the result, what each engine found, and how deep it could."""

    system: str
    resolution: Resolution
    k: int
    problems: Sequence[Problem]
    units: Ints
    ranks: Ints
    lists: Ranked
    legs: Mapping[str, Ranked]
    deep: Deep | None

    def traced(self) -> list[Failure]:
        """For each unit the failure of its question that it is to blame for."""
        questions = self.resolution.units.question[self.units].tolist()
        by_leg = {name: unit_ranks(self.resolution, self.units, leg) for name, leg in self.legs.items()}
        held = np.array([len(self.resolution.holders[unit]) > 0 for unit in self.units.tolist()], bool)
        seen = np.any([self.ranks > 0, *(ranks > 0 for ranks in by_leg.values())], axis=0)
        depths = self._depths(np.flatnonzero(held & ~seen))
        failures = []
        for number, (unit, question) in enumerate(zip(self.units.tolist(), questions, strict=True)):
            failure = partial(Failure, self.system, self.resolution.testset.ids[question])
            if not held[number]:
                failures.append(self._not_held(failure, unit, question))
            elif not seen[number]:
                failures.append(self._not_found(failure, question, depths.get(number)))
            else:
                ranks = {name: int(ranks[number]) for name, ranks in by_leg.items() if ranks[number]}
                failures.append(self._below(failure, int(self.ranks[number]) or None, ranks))
        return failures

    def _depths(self, numbers: Ints) -> dict[int, dict[str, int]]:
        """The ranks of some units in the engines, however deep; nothing where no engine can be asked."""
        if self.deep is None or not self.legs:
            return {}
        units = self.units[numbers]
        questions = self.resolution.units.question[units].tolist()
        rows = [self.resolution.holders[unit] for unit in units.tolist()]
        depths: dict[int, dict[str, int]] = {number: {} for number in numbers.tolist()}
        for name in self.legs:
            for number, rank in zip(numbers.tolist(), self.deep(name, questions, rows).tolist(), strict=True):
                depths[number] |= {name: rank} if rank else {}
        return depths

    def _below(self, failure: Callable[..., Failure], rank: int | None, ranks: Mapping[str, int]) -> Failure:
        near = {name: place for name, place in ranks.items() if place <= self.k}
        if near:
            leg = min(near, key=lambda name: (near[name], name))
            where = f"rank {rank}" if rank is not None else "no place"
            detail = f"{leg} has it at rank {near[leg]}, the result at {where}."
            return failure("lost_in_fusion", detail=detail, leg=leg, rank=rank)
        place = rank if rank is not None else min(ranks.values())
        return failure("below_k", detail=f"it stands at rank {place}, below {self.k}.", rank=rank)

    def _not_held(self, failure: Callable[..., Failure], unit: int, question: int) -> Failure:
        gold, qid = self.resolution.units.gold[unit], self.resolution.testset.ids[question]
        known = next((u for u in self._unresolved.get(qid, ()) if u.gold == gold), None)
        named = {name for name in (gold.doc, gold.url, gold.id) if name}
        unread = next((p for p in self.problems if any(p.place.endswith(name) for name in named)), None)
        if unread is not None:
            return failure("gold_not_indexed", detail=f"{unread.place} was not read: {unread.reason}")
        why = known.why if known is not None else "no chunk holds it."
        missing = known is not None and known.reason in _UNKNOWN
        return failure("gold_not_in_corpus" if missing else "gold_not_indexed", detail=why)

    @cached_property
    def _unresolved(self) -> dict[str, list[Unresolved]]:
        """Gold that no chunk holds, by question."""
        unresolved: dict[str, list[Unresolved]] = {}
        for one in self.resolution.unresolved:
            unresolved.setdefault(one.question, []).append(one)
        return unresolved

    def _not_found(self, failure: Callable[..., Failure], question: int, depths: Mapping[str, int] | None) -> Failure:
        """`depths` are the ranks that engines have it at; None where they could not be asked."""
        lists = list(self.legs.values()) or [self.lists]
        missing = f"it is not among the {max(len(ranked.of(question)[0]) for ranked in lists):,} hits"
        if depths is None:
            return failure("not_in_pool", detail=f"{missing}.")
        if not depths:
            return failure("not_in_pool", detail=f"{missing}, at no depth.")
        leg = min(depths, key=lambda name: (depths[name], name))
        detail = f"{missing}; {leg} has it at rank {depths[leg]:,}."
        return failure("not_in_pool", detail=detail, leg=leg, depth=depths[leg])


def _counted(
    failures: Sequence[Failure],
    system: str,
    resolution: Resolution,
    lost: Sequence[tuple[int, Failure]],
    skipped: Sequence[int],
) -> tuple[FailureCount, ...]:
    """Questions by label, and the recall that the units lost in each way stand for."""
    of = resolution.units.question[resolution.relevant]
    wanted = np.bincount(of, minlength=len(resolution.testset))
    wanted[list(skipped)] = 0
    scored = int((wanted > 0).sum())
    counts = []
    for label in ORDER:
        gain = sum(1 / wanted[question] for question, failure in lost if failure.label == label) / max(scored, 1)
        questions = tuple(failure.question for failure in failures if failure.label == label)
        if questions or gain:
            counts.append(FailureCount(system, label, questions=questions, gain=float(gain)))
    return tuple(counts)


def error_class(recall: float | None, answer: float | None = None) -> ErrorClass | None:
    """What the hybrid-rag document calls the outcome of a question, by its recall and, if it has one, its answer F1.

    There a question with some gold and a bad answer could reach no class but those before it; here `mixed_failure` is
    that one: part of the gold and a bad answer. None where recall is undefined.
    """
    if recall is None:
        return None
    if answer is None:
        return "success" if recall >= 1 else "partial_success" if recall > 0 else "retrieval_failure"
    if answer >= GOOD_ANSWER:
        return "success" if recall >= 1 else "partial_success"
    return "generation_failure" if recall >= 1 else "mixed_failure" if recall > 0 else "retrieval_failure"
