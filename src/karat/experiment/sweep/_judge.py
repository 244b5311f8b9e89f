"""Gold in a pool: which candidates hold which units, the Judged of many rankings of the pool at once, their scores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from karat.core.judged import Bools, Ints, Judged, Repeats
from karat.match import Key, Resolution, share_matched

if TYPE_CHECKING:
    from karat.core.docs import Chunks
    from karat.core.measure import Measure
    from karat.core.scores import Scores
    from karat.experiment.sweep.swept import SweptIndex
    from karat.measures.dialects import Dialect
    from karat.retrieve import Progress
    from karat.systems.candidates import Candidates
    from karat.systems.settings import SystemSettings

_TABLE = 1 << 21
_BLOCK = 1 << 21  # scores worked out at once


def scored(
    part: SweptIndex, measures: Sequence[Measure], repeats: Repeats, dialect: Dialect, progress: Progress
) -> Iterator[tuple[Scores, dict[str, float]]]:
    """Scores of the configurations of an index, some at a time, and the share of the gold that each finds."""
    from karat.measures.compute import compute

    many, step = len(part.points), max(1, _BLOCK // (len(part.resolution.testset) * len(measures)))
    for start in range(0, many, step):
        progress(f"scoring {many} configurations", start, many)
        judged = _judge(replace(part, points=part.points[start : start + step]), measures, repeats)
        yield (
            compute(
                measures,
                judged.systems,
                judged.questions,
                judged=judged,
                no_gold_is_zero=dialect.no_gold_is_zero,
                conversations=part.resolution.testset.conversations,
            ),
            share_matched(judged),
        )


def _judge(part: SweptIndex, measures: Sequence[Measure], repeats: Repeats) -> Judged:
    """Where gold stands in the list of every configuration. What a pool holds is found once for the index."""
    tokens = any(m.tokens is not None for m in measures)
    if repeats == "collapse":  # what is removed shifts every rank: the lists are needed
        from karat.match import JudgingSettings
        from karat.match import judge as judge_runs

        runs = [part.run(point) for point in part.points]
        resolution = part.resolution
        return judge_runs(resolution.testset, runs, resolution, JudgingSettings(repeats=repeats, tokens=tokens))
    held = part.held
    pools: dict[Candidates, list[int]] = {}
    for number, point in enumerate(part.points):
        pools.setdefault(part.pool(point), []).append(number)
    for pool in pools:
        if pool not in held:
            held[pool] = held_by(pool, part.resolution)
    rankings = [
        Ranking(pool, held[pool], np.array(numbers), [part.points[i].system for i in numbers])
        for pool, numbers in pools.items()
    ]
    names = [point.name for point in part.points]
    return judged_of(rankings, names, part.resolution, length=part.length, repeats=repeats, tokens=tokens)


@dataclass(frozen=True)
class HeldUnits:
    """What the candidates of a pool hold: an entry is a unit in a candidate, ordered by candidate.

    `of` is the candidate's place in `candidates`, `group` the unit within the question, gold or not, and `unit` its
    number among the gold units, -1 where it is none. Candidates that are left out hold one unit that no other holds
    and that is not gold: they are never repeats and credit nothing.
    """

    candidates: Ints
    of: Ints
    group: Ints
    unit: Ints


def held_by(pool: Candidates, resolution: Resolution) -> HeldUnits:
    """The units that candidates hold, as the matcher of the resolution sees them."""
    units = resolution.units
    keys = resolution.row_keys.get("exact", [])
    is_plain = all(matcher.plain or not matcher.is_keyed for matcher in resolution.matchers.values())
    if is_plain and len(set(keys)) == len(keys):
        # no two chunks share a unit but gold ones, so the holders of gold are all that matters
        rows = np.concatenate([*resolution.holders, np.zeros(0, np.int64)])
        unit = np.repeat(np.arange(len(resolution.holders)), [len(rows) for rows in resolution.holders])
        at = pool.find(units.question[unit], rows)
        at, unit = at[at >= 0], unit[at >= 0]
        order = np.argsort(at, kind="stable")
        candidates, of = np.unique(at[order], return_inverse=True)
        return HeldUnits(candidates, of, unit[order], unit[order])
    return _by_keys(pool, resolution)


def _by_keys(pool: Candidates, resolution: Resolution) -> HeldUnits:
    """The same from the keys of every candidate: chunks of one page share it, whether it is gold or not."""
    from karat.core.run import Run

    testset = resolution.testset
    ids = resolution.chunks.ids
    run = Run(
        "candidates", question_ids=testset.ids, offsets=pool.offsets, _docs=[ids[row] for row in pool.rows.tolist()]
    )
    keys = resolution.hit_keys(run)
    named = zip(resolution.units.question.tolist(), resolution.units.key, strict=True)
    groups: dict[tuple[int, Key | int], int] = {(q, key or u): u for u, (q, key) in enumerate(named)}
    gold = len(groups)
    of, group = [], []
    single = np.zeros(len(pool.query), bool)  # holds exactly one unit
    for c, (question, one) in enumerate(zip(pool.query.tolist(), keys, strict=True)):
        single[c] = len(one) <= 1
        for name in one:
            of.append(c)
            group.append(groups.setdefault((question, name), len(groups)))
    at, code = np.array(of, np.int64), np.array(group, np.int64)
    shared = np.bincount(code, minlength=len(groups)) > 1
    matters = ~single
    matters[at[shared[code] | (code < gold)]] = True
    entry_matters = matters[at]
    number = np.cumsum(matters) - 1
    at, code = number[at[entry_matters]], code[entry_matters]
    return HeldUnits(np.flatnonzero(matters), at, code, np.where(code < gold, code, -1))


@dataclass(frozen=True)
class Ranking:
    """Systems over one pool: `numbers` are theirs among all systems of the sweep."""

    pool: Candidates
    held: HeldUnits
    numbers: Ints
    systems: Sequence[SystemSettings]

    @cached_property
    def parts(self) -> list[slice]:
        """The systems in portions whose tables stay small."""
        step = max(1, _TABLE // max(1, len(self.held.of), len(self.held.candidates)))
        return [slice(i, i + step) for i in range(0, len(self.systems), step)]


def judged_of(
    rankings: Sequence[Ranking],
    names: Sequence[str],
    resolution: Resolution,
    *,
    length: int,
    repeats: Repeats = "once",
    collection: int | None = None,
    tokens: bool = False,
) -> Judged:
    """Where the units stand in the first `length` hits of every system; `tokens` also asks for the size of each hit."""
    width = len(resolution.testset)
    placed: list[_Found] = []
    slots, distinct = np.zeros((2, len(names), width), np.int64)
    sizes: dict[int, Ints] = {}
    size_of = _Sizes(resolution.chunks)
    for ranking in rankings:
        pool = ranking.pool
        slots[ranking.numbers] = distinct[ranking.numbers] = np.minimum(np.diff(pool.offsets), length)
        top = np.arange(len(pool.query)) - pool.offsets[pool.query] < length
        for part in ranking.parts:
            numbers = ranking.numbers[part]
            orders: list[Ints] | None = [] if tokens else None
            ranks = pool.ranks(ranking.systems[part], ranking.held.candidates, orders)
            one = _find(ranking, ranks, numbers, width, length)
            distinct[numbers] += one.more
            placed.append(one)
            for number, order in zip(numbers.tolist(), orders or (), strict=False):
                sizes[number] = size_of(pool.rows[order[top]])
    pair, rank, unit, new = (np.concatenate([getattr(f, name) for f in placed]) for name in _Found.ENTRIES)
    order = np.lexsort((rank, pair))
    judged = Judged(
        systems=tuple(names),
        questions=resolution.testset.ids,
        pair=pair[order],
        rank=rank[order],
        unit=unit[order],
        new=new[order],
        gold_question=resolution.units.question,
        gold_grade=resolution.units.grade,
        slots=slots.ravel(),
        distinct=distinct.ravel(),
        stale=_in_order(np.concatenate([f.stale[0] for f in placed]), np.concatenate([f.stale[1] for f in placed])),
        repeats=repeats,
        tokens_missing="it was not asked for",
        collection=collection,
    )
    if not tokens:
        return judged
    every = np.concatenate([sizes[number] for number in range(len(names))])
    return replace(judged, tokens=(np.concatenate(([0], np.cumsum(judged.slots))), every), tokens_missing=None)


@dataclass(frozen=True)
class _Found:
    """Entries of some systems; `more` is how many distinct units their lists hold beyond one a hit."""

    ENTRIES = ("pair", "rank", "unit", "new")

    pair: Ints
    rank: Ints
    unit: Ints
    new: Bools
    stale: tuple[Ints, Ints]
    more: Ints


def _find(ranking: Ranking, ranks: Ints, numbers: Ints, width: int, length: int) -> _Found:
    """What some systems hold, from the ranks of the candidates that matter."""
    held, query = ranking.held, ranking.pool.query[ranking.held.candidates]
    entry = ranks[:, held.of]
    by_group = np.argsort(held.group, kind="stable")
    _, starts, group = np.unique(held.group[by_group], return_index=True, return_inverse=True)
    first = np.minimum.reduceat(entry[:, by_group], starts, axis=1) if len(starts) else entry
    new = np.empty(entry.shape, bool)
    new[:, by_group] = entry[:, by_group] == first[:, group]
    gold = np.flatnonzero(held.unit >= 0)
    s, e = np.nonzero(entry[:, gold] <= length)
    e = gold[e]
    fresh = _summed(new, np.searchsorted(held.of, np.arange(len(held.candidates) + 1)))
    inside = ranks <= length
    stale, candidate = np.nonzero(inside & (fresh == 0))
    return _Found(
        numbers[s] * width + query[held.of[e]],
        entry[s, e].astype(np.int64),
        held.unit[e],
        new[s, e],
        (numbers[stale] * width + query[candidate], ranks[stale, candidate].astype(np.int64)),
        _summed(np.where(inside, fresh - 1, 0), np.searchsorted(query, np.arange(width + 1))),
    )


def _summed(table: Ints | Bools, bounds: Ints) -> Ints:
    """Sums of stretches of each line of a table, empty ones among them."""
    total = np.zeros((table.shape[0], table.shape[1] + 1), np.int64)
    np.cumsum(table, axis=1, out=total[:, 1:])
    sums: Ints = total[:, bounds[1:]] - total[:, bounds[:-1]]
    return sums


def _in_order(pair: Ints, rank: Ints) -> tuple[Ints, Ints]:
    order = np.lexsort((rank, pair))
    return pair[order], rank[order]


class _Sizes:
    """Tokens of chunks: as the index has them, else counted as words; each chunk once."""

    def __init__(self, chunks: Chunks) -> None:
        self._chunks = chunks
        self._known = np.full(len(chunks), -1, np.int64)

    def __call__(self, rows: Ints) -> Ints:
        from karat.core.text.normalise import tokenise

        for row in np.unique(rows[self._known[rows] < 0]).tolist():
            chunk = self._chunks[row]
            self._known[row] = chunk.tokens if chunk.tokens is not None else len(tokenise(chunk.text, "words"))
        return self._known[rows]
