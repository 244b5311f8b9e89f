"""Permutation: the paired sign-flip test of a mean difference, two-sided, and the interval that agrees with it.

If two systems were the same, each difference could as well have had the other sign. p is the share of ways to put the
signs whose sum lies as far from zero as the one that was seen. Where there are no more ways than draws they are all
counted, the seen one among them, and p = count / ways; else signs are drawn and p = (count + 1) / (draws + 1).
`scipy.stats.permutation_test(permutation_type="samples")` gives the same where all ways are counted; where it draws it
counts one side, adds 1 and doubles.

The interval holds every d0 for which the same flips of the differences less d0 give a p above `alpha`, so it holds 0
exactly where p is above it. A flip s counts where |sum s (d - d0)| >= |sum (d - d0)|, and that is where d0 lies between
the mean of the differences that it flips and the mean of those that it leaves. So each flip speaks for one stretch of
d0 around the mean, and the interval ends where too few stretches are left.

Questions without a difference change no sum at d0 = 0 and are left out of p; they count in the interval. The others
stand in order of size, and the draws for a place are the same for every pair. So p and interval depend on the
differences of their own pair, the draws and the seed: not on the other pairs, the order of the questions, the machine,
or which of the two is called the first.

Many pairs of systems share their draws (`drawn_pairs`). A flipped sum is linear in the scores: with the signs s of a
draw, the sum of s (b - a) is the sum of s b less the sum of s a. So one matrix product, draws x questions by
questions x systems, serves all pairs of all measures, and a pair costs a subtraction. Those draws go by the place of a
question instead of by the size of its difference: give the questions in an order of their own, such as that of their
ids, and p and interval do not depend on the order of a file, nor on the other systems.

Turns of one conversation are not independent, so a conversation has one sign: what is flipped are the sums D of the
differences of whole conversations, of m turns each. With signs s a d0 counts where |sum s (D - m d0)| >= |sum (D - m
d0)|, so all of the above holds with D for the differences, sum s m for the sum of signs and sum m for n.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from karat.results.evaluation import SIGNIFICANT
from karat.stats.arrays import TIE, Bools, DistinctRows, Floats, Ints, cluster_sums, grouped
from karat.stats.signs import SUMS, flipped_sums, sign_sums

DRAWS = 10_000
ALL_SUMS = 24_000_000  # numbers of the sums of all draws of several systems and measures


@dataclass(frozen=True)
class FlipResult:
    """p of the sign-flip test and the ends of the interval that agrees with it; NaN where there is no interval."""

    p: Floats
    low: Floats
    high: Floats

    @classmethod
    def of_nothing(cls, *shape: int) -> FlipResult:
        return cls(np.ones(shape), np.full(shape, np.nan), np.full(shape, np.nan))

    def write_at(self, at: Any, part: FlipResult) -> None:
        """Write what was found of a part in its place."""
        self.p[at], self.low[at], self.high[at] = part.p, part.low, part.high


def flip_test(
    differences: Floats,
    *,
    draws: int = DRAWS,
    seed: int = 0,
    alpha: float | None = SIGNIFICANT,
    clusters: Sequence[int] | Ints | None = None,
) -> FlipResult:
    """p and the interval at 1 - `alpha` of each row of `differences` (pairs x questions).

    What is not finite is left out of its pair; `alpha` None leaves the intervals out. A pair without any difference, or
    without a question, has p = 1: nothing speaks against the two being the same. There is no interval where so few
    questions differ that no p could be `alpha` or less (fewer than 6 at .05), and none of differences that are all the
    same: they do not tell how far others may lie. `clusters` is the number of each question's conversation: they are
    flipped, and counted, in place of questions.
    """
    groups, known = grouped(clusters), np.isfinite(differences)
    if groups is not None:
        alone = (cluster_sums(known.astype(np.float64), groups) <= 1).all(axis=1)  # turns count for themselves there
        if alone.all():
            groups = None
        elif alone.any():
            tested = FlipResult.of_nothing(len(differences))
            for rows, own in ((alone, None), (~alone, groups)):
                part = flip_test(differences[rows], draws=draws, seed=seed, alpha=alpha, clusters=own)
                tested.write_at(rows, part)
            return tested
    turned, turn = _turned(differences)
    grid, scale = _whole_numbers(turned if groups is not None else _sorted(turned))
    scale, n = turn * scale, known.sum(axis=1)
    if groups is None:
        distinct = DistinctRows(np.column_stack([n, grid]))
        units = _FlippedUnits(distinct.rows[:, 1:], distinct.rows[:, 0].astype(np.int64))
    else:
        distinct, units = _conversations(grid, known, groups)
    place = distinct.place
    tested = _test_rows(units, draws, seed, alpha)
    ends = np.stack([tested.low[place] * scale, tested.high[place] * scale])
    return FlipResult(tested.p[place], ends.min(axis=0), ends.max(axis=0))


def drawn_pairs(
    values: Floats,
    pairs: Sequence[tuple[int, int]],
    *,
    draws: int = DRAWS,
    seed: int = 0,
    alpha: float | None = SIGNIFICANT,
    clusters: Sequence[int] | Ints | None = None,
) -> FlipResult:
    """Test and interval of b - a for each pair (a, b) of systems, each measures x pairs.

    `values` are measures x systems x questions; `alpha` None leaves the intervals out. What is not finite is no value.
    Pairs whose systems have values for the same questions are computed together, the others apart, each over the
    questions that both have. `clusters` is the number of each question's conversation.
    """
    tested, numbers = FlipResult.of_nothing(len(values), len(pairs)), grouped(clusters)
    if not pairs or not values.size:
        return tested
    first, second = np.array(pairs, np.int64).T
    known = np.isfinite(values)
    masks = DistinctRows(known.reshape(-1, values.shape[2]))
    group = masks.place.reshape(known.shape[:2])
    alike = group[:, first] == group[:, second]
    for number, mask in enumerate(masks.rows):
        wanted = alike & (group[:, first] == number) & mask.any()
        groups = None if numbers is None else grouped(numbers[mask])
        for some in _parts_of_pairs(first, second, np.flatnonzero(wanted.any(axis=0)), ALL_SUMS // draws):
            systems, place = np.unique([first[some], second[some]], return_inverse=True)
            a, b = place.reshape(2, -1)
            for measure, of, part in _test_common_pairs(
                values[:, systems][:, :, mask], wanted[:, some], a, b, draws, seed, alpha, groups
            ):
                tested.write_at((measure, some[of]), part)
    for measure, chosen in enumerate(~alike):
        for some in _batches(np.flatnonzero(chosen), values.shape[2]):
            apart = differences_of(values[measure], first[some], second[some])
            tested.write_at((measure, some), flip_test(apart, draws=draws, seed=seed, alpha=alpha, clusters=numbers))
    return tested


def differences_of(values: Floats, first: Ints, second: Ints) -> Floats:
    """b - a of each pair over systems x questions, NaN where one of the two has no value."""
    with np.errstate(invalid="ignore"):
        apart = np.asarray(values[second] - values[first], np.float64)
    apart[~np.isfinite(apart)] = np.nan
    return apart


def _parts_of_pairs(first: Ints, second: Ints, pairs: Ints, most: int) -> Iterator[Ints]:
    """The pairs in parts of at most so many systems (of two at least)."""
    start, systems = 0, set[int]()
    for i, both in enumerate(zip(first[pairs].tolist(), second[pairs].tolist(), strict=True)):
        systems.update(both)
        if len(systems) > most and i > start:
            yield pairs[start:i]
            start, systems = i, set(both)
    if start < len(pairs):
        yield pairs[start:]


def _batches(rows: Ints, width: int, held: int = SUMS // 4) -> Iterator[Ints]:
    """The rows in parts of which so many numbers of this width are held at once."""
    step = max(1, held // max(width, 1))
    for start in range(0, len(rows), step):
        yield rows[start : start + step]


def _p_and_interval(
    total: Floats, sums: Floats, signs: Floats | None, n: Ints, slack: Floats | float, seen: int, alpha: float | None
) -> FlipResult:
    """p and interval of rows whose sum is `total` by their flipped sums (rows x flips), of n differences each.

    `signs` are the sums of the signs of each flip, in one row where all share it. Sums that are equal on paper differ
    by `slack` at most. `seen` 1: the way that was seen is not among the flips, which were drawn.
    """
    flips = sums.shape[1]
    reached = np.count_nonzero(np.abs(sums) >= (np.abs(total) - slack)[:, None], axis=1)
    p = (reached + seen) / float(flips + seen)
    nowhere = np.full(len(total), np.nan)
    fewest = 0 if alpha is None else fewest_flips(alpha, flips, seen)
    if alpha is None or signs is None or fewest < 1:
        return FlipResult(p, nowhere, nowhere)
    one_sided = np.abs(signs) >= n[:, None]  # nothing, or everything, is flipped: counts for every d0
    with np.errstate(divide="ignore", invalid="ignore"):
        one = (total[:, None] - sums) * (1.0 / (n[:, None] - signs))
        other = (total[:, None] + sums) * (1.0 / (n[:, None] + signs))
    low, high = np.minimum(one, other), np.maximum(one, other, out=one)
    if one_sided.any():
        np.copyto(low, -np.inf, where=one_sided)
        np.copyto(high, np.inf, where=one_sided)
    low.partition(fewest - 1, axis=1)
    high.partition(flips - fewest, axis=1)
    start, end, mean = low[:, fewest - 1], high[:, flips - fewest], total / n
    through = np.where(p > alpha, 0.0, mean)  # sums that are equal on paper, and not as doubles, count in p
    both = np.isfinite(start) & np.isfinite(end)
    start, end = np.minimum(np.minimum(start, mean), through), np.maximum(np.maximum(end, mean), through)
    return FlipResult(p, np.where(both, start, np.nan), np.where(both, end, np.nan))


def fewest_flips(alpha: float, flips: int, seen: int) -> int:
    """How many of the flips must count so that p = (count + seen) / (flips + seen) is above `alpha`.

    >>> fewest_flips(0.05, 10_000, 1), fewest_flips(0.05, 32, 0)
    (500, 2)
    """
    count = max(0, math.floor(alpha * (flips + seen)) - seen - 1)
    while (count + seen) / (flips + seen) <= alpha:
        count += 1
    return count


# Each row by itself


@dataclass(frozen=True)
class _FlippedUnits:
    """What is flipped: sums of questions or conversations in whole numbers, those that are not 0 first, 0 at the end.

    `n` is how many there are in each row. Of conversations `turns` is how many questions each has, and `slack` by how
    much sums that are equal on paper differ at most; None stands for questions.
    """

    sums: Floats
    n: Ints
    turns: Floats | None = None
    slack: Floats | None = None


def _test_rows(units: _FlippedUnits, draws: int, seed: int, alpha: float | None) -> FlipResult:
    grid, n, turns = units.sums, units.n, units.turns
    tested = FlipResult.of_nothing(len(grid))
    changed = np.count_nonzero(grid, axis=1)
    few = int(draws).bit_length()  # places from which on there are more ways than draws
    places = changed if alpha is None else np.where(n < few, n, changed)
    groups = np.where(changed < few, np.stack([places, n]), 0)  # 0: signs are drawn
    slack = changed if units.slack is None else units.slack
    whole = n if turns is None else turns.sum(axis=1)
    for counted, size in np.unique(groups[:, changed > 0], axis=1).T.tolist():
        chosen = np.flatnonzero((changed > 0) & (groups[0] == counted) & (groups[1] == size))
        for rows in _batches(chosen, draws, SUMS):
            signs: Floats | None
            weights = None if turns is None else turns[rows]
            if counted:
                sums, signs = _all_ways(grid[rows, :counted], size, draws, seed, weights)
            else:
                sums, signs = _drawn_ways(grid[rows], n[rows], draws, seed, alpha is not None, weights)
            total = grid[rows].sum(axis=1)
            seen = 0 if counted else 1
            tested.write_at(rows, _p_and_interval(total, sums, signs, whole[rows], slack[rows], seen, alpha))
    if alpha is not None and grid.size:
        means = grid if turns is None else grid / np.maximum(turns, 1.0)
        known = np.arange(grid.shape[1]) < n[:, None]
        same = np.where(known, means, -np.inf).max(axis=1) - np.where(known, means, np.inf).min(axis=1) <= 2.0
        untold = same | (2.0 ** (1 - changed) > alpha)
        tested.low[untold] = tested.high[untold] = np.nan
    return tested


def _turned(differences: Floats) -> tuple[Floats, Floats]:
    """Each row with a sum of 0 or more, 0 for what has no value; and the sign that it is turned by."""
    known = np.where(np.isfinite(differences), differences, 0.0)
    known[np.abs(known) <= TIE] = 0.0
    turn = np.where(known.sum(axis=1) < 0, -1.0, 1.0)
    return known * turn[:, None], turn


def _sorted(rows: Floats) -> Floats:
    """Each row from its largest difference to its smallest, zeros last."""
    return np.take_along_axis(rows, np.lexsort((rows, -np.abs(rows)), axis=1), axis=1)


def _whole_numbers(rows: Floats) -> tuple[Floats, Floats]:
    """Each row as whole numbers, and its scale.

    They stand on a grid so fine that every sum of them is exact in a double, in whatever order a machine adds; sums
    that are equal on paper then differ by one for each difference at most.
    """
    most = np.abs(rows).max(axis=1, initial=0.0)
    most = np.where(most > 0, most, 1.0)
    changed = np.maximum(np.count_nonzero(rows, axis=1), 1)
    unit = np.ldexp(1.0, 52 - np.frexp(changed.astype(np.float64))[1])
    return np.rint(rows / most[:, None] * unit[:, None]), most / unit


def _conversations(grid: Floats, known: Bools, groups: Ints) -> tuple[DistinctRows, _FlippedUnits]:
    """The sums of each conversation, the largest first, those of 0 after them; distinct rows alone."""
    sums, turns = cluster_sums(grid, groups), cluster_sums(known.astype(np.float64), groups)
    sums[(turns > 1) & (np.abs(sums) <= turns)] = 0.0  # 0 on paper
    order = np.lexsort((turns, sums, -np.abs(sums), turns == 0), axis=1)
    sums, turns = np.take_along_axis(sums, order, axis=1), np.take_along_axis(turns, order, axis=1)
    distinct = DistinctRows(np.column_stack([np.count_nonzero(grid, axis=1), sums, turns]))
    slack, (sums, turns) = distinct.rows[:, 0], np.split(distinct.rows[:, 1:], 2, axis=1)
    return distinct, _FlippedUnits(sums, np.count_nonzero(turns, axis=1), turns, slack)


def _all_ways(grid: Floats, n: int, draws: int, seed: int, turns: Floats | None = None) -> tuple[Floats, Floats]:
    """Sums, and sums of signs, of all ways to put the signs of these places; those of the n beyond them are drawn.

    Only ways in which the last sign is -: the others are their mirror images, with the same distance from zero.
    """
    places = grid.shape[1]
    ways = ((np.arange(2 ** (places - 1), dtype=np.int64)[:, None] >> np.arange(places)) & 1) * 2.0 - 1.0
    sums = grid @ ways.T
    signs = ways.sum(axis=1)[None] if turns is None else turns[:, :places] @ ways.T
    if n > places:
        often = -(-draws // len(ways))
        sums, signs = np.tile(sums, (1, often)), np.tile(signs, (1, often))
        many = signs.shape[1]
        beyond = sign_sums(n - places, many, seed) if turns is None else flipped_sums(turns[:, places:], many, seed)
        signs += beyond
        signs[:, 0] = -n if turns is None else -turns.sum(axis=1)  # the seen way is one of them
    return sums, signs


def _drawn_ways(
    grid: Floats, n: Ints, draws: int, seed: int, with_signs: bool, turns: Floats | None = None
) -> tuple[Floats, Floats | None]:
    """Sums, and sums of signs, of drawn ways."""
    grid = grid[:, : int(np.count_nonzero(grid, axis=1).max())]
    sums = flipped_sums(grid, draws, seed)
    if not with_signs:
        return sums, None
    if turns is not None:
        return sums, flipped_sums(turns, draws, seed)
    is_changed = (grid != 0).astype(np.float64)
    signs, unchanged = flipped_sums(is_changed, draws, seed), n - is_changed.sum(axis=1).astype(np.int64)
    for ties in np.unique(unchanged).tolist():
        signs[unchanged == ties] += sign_sums(ties, draws, seed)
    return sums, signs


# Pairs with common draws


def _test_common_pairs(
    values: Floats,
    wanted: Bools,
    first: Ints,
    second: Ints,
    draws: int,
    seed: int,
    alpha: float | None,
    groups: Ints | None = None,
) -> Iterator[tuple[int, Ints, FlipResult]]:
    """The pairs of systems that all have a value for every question: measure, pairs, what was found of them.

    The values of each measure become whole numbers so fine that every sum of differences is exact in a double. What
    has no value stands as 0: such a system is in no pair of this group. Of the measures as many as memory holds are
    computed at a time.
    """
    systems, n = values.shape[1:]
    for part in _batches(np.flatnonzero(wanted.any(axis=1)), systems * draws, ALL_SUMS):
        known = np.where(np.isfinite(values[part]), values[part], 0.0)
        most = np.abs(known).max(axis=(1, 2))
        units = np.ldexp(1.0, 51 - int(n).bit_length()) / np.where(most > 0, most, 1.0)
        grids = np.rint(known * units[:, None, None])
        flat = np.vstack([grids.reshape(-1, n), np.ones(n)])
        if groups is not None:
            flat = cluster_sums(flat, groups)
        *drawn, signs = np.split(flipped_sums(flat, draws, seed), range(systems, len(flat), systems))
        for grid, unit, sums, measure in zip(grids, units.tolist(), drawn, part.tolist(), strict=True):
            total = grid.sum(axis=1)
            for some in _batches(np.flatnonzero(wanted[measure]), max(draws, n)):
                a, b = first[some], second[some]
                apart, flipped = total[b] - total[a], sums[b] - sums[a]
                result = _p_and_interval(apart, flipped, signs, np.array([n]), 2.0 * n, 1, alpha)
                result = FlipResult(result.p, result.low / unit, result.high / unit)
                differences = differences_of(values[measure], a, b)
                if groups is None:
                    same = np.ptp(differences, axis=1) <= TIE
                    changed = np.count_nonzero(np.abs(differences) > TIE, axis=1)
                else:
                    whole = cluster_sums(differences, groups)
                    same = np.ptp(whole / np.bincount(groups), axis=1) <= TIE
                    changed = np.count_nonzero(np.abs(whole) > TIE, axis=1)
                result.low[same] = result.high[same] = np.nan
                # where there are no more ways to put the signs than draws, they are all counted
                few = np.flatnonzero(changed < draws.bit_length())
                if len(few):
                    counted = flip_test(differences[few], draws=draws, seed=seed, alpha=alpha, clusters=groups)
                    result.write_at(few, counted)
                yield measure, some, result
