"""Which questions are answered where not all are: spread over kinds and over the gold, by a seed."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from karat.core.types import Question, TestSet


def answered_ids(testset: TestSet, limit: int, seed: int = 0) -> tuple[str, ...]:
    """The ids of `limit` questions to answer, in the order of the test set; all where there are no more.

    Every kind gets its share, and as far as it goes no two questions rest on the same gold: many questions about one
    chunk say little more than one of them. What is drawn depends on ids and the seed, not on the order of the file.
    """
    questions = testset.questions
    if limit >= len(questions):
        return testset.ids
    by_kind: dict[str, list[Question]] = {}
    for question in sorted(questions, key=lambda q: _lot(q.id, seed)):
        by_kind.setdefault(question.kind or "", []).append(question)
    places = shares({kind: len(of_kind) for kind, of_kind in by_kind.items()}, limit)
    used: Counter[str] = Counter()
    chosen: set[str] = set()
    for kind in sorted(by_kind, key=lambda kind: (_distinct(by_kind[kind]), kind)):  # the scarcest choose first
        left = list(by_kind[kind])
        for _ in range(places[kind]):
            best = min(range(len(left)), key=lambda n: (sum(used[name] for name in gold_of(left[n])), n))
            question = left.pop(best)
            used.update(gold_of(question))
            chosen.add(question.id)
    return tuple(qid for qid in testset.ids if qid in chosen)


def shares(sizes: Mapping[str, int], limit: int) -> dict[str, int]:
    """Places for each kind in proportion to its questions, at least one where there are enough places for all.

    >>> shares({"literal": 30, "paraphrase": 30, "scenario": 3}, 7)
    {'literal': 3, 'paraphrase': 3, 'scenario': 1}
    """
    total = sum(sizes.values())
    least = 1 if limit >= len(sizes) else 0
    places = {kind: max(least, limit * size // total) for kind, size in sizes.items()}
    while (missing := limit - sum(places.values())) != 0:
        step = 1 if missing > 0 else -1
        able = [k for k in sizes if (places[k] < sizes[k] if step > 0 else places[k] > least)]
        ahead = {k: places[k] - limit * sizes[k] / total for k in able}
        kind = min(able, key=lambda k: (step * ahead[k], k))
        places[kind] += step
    return places


def gold_of(question: Question) -> tuple[str, ...]:
    """The names of what a question rests on: the chunks of its gold, or what else names it; itself without gold."""
    names = [gold.chunk or gold.label for gold in question.gold if gold.grade > 0]
    return tuple(dict.fromkeys(names)) or (f"\0{question.id}",)


def unasked(testset: TestSet, answered: Sequence[str]) -> dict[str, str]:
    """Every other question, with the reason why its answers have no scores."""
    known, reason = set(answered), "not the question that was answered"
    if len(answered) != 1:
        reason = f"not among the {len(answered):,} questions that were answered"
    return {qid: reason for qid in testset.ids if qid not in known}


def _lot(qid: str, seed: int) -> bytes:
    return hashlib.sha256(f"{seed}\0{qid}".encode("utf-8", "surrogatepass")).digest()


def _distinct(questions: Sequence[Question]) -> int:
    return len({name for question in questions for name in gold_of(question)})
