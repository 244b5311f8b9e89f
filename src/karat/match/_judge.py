"""From runs and gold to Judged: the fast way where ids are plain and unique, the join elsewhere."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, count, repeat
from typing import TYPE_CHECKING, Any

import numpy as np

from karat.core.judged import Ints, Judged, Repeats
from karat.core.ranked import Ties, ranking
from karat.core.run import Run, hit_tokens
from karat.core.types import TestSet
from karat.match._join import Join, Key, Units
from karat.match._plain import judge_plain

if TYPE_CHECKING:
    from numpy.typing import NDArray

_NOT_ASKED = "it was not asked for"


@dataclass(frozen=True)
class JudgingSettings:
    """How matched hits become judged ranks."""

    repeats: Repeats = "once"
    ties: Ties = "float32"
    tokens: bool = False  # whether a measure cuts by tokens
    collection: int | None = None  # documents searched, when known


def judge(
    testset: TestSet, runs: Sequence[Run], by: str | Join = "exact", settings: JudgingSettings | None = None
) -> Judged:
    """Where the judged units of each question stand in each run, by a matcher for all gold or by a join."""
    settings = settings or JudgingSettings()
    join = Join(testset, runs, by) if isinstance(by, str) else by
    if join.is_plain and not settings.tokens and all(run.order == "score" and run.unique for run in runs):
        return judge_plain(testset, runs, settings)
    return _judge_joined(testset, runs, join, settings)


def _judge_joined(testset: TestSet, runs: Sequence[Run], join: Join, settings: JudgingSettings) -> Judged:
    """Any matcher, repeated units, several units a hit, token budgets."""
    units = join.units if testset is join.testset else join.units_of(testset)
    width = len(testset)
    slots, distinct = np.zeros((2, len(runs), width), np.int64)
    parts: list[tuple[NDArray[Any], ...]] = []
    tokens: list[Ints] = []
    missing = None if settings.tokens else _NOT_ASKED
    for s, run in enumerate(runs):
        hits, question = _listed(run, testset, settings.ties)
        place, key, unit = _keys_held(join.hit_keys(run), hits, question, units)
        new = _is_first(question[place] * (key.max(initial=0) + 1) + key)
        distinct[s] = np.bincount(question[place[new]], minlength=width)
        repeated = np.bincount(place[new], minlength=len(hits)) == 0
        ranked = ~repeated if settings.repeats == "collapse" else np.ones(len(hits), bool)
        slots[s] = np.bincount(question[ranked], minlength=width)
        rank = np.cumsum(ranked) - (np.cumsum(slots[s]) - slots[s])[question]
        pair = s * width + question
        judged, stale = (unit >= 0) & ranked[place], repeated & ranked
        slot = place[judged]
        parts.append((pair[slot], rank[slot], unit[judged], new[judged], pair[stale], rank[stale]))
        if settings.tokens:
            sizes = _sizes(run)
            if sizes is None:
                missing = f"the hits of {run.name!r} have neither"
            else:
                tokens.append(sizes[hits[ranked]])
    pairs, ranks, numbers, news, *repeats = map(np.concatenate, zip(*parts, strict=True))
    return Judged(
        systems=tuple(run.name for run in runs),
        questions=testset.ids,
        pair=pairs,
        rank=ranks,
        unit=numbers,
        new=news,
        gold_question=units.question,
        gold_grade=units.grade,
        slots=slots.ravel(),
        distinct=distinct.ravel(),
        stale=(repeats[0], repeats[1]),
        repeats=settings.repeats,
        tokens=(np.concatenate(([0], np.cumsum(slots))), np.concatenate(tokens)) if missing is None else None,
        tokens_missing=missing,
        collection=settings.collection,
    )


def held_gold(testset: TestSet, run: Run, join: Join, rel: int = 1) -> dict[int, tuple[str, ...]]:
    """The relevant units that hits hold, by the place of the hit in its run, of those that hold some."""
    units = join.units if testset is join.testset else join.units_of(testset)
    hits, question = _listed(run, testset, "float32")
    place, _, unit = _keys_held(join.hit_keys(run), hits, question, units)
    relevant = np.append(units.grade, 0)[unit] >= rel
    held: dict[int, tuple[str, ...]] = {}
    for hit, number in zip(hits[place[relevant]].tolist(), unit[relevant].tolist(), strict=True):
        held[hit] = (*held.get(hit, ()), units.gold[number].label)
    return held


def _listed(run: Run, testset: TestSet, ties: Ties) -> tuple[Ints, Ints]:
    """The hits for the questions of the test set, question by question, best first; and the question of each."""
    number = {qid: q for q, qid in enumerate(testset.ids)}
    of_list = np.fromiter(map(number.get, run.question_ids, repeat(-1)), np.int64, len(run.question_ids))
    question = np.repeat(of_list, np.diff(run.offsets))
    order = np.argsort(question, kind="stable")
    order = order[np.searchsorted(question[order], 0) :]  # without questions of others
    return ranking(run, ties)[order], question[order]


def _keys_held(keys: Sequence[tuple[Key, ...]], hits: Ints, question: Ints, units: Units) -> tuple[Ints, Ints, Ints]:
    """Every key of every hit, hit by hit: the place of the hit, the number of the key, and the unit, -1 for no gold.

    A hit without a key is a unit of its own.
    """
    objects = np.fromiter(map(id, keys), np.int64, len(keys))  # hits that are alike share one tuple of keys
    alike, held = np.unique(objects[hits], return_inverse=True)
    some = np.empty(len(alike), np.int64)
    some[held] = hits
    combinations = [keys[hit] for hit in some.tolist()]
    numbers: defaultdict[Key, int] = defaultdict(count().__next__)
    flat = np.fromiter(map(numbers.__getitem__, chain.from_iterable(combinations)), np.int64)
    sizes = np.fromiter(map(len, combinations), np.int64, len(combinations))
    firsts, counts = (np.cumsum(sizes) - sizes)[held], sizes[held]
    place = np.repeat(np.arange(len(hits)), np.maximum(counts, 1))
    nth = np.arange(len(place)) - np.searchsorted(place, place)
    is_keyed = counts[place] > 0
    key = len(numbers) + hits[place]
    key[is_keyed] = flat[(firsts[place] + nth)[is_keyed]]
    gold_key = np.fromiter((-1 if one is None else numbers.get(one, -1) for one in units.key), np.int64)
    gold = np.flatnonzero(gold_key >= 0)
    wanted = units.question[gold] * len(numbers) + gold_key[gold]
    order = np.argsort(wanted)
    shown = np.where(is_keyed, question[place] * len(numbers) + key, -1)
    nearest = np.append(gold[order], -1)[at := np.searchsorted(wanted[order], shown)]
    unit = np.where(np.append(wanted[order], -2)[at] == shown, nearest, -1)
    return place, key, unit


def _is_first(values: Ints) -> NDArray[np.bool_]:
    """Whether a value stands for the first time."""
    first = np.zeros(len(values), bool)
    first[np.unique(values, return_index=True)[1]] = True
    return first


def _sizes(run: Run) -> Ints | None:
    """Tokens of each hit: as given, else counted as words in its text. None when some hit has neither."""
    sizes = [hit_tokens(run, hit) for hit in range(len(run))]
    known = [size for size in sizes if size is not None]
    return np.array(known, np.int64) if len(known) == len(sizes) else None


def share_matched(judged: Judged) -> dict[str, float]:
    """Share of the relevant gold units that stand anywhere in each system's hits; nothing without such gold."""
    matched = judged.found_within().reshape(len(judged.systems), -1).sum(1)
    total = judged.relevant.reshape(len(judged.systems), -1).sum(1)
    return {s: float(f / t) for s, f, t in zip(judged.systems, matched, total, strict=True) if t}


def least_share(judged: Judged) -> float:
    """Share of the gold found for the system that finds least; 1 where there is none to find."""
    return min(share_matched(judged).values(), default=1.0)
