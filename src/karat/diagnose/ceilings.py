"""Ceilings: the highest Precision, Recall, F1 and nDCG that any ranking of the chunks could reach.

A unit that no chunk holds is never found. A chunk that holds two units fills one slot, not two: Precision and nDCG
count slots, Recall counts units. What a ranking can reach for a question depends only on which sets of its units
the chunks hold; units that no chunk holds together are independent, so each group of units that chunks tie together
is worked out by itself and the groups are put together.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise, product
from math import log2
from typing import TYPE_CHECKING

import numpy as np

from karat.diagnose.contradictions import harmonic
from karat.results.testset_check import Ceiling

if TYPE_CHECKING:
    from karat.core.judged import Ints
    from karat.match import Resolution

CUTS = (1, 3, 5, 10, 20)
MEASURES = ("Precision", "Recall", "F1", "nDCG")
_STATES = 4_000  # outcomes of a group, and of all groups together, up to which they are all looked at

State = tuple[tuple[int, ...], tuple[int, ...]]
"""Gains of the slots that credit something, highest first, and the grades of the units left over, highest first."""


@dataclass(frozen=True)
class Best:
    """The highest value of one measure at one cut for one question, and whether a ranking reaches it."""

    value: float
    exact: bool = True


def ceilings(resolution: Resolution, cuts: Sequence[int] = CUTS) -> tuple[Ceiling, ...]:
    """Means over the questions with relevant gold, by measure and cut; nothing where there are none."""
    by_question = ceilings_by_question(resolution, cuts).values()
    return tuple(
        Ceiling(name, k, *mean_of([best[name, k] for best in by_question]))
        for name in MEASURES
        for k in cuts
        if by_question
    )


def ceilings_by_question(resolution: Resolution, cuts: Sequence[int]) -> dict[int, dict[tuple[str, int], Best]]:
    """For each question with relevant gold the best values, by measure and cut."""
    by_question = {}
    for question in np.unique(resolution.units.question[resolution.relevant]).tolist():
        units = [u for u in resolution.of_question(question) if resolution.relevant[u]]
        grades = [int(resolution.units.grade[u]) for u in units]
        by_question[question] = best_of(grades, _patterns([resolution.holders[u] for u in units]), tuple(cuts))
    return by_question


def mean_of(bests: Sequence[Best]) -> tuple[float, bool]:
    """The mean of the best values of some questions, and whether all of them can be reached."""
    return float(np.mean([best.value for best in bests])), all(best.exact for best in bests)


def _patterns(holders: Sequence[Ints]) -> set[frozenset[int]]:
    """The sets of units that some row holds; unit i is held by the rows `holders[i]`."""
    if sum(1 for rows in holders if len(rows)) <= 1:
        return {frozenset((place,)) for place, rows in enumerate(holders) if len(rows)}
    place = np.repeat(np.arange(len(holders)), [len(rows) for rows in holders])
    rows = np.concatenate(holders)
    order = np.argsort(rows, kind="stable")
    place, rows = place[order], rows[order]
    edges = np.flatnonzero(np.concatenate(([True], rows[1:] != rows[:-1], [True]))).tolist()
    if len(edges) == len(rows) + 1:
        return {frozenset((unit,)) for unit in place.tolist()}
    return {frozenset(place[begin:end].tolist()) for begin, end in pairwise(edges)}


def best_of(
    grades: Sequence[int], patterns: Iterable[frozenset[int]], cuts: tuple[int, ...]
) -> dict[tuple[str, int], Best]:
    """The best values for one question: `patterns` are the sets of its units that some chunk holds."""
    ordered = sorted(sorted(p) for p in set(patterns))
    singles: list[int] = []
    groups: list[tuple[tuple[int, ...], tuple[tuple[int, ...], ...]]] = []
    loose = sorted((grades[u] for u in set(range(len(grades))) - {u for p in ordered for u in p}), reverse=True)
    for group in _groups(ordered):
        members = sorted({u for p in group for u in p})
        if len(members) == 1:
            singles.append(grades[members[0]])
            continue
        number = {u: i for i, u in enumerate(members)}
        groups.append((tuple(grades[u] for u in members), tuple(tuple(number[u] for u in p) for p in group)))
    # a unit in chunks of its own takes its slot or is left over with the same grade: the ideal never changes by it
    singles.sort(reverse=True)
    return _put_together(tuple(singles), tuple(loose), tuple(groups), cuts)


def _groups(patterns: Sequence[Sequence[int]]) -> list[list[Sequence[int]]]:
    """Patterns that share units, directly or through others, together."""
    groups: list[tuple[set[int], list[Sequence[int]]]] = []
    for pattern in patterns:
        apart, units, together = [], set(pattern), [pattern]
        for seen, members in groups:
            if seen.isdisjoint(units):
                apart.append((seen, members))
            else:
                units |= seen
                together = [*members, *together]
        groups = [*apart, (units, together)]
    return [members for _, members in groups]


@lru_cache(maxsize=4096)
def _put_together(
    singles: tuple[int, ...],
    loose: tuple[int, ...],
    groups: tuple[tuple[tuple[int, ...], tuple[tuple[int, ...], ...]], ...],
    cuts: tuple[int, ...],
) -> dict[tuple[str, int], Best]:
    """Every way the groups can end, with the units in slots of their own added, at every cut."""
    alone, never, total = list(singles), list(loose), len(singles) + len(loose) + sum(len(g) for g, _ in groups)
    ways = _ways([_states(*g) for g in groups])
    if ways is None:
        largest = max(len(p) for _, patterns in groups for p in patterns)
        return _bounds(total, len(never), largest, cuts)
    alike = len({*singles, *loose, *(grade for group, _ in groups for grade in group)}) == 1
    by_order = None if alike or not groups else _by_order(singles, loose, groups, cuts)
    best: dict[tuple[str, int], Best] = {}
    for k in cuts:
        values = [_values(state, alone, never, total, k) for state in ways if len(state[0]) <= k]
        for place, name in enumerate(MEASURES[:3]):
            best[name, k] = Best(max(v[place] for v in values))
        sorted_ = Best(max(v[3] for v in values), exact=alike or not groups)
        best["nDCG", k] = sorted_ if by_order is None else Best(by_order[k])
    return best


def _by_order(
    singles: tuple[int, ...],
    loose: tuple[int, ...],
    groups: tuple[tuple[tuple[int, ...], tuple[tuple[int, ...], ...]], ...],
    cuts: tuple[int, ...],
) -> dict[int, float] | None:
    """The highest nDCG at each cut where grades differ, slot by slot; None where there are too many ways.

    The gain of a chunk depends on what stands above it, so slots cannot be sorted afterwards. What a ranking can
    still gain depends on the units credited so far, and its ideal on the gains: of rankings that agree in both only
    the one with the highest sum is followed.
    """
    grades = [grade for group, _ in groups for grade in group]
    masks, before = [], 0
    for group, patterns in groups:
        masks += [sum(1 << (before + u) for u in p) for p in patterns]
        before += len(group)
    front: dict[tuple[int, tuple[int, ...], int], float] = {(0, (), 0): 0.0}
    best, seen = dict.fromkeys(cuts, 0.0), 0
    for rank in range(1, max(cuts) + 1):
        after: dict[tuple[int, tuple[int, ...], int], float] = {}
        for (mask, gains, used), reached in front.items():
            for more in masks:
                new = more & ~mask
                if new:
                    gain = max(g for u, g in enumerate(grades) if new >> u & 1)
                    state = (mask | more, tuple(sorted((*gains, gain), reverse=True)), used)
                    after[state] = max(after.get(state, 0.0), reached + gain / log2(rank + 1))
            if used < len(singles):
                state = (mask, gains, used + 1)
                after[state] = max(after.get(state, 0.0), reached + singles[used] / log2(rank + 1))
        seen += len(after)
        if seen > _STATES:
            return None
        for (mask, gains, _), reached in after.items():
            left = [g for u, g in enumerate(grades) if not mask >> u & 1]
            ideal = sorted((*gains, *left, *singles, *loose), reverse=True)
            for k in cuts:
                if rank <= k:
                    best[k] = max(best[k], reached / _dcg(ideal[:k]))
        front = after
    return best


def _states(grades: tuple[int, ...], patterns: Sequence[Sequence[int]]) -> set[State] | None:
    """Every way in which a ranking can credit the units of a group; None where there are too many."""
    masks = [sum(1 << u for u in p) for p in patterns]
    seen: set[tuple[int, tuple[int, ...]]] = {(0, ())}
    front = list(seen)
    while front:
        after = []
        for mask, gains in front:
            for more in masks:
                new = more & ~mask
                if not new:
                    continue
                gain = max(g for u, g in enumerate(grades) if new >> u & 1)
                state = (mask | more, tuple(sorted((*gains, gain), reverse=True)))
                if state not in seen:
                    if len(seen) >= _STATES:
                        return None
                    seen.add(state)
                    after.append(state)
        front = after
    return {
        (gains, tuple(sorted((g for u, g in enumerate(grades) if not mask >> u & 1), reverse=True)))
        for mask, gains in seen
    }


def _ways(groups: Sequence[set[State] | None]) -> set[State] | None:
    """Every way in which all groups together can end; None where there are too many."""
    ways: set[State] = {((), ())}
    for states in groups:
        if states is None or len(states) * len(ways) > 50 * _STATES:
            return None
        ways = {
            (tuple(sorted(a + c, reverse=True)), tuple(sorted(b + d, reverse=True)))
            for (a, b), (c, d) in product(ways, states)
        }
        if len(ways) > _STATES:
            return None
    return ways


def _values(
    state: State, singles: Sequence[int], loose: Sequence[int], total: int, k: int
) -> tuple[float, float, float, float]:
    """Precision, Recall, F1 and nDCG at k where the groups end so and the best single units fill the slots left."""
    gains, left = state
    filled = singles[: k - len(gains)]
    slots = sorted((*gains, *filled), reverse=True)
    missed = len(left) + len(loose) + len(singles) - len(filled)
    precision, recall = len(slots) / k, (total - missed) / total
    f1 = harmonic(precision, recall)
    ideal = sorted((*gains, *left, *singles, *loose), reverse=True)[:k]
    return precision, recall, f1, _dcg(slots) / _dcg(ideal)  # as if slots could be sorted: never less than they allow


def _dcg(gains: Sequence[int]) -> float:
    return sum(gain / log2(place + 1) for place, gain in enumerate(gains, 1))


def _bounds(total: int, never: int, largest: int, cuts: tuple[int, ...]) -> dict[tuple[str, int], Best]:
    """What no ranking passes, where there are too many ways to look at them all.

    `largest` is the number of units that one chunk holds at most.
    """
    reachable = total - never
    best: dict[tuple[str, int], Best] = {}
    for k in cuts:
        precision, recall = min(k, reachable) / k, min(k * largest, reachable) / total
        highest = (precision, recall, harmonic(precision, recall), 1.0)
        for name, value in zip(MEASURES, highest, strict=True):
            best[name, k] = Best(value, exact=False)
    return best
