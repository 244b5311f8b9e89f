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
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from karat.io.threads import threads_for
from karat.results.evaluation import SIGNIFICANT
from karat.stats.arrays import TIE, Bools, DistinctRows, Floats, Ints

DRAWS = 10_000
SUMS = 2**20  # numbers held at once
ALL_SUMS = 24_000_000  # numbers of the sums of all draws of several systems and measures
_BITS = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little")
_SIGNS_OF_BYTE: Floats = _BITS.astype(np.float64) * 2.0 - 1.0


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
    differences: Floats, *, draws: int = DRAWS, seed: int = 0, alpha: float | None = SIGNIFICANT
) -> FlipResult:
    """p and the interval at 1 - `alpha` of each row of `differences` (pairs x questions).

    What is not finite is left out of its pair; `alpha` None leaves the intervals out. A pair without any difference, or
    without a question, has p = 1: nothing speaks against the two being the same. There is no interval where so few
    questions differ that no p could be `alpha` or less (fewer than 6 at .05), and none of differences that are all the
    same: they do not tell how far others may lie.
    """
    grid, scale = _sorted_grid(differences)
    n = np.isfinite(differences).sum(axis=1)
    distinct = DistinctRows(np.column_stack([n, grid]))
    place = distinct.place
    tested = _test_rows(distinct.rows[:, 1:], distinct.rows[:, 0].astype(np.int64), draws, seed, alpha)
    ends = np.stack([tested.low[place] * scale, tested.high[place] * scale])
    return FlipResult(tested.p[place], ends.min(axis=0), ends.max(axis=0))


def drawn_pairs(
    values: Floats,
    pairs: Sequence[tuple[int, int]],
    *,
    draws: int = DRAWS,
    seed: int = 0,
    alpha: float | None = SIGNIFICANT,
) -> FlipResult:
    """Test and interval of b - a for each pair (a, b) of systems, each measures x pairs.

    `values` are measures x systems x questions; `alpha` None leaves the intervals out. What is not finite is no value.
    Pairs whose systems have values for the same questions are computed together, the others apart, each over the
    questions that both have.
    """
    tested = FlipResult.of_nothing(len(values), len(pairs))
    if not pairs or not values.size:
        return tested
    first, second = np.array(pairs, np.int64).T
    known = np.isfinite(values)
    masks = DistinctRows(known.reshape(-1, values.shape[2]))
    group = masks.place.reshape(known.shape[:2])
    alike = group[:, first] == group[:, second]
    for number, mask in enumerate(masks.rows):
        wanted = alike & (group[:, first] == number) & mask.any()
        for some in _parts_of_pairs(first, second, np.flatnonzero(wanted.any(axis=0)), ALL_SUMS // draws):
            systems, place = np.unique([first[some], second[some]], return_inverse=True)
            a, b = place.reshape(2, -1)
            for measure, of, part in _test_common_pairs(
                values[:, systems][:, :, mask], wanted[:, some], a, b, draws, seed, alpha
            ):
                tested.write_at((measure, some[of]), part)
    for measure, chosen in enumerate(~alike):
        for some in _batches(np.flatnonzero(chosen), values.shape[2]):
            apart = differences_of(values[measure], first[some], second[some])
            tested.write_at((measure, some), flip_test(apart, draws=draws, seed=seed, alpha=alpha))
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


def _test_rows(grid: Floats, n: Ints, draws: int, seed: int, alpha: float | None) -> FlipResult:
    tested = FlipResult.of_nothing(len(grid))
    changed = np.count_nonzero(grid, axis=1)
    few = int(draws).bit_length()  # places from which on there are more ways than draws
    places = changed if alpha is None else np.where(n < few, n, changed)
    groups = np.where(changed < few, np.stack([places, n]), 0)  # 0: signs are drawn
    for counted, size in np.unique(groups[:, changed > 0], axis=1).T.tolist():
        chosen = np.flatnonzero((changed > 0) & (groups[0] == counted) & (groups[1] == size))
        for rows in _batches(chosen, draws, SUMS):
            signs: Floats | None
            if counted:
                sums, signs = _all_ways(grid[rows, :counted], size, draws, seed)
            else:
                sums, signs = _drawn_ways(grid[rows], n[rows], draws, seed, alpha is not None)
            total = grid[rows].sum(axis=1)
            seen = 0 if counted else 1
            tested.write_at(rows, _p_and_interval(total, sums, signs, n[rows], changed[rows], seen, alpha))
    if alpha is not None and grid.size:
        same = np.abs(grid[:, 0] - grid[np.arange(len(grid)), np.maximum(n - 1, 0)]) <= 2.0
        untold = same | (2.0 ** (1 - changed) > alpha)
        tested.low[untold] = tested.high[untold] = np.nan
    return tested


def _sorted_grid(differences: Floats) -> tuple[Floats, Floats]:
    """Each row with a sum of 0 or more, from its largest difference to its smallest, zeros last; and its scale.

    They become whole numbers on a grid so fine that every sum of them is exact in a double, in whatever order a
    machine adds; sums that are equal on paper then differ by one for each difference at most.
    """
    known = np.where(np.isfinite(differences), differences, 0.0)
    known[np.abs(known) <= TIE] = 0.0
    turn = np.where(known.sum(axis=1) < 0, -1.0, 1.0)
    known *= turn[:, None]
    order = np.lexsort((known, -np.abs(known)), axis=1)
    rows = np.take_along_axis(known, order, axis=1)
    most = np.abs(rows).max(axis=1, initial=0.0)
    most = np.where(most > 0, most, 1.0)
    changed = np.maximum(np.count_nonzero(rows, axis=1), 1)
    unit = np.ldexp(1.0, 52 - np.frexp(changed.astype(np.float64))[1])
    return np.rint(rows / most[:, None] * unit[:, None]), turn * most / unit


def _all_ways(grid: Floats, n: int, draws: int, seed: int) -> tuple[Floats, Floats]:
    """Sums, and sums of signs, of all ways to put the signs of these places; those of the n beyond them are drawn.

    Only ways in which the last sign is -: the others are their mirror images, with the same distance from zero.
    """
    places = grid.shape[1]
    ways = ((np.arange(2 ** (places - 1), dtype=np.int64)[:, None] >> np.arange(places)) & 1) * 2.0 - 1.0
    sums, signs = grid @ ways.T, ways.sum(axis=1)
    if n > places:
        often = -(-draws // len(ways))
        sums, signs = np.tile(sums, (1, often)), np.tile(signs, often)
        signs += _sign_sums(n - places, len(signs), seed)
        signs[0] = -n  # the seen way is one of them
    return sums, signs[None]


def _drawn_ways(grid: Floats, n: Ints, draws: int, seed: int, with_signs: bool) -> tuple[Floats, Floats | None]:
    """Sums, and sums of signs, of drawn ways."""
    grid = grid[:, : int(np.count_nonzero(grid, axis=1).max())]
    sums = _flipped_sums(grid, draws, seed)
    if not with_signs:
        return sums, None
    is_changed = (grid != 0).astype(np.float64)
    signs, unchanged = _flipped_sums(is_changed, draws, seed), n - is_changed.sum(axis=1).astype(np.int64)
    for ties in np.unique(unchanged).tolist():
        signs[unchanged == ties] += _sign_sums(ties, draws, seed)
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
        *drawn, signs = np.split(_flipped_sums(flat, draws, seed), range(systems, len(flat), systems))
        for grid, unit, sums, measure in zip(grids, units.tolist(), drawn, part.tolist(), strict=True):
            total = grid.sum(axis=1)
            for some in _batches(np.flatnonzero(wanted[measure]), max(draws, n)):
                a, b = first[some], second[some]
                apart, flipped = total[b] - total[a], sums[b] - sums[a]
                result = _p_and_interval(apart, flipped, signs, np.array([n]), 2.0 * n, 1, alpha)
                result = FlipResult(result.p, result.low / unit, result.high / unit)
                differences = differences_of(values[measure], a, b)
                same = np.ptp(differences, axis=1) <= TIE
                result.low[same] = result.high[same] = np.nan
                # where there are no more ways to put the signs than draws, they are all counted
                few = np.flatnonzero(np.count_nonzero(np.abs(differences) > TIE, axis=1) < draws.bit_length())
                if len(few):
                    result.write_at(few, flip_test(differences[few], draws=draws, seed=seed, alpha=alpha))
                yield measure, some, result


# Signs


def _flipped_sums(rows: Floats, draws: int, seed: int) -> Floats:
    """For each row and each draw the sum of the row's values times the signs of the draw."""
    sums = np.empty((len(rows), draws))
    done = 0
    with threads_for(rows.size * _draws_at_once(rows.shape[1])):
        for some in drawn_signs(rows.shape[1], draws, seed):
            np.matmul(rows, some.T, out=sums[:, done : done + len(some)])
            done += len(some)
    return sums


def _sign_sums(places: int, draws: int, seed: int) -> Floats:
    """The sum of so many random signs, for each draw."""
    if not places:
        return np.zeros(draws)
    words = -(-places // 64)
    raw = np.random.PCG64([seed, places]).random_raw(draws * words).reshape(draws, words)
    raw[:, -1] >>= np.uint64(64 * words - places)
    sums: Floats = 2.0 * np.bitwise_count(raw).sum(axis=1, dtype=np.int64) - places
    return sums


def drawn_signs(places: int, draws: int, seed: int) -> Iterator[Floats]:
    """Draws x places of +1 and -1, some draws at a time.

    A bit each of the raw stream of PCG64, which numpy keeps fixed; those of a place do not change when places are
    added behind it.
    """
    words = -(-draws // 64)
    raw = np.asarray(np.random.PCG64(seed).random_raw(places * words), "<u8").view(np.uint8).reshape(places, words * 8)
    size = _draws_at_once(places)
    for start in range(0, draws, size):
        end = min(start + size, draws)
        signs = np.take(_SIGNS_OF_BYTE, raw[:, start // 8 : -(-end // 8)], axis=0).reshape(places, -1)
        yield signs[:, : end - start].T


def _draws_at_once(places: int) -> int:
    """Draws whose signs are held at once: whole bytes of bits."""
    return max(8, min(2048, SUMS // max(places, 1)) // 8 * 8)
