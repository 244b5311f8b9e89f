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
from functools import partial
from typing import TYPE_CHECKING, Literal

import numpy as np

from karat.results.study import Failure, FailureCount, FailureLabel

if TYPE_CHECKING:
    from karat.core.docs import Problem
    from karat.core.judged import Ints
    from karat.core.ranked import Ranked
    from karat.match import Resolution

Deep = Callable[[str, int, "Ints"], int | None]
"""The rank of the best of some chunks by an engine, however deep: (leg, question number, rows) -> rank."""

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
    losses = _Losses(
        system=system, resolution=resolution, ranked=ranked, k=k, legs=legs or {}, problems=problems, deep=deep
    )
    lost = [
        (int(resolution.units.question[unit]), losses.of(unit))
        for unit in np.flatnonzero(resolution.relevant).tolist()
        if int(resolution.units.question[unit]) not in skipped and not within(resolution, unit, ranked, k)
    ]
    worst: dict[int, Failure] = {}
    for question, failure in sorted(lost, key=lambda pair: (pair[0], ORDER.index(pair[1].label))):
        worst.setdefault(question, failure)
    failures = tuple(worst.values())
    return Attribution(failures, _counted(failures, system, resolution, lost, skipped))


def within(resolution: Resolution, unit: int, ranked: Ranked, k: int) -> bool:
    """Whether a chunk that holds the unit is among the first k hits of its question."""
    rank = ranked.rank_of(int(resolution.units.question[unit]), resolution.holders[unit])
    return rank is not None and rank <= k


@dataclass(frozen=True, kw_only=True)
class _Losses:
    """All that tells how a unit was lost: what holds it, what was found of that and by which engine."""

    system: str
    resolution: Resolution
    ranked: Ranked
    k: int
    legs: Mapping[str, Ranked]
    problems: Sequence[Problem]
    deep: Deep | None

    def of(self, unit: int) -> Failure:
        """The failure of a unit's question that this unit is to blame for."""
        question, holders = int(self.resolution.units.question[unit]), self.resolution.holders[unit]
        failure = partial(Failure, self.system, self.resolution.testset.ids[question])
        if not len(holders):
            return self._not_held(failure, unit, question)
        rank = self.ranked.rank_of(question, holders)
        ranks = {
            name: place for name, leg in self.legs.items() if (place := leg.rank_of(question, holders)) is not None
        }
        if rank is None and not ranks:
            return self._not_found(failure, question, holders)
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
        known = next((u for u in self.resolution.unresolved if u.question == qid and u.gold == gold), None)
        named = {name for name in (gold.doc, gold.url, gold.id) if name}
        unread = next((p for p in self.problems if p.fatal and any(p.place.endswith(name) for name in named)), None)
        if unread is not None:
            return failure("gold_not_indexed", detail=f"{unread.place} was not read: {unread.reason}")
        why = known.why if known is not None else "no chunk holds it."
        missing = known is not None and known.reason in _UNKNOWN
        return failure("gold_not_in_corpus" if missing else "gold_not_indexed", detail=why)

    def _not_found(self, failure: Callable[..., Failure], question: int, holders: Ints) -> Failure:
        lists = list(self.legs.values()) or [self.ranked]
        missing = f"it is not among the {max(len(ranked.of(question)[0]) for ranked in lists):,} hits"
        if self.deep is None or not self.legs:
            return failure("not_in_pool", detail=f"{missing}.")
        places = {name: self.deep(name, question, holders) for name in self.legs}
        depths = {name: place for name, place in places.items() if place is not None}
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
