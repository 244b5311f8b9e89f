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
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

DRAWS = 10_000
ALPHA = 0.05
TIE = 1e-12  # two values no farther apart than this are equal
SUMS = 2**20  # held at once


@dataclass(frozen=True)
class Flipped:
    """p of the sign-flip test and the ends of the interval that agrees with it; NaN where there is no interval."""

    p: Floats
    low: Floats
    high: Floats

    @classmethod
    def of_nothing(cls, *shape: int) -> Flipped:
        return cls(np.ones(shape), np.full(shape, np.nan), np.full(shape, np.nan))


def sign_flip(differences: Floats, *, draws: int = DRAWS, seed: int = 0) -> Floats:
    """p for each row of `differences` (pairs x questions); what is not finite is left out of its pair.

    A pair without any difference, or without a question, has p = 1: nothing speaks against the two being the same.
    """
    return flip_test(differences, draws=draws, seed=seed, alpha=None).p


def flip_test(differences: Floats, *, draws: int = DRAWS, seed: int = 0, alpha: float | None = ALPHA) -> Flipped:
    """p as `sign_flip` and the interval at 1 - `alpha` of each row; `alpha` None leaves the intervals out.

    There is no interval where so few questions differ that no p could be `alpha` or less (fewer than 6 at .05), and
    none of differences that are all the same: they do not tell how far others may lie.
    """
    if draws < 1:
        raise ValueError(f"draws={draws}: a test needs 1 or more")
    grid, scale = _grid(differences)
    n = np.isfinite(differences).sum(axis=1)
    every, place = np.unique(np.column_stack([n, grid]), axis=0, return_inverse=True)
    tested = _tested(every[:, 1:], every[:, 0].astype(np.int64), draws, seed, alpha)
    ends = np.stack([tested.low[place] * scale, tested.high[place] * scale])
    return Flipped(tested.p[place], ends.min(axis=0), ends.max(axis=0))


def inverted(
    total: Floats, n: Ints, sums: Floats, signs: Floats, p: Floats, fewest: int, alpha: float
) -> tuple[Floats, Floats]:
    """The ends of the interval of rows of n differences by their flips; NaN where an end is nowhere.

    `sums` are the flipped sums (rows x flips) of rows whose own sum is `total`, `signs` the sums of the signs of each
    flip, in one row for all where they share it, and `fewest` how many flips must count for p to be above `alpha`.
    """
    if fewest < 1:
        return np.full(len(total), np.nan), np.full(len(total), np.nan)
    one_sided = np.abs(signs) >= n[:, None]  # nothing, or everything, is flipped: counts for every d0
    with np.errstate(divide="ignore", invalid="ignore"):
        one = (total[:, None] - sums) * (1.0 / (n[:, None] - signs))
        other = (total[:, None] + sums) * (1.0 / (n[:, None] + signs))
    low, high = np.minimum(one, other), np.maximum(one, other, out=one)
    if one_sided.any():
        np.copyto(low, -np.inf, where=one_sided)
        np.copyto(high, np.inf, where=one_sided)
    last = high.shape[1] - fewest
    low.partition(fewest - 1, axis=1)
    high.partition(last, axis=1)
    start, end, mean = low[:, fewest - 1], high[:, last], total / n
    through = np.where(p > alpha, 0.0, mean)  # sums that are equal on paper, and not as doubles, count in p
    nowhere = ~np.isfinite(start) | ~np.isfinite(end)
    start, end = np.minimum(np.minimum(start, mean), through), np.maximum(np.maximum(end, mean), through)
    return np.where(nowhere, np.nan, start), np.where(nowhere, np.nan, end)


def fewest_flips(alpha: float, flips: int, seen: int) -> int:
    """How many of the flips must count so that p = (count + seen) / (flips + seen) is above `alpha`.

    >>> fewest_flips(0.05, 10_000, 1), fewest_flips(0.05, 32, 0)
    (500, 2)
    """
    count = max(0, math.floor(alpha * (flips + seen)) - seen - 1)
    while (count + seen) / (flips + seen) <= alpha:
        count += 1
    return count


def _tested(grid: Floats, n: Ints, draws: int, seed: int, alpha: float | None) -> Flipped:
    tested = Flipped.of_nothing(len(grid))
    changed = np.count_nonzero(grid, axis=1)
    few = int(draws).bit_length()  # places from which on there are more ways than draws
    places = changed if alpha is None else np.where(n < few, n, changed)
    step = max(1, SUMS // draws)
    counted = np.flatnonzero((changed > 0) & (changed < few))
    for many, size in np.unique(np.stack([places, n])[:, counted], axis=1).T.tolist():
        rows = counted[(places[counted] == many) & (n[counted] == size)]
        for start in range(0, len(rows), step):
            part = rows[start : start + step]
            ends = _count_all(grid[part, :many], size, draws, seed, alpha)
            tested.p[part], tested.low[part], tested.high[part] = ends
    drawn = np.flatnonzero(changed >= few)
    for start in range(0, len(drawn), step):
        part = drawn[start : start + step]
        ends = _draw(grid[part, : int(changed[part].max())], n[part], draws, seed, alpha)
        tested.p[part], tested.low[part], tested.high[part] = ends
    if alpha is not None and grid.size:
        same = np.abs(grid[:, 0] - grid[np.arange(len(grid)), np.maximum(n - 1, 0)]) <= 2.0
        untold = same | (2.0 ** (1 - changed) > alpha)
        tested.low[untold] = tested.high[untold] = np.nan
    return tested


def _grid(differences: Floats) -> tuple[Floats, Floats]:
    """Each row with a sum of 0 or more, from its largest difference to its smallest, zeros last; and its scale.

    They become whole numbers on a grid so fine that every sum of them is exact in a double, in whatever order a
    machine adds; sums that are equal on paper then differ by one for each difference at most.
    """
    known = np.where(np.isfinite(differences), differences, 0.0)
    known[np.abs(known) <= TIE] = 0.0
    turn = np.where(known.sum(axis=1) < 0, -1.0, 1.0)
    known *= turn[:, None]
    order = np.lexsort((known, -np.abs(known)), axis=1)
    sorted_rows = np.take_along_axis(known, order, axis=1)
    changed = np.count_nonzero(sorted_rows, axis=1)
    most = np.abs(sorted_rows[:, 0]) if differences.shape[1] else np.zeros(len(known))
    most = np.where(most > 0, most, 1.0)
    unit = np.ldexp(1.0, 52 - np.frexp(np.maximum(changed, 1).astype(np.float64))[1])
    return np.rint(sorted_rows / most[:, None] * unit[:, None]), turn * most / unit


def _count(total: Floats, sums: Floats, changed: Ints) -> Ints:
    """How many of the flipped sums lie at least as far from zero as the seen one."""
    reach = np.abs(total) - changed
    count: Ints = np.count_nonzero(np.abs(sums) >= reach[:, None], axis=1)
    return count


def _count_all(
    grid: Floats, n: int, draws: int, seed: int, alpha: float | None
) -> tuple[Floats, Floats | float, Floats | float]:
    """p and ends with all ways to put the signs of these places; those of the n questions beyond them are drawn."""
    places = grid.shape[1]
    ways = _half_of_all_signs(places)
    total, sums = grid.sum(axis=1), grid @ ways.T
    p = _count(total, sums, np.count_nonzero(grid, axis=1)) / float(len(ways))
    if alpha is None:
        return p, np.nan, np.nan
    signs = ways.sum(axis=1)
    if n > places:
        often = -(-draws // len(ways))
        sums, signs = np.tile(sums, (1, often)), np.tile(signs, often)
        signs += _sign_sums(n - places, len(signs), seed)
        signs[0] = -n  # the seen way is one of them
    fewest = fewest_flips(alpha, len(signs), 0)
    return p, *inverted(total, np.array([n]), sums, signs[None], p, fewest, alpha)


def _draw(
    grid: Floats, n: Ints, draws: int, seed: int, alpha: float | None
) -> tuple[Floats, Floats | float, Floats | float]:
    """p and ends with signs drawn."""
    sums, signs = np.empty((len(grid), draws)), np.empty((len(grid), draws))
    is_changed = (grid != 0).astype(np.float64)
    done = 0
    for some in drawn_signs(grid.shape[1], draws, seed):
        part = slice(done, done + len(some))
        sums[:, part] = grid @ some.T
        if alpha is not None:
            signs[:, part] = is_changed @ some.T
        done += len(some)
    changed = np.count_nonzero(grid, axis=1)
    total = grid.sum(axis=1)
    p = (_count(total, sums, changed) + 1) / (draws + 1.0)
    if alpha is None:
        return p, np.nan, np.nan
    for ties in np.unique(n - changed).tolist():
        signs[n - changed == ties] += _sign_sums(ties, draws, seed)
    return p, *inverted(total, n, sums, signs, p, fewest_flips(alpha, draws, 1), alpha)


def _sign_sums(places: int, draws: int, seed: int) -> Floats:
    """The sum of so many random signs, for each draw."""
    if not places:
        return np.zeros(draws)
    words = -(-places // 64)
    raw = np.random.PCG64([seed, places]).random_raw(draws * words).reshape(draws, words)
    raw[:, -1] >>= np.uint64(64 * words - places)
    sums: Floats = 2.0 * np.bitwise_count(raw).sum(axis=1, dtype=np.int64) - places
    return sums


def _half_of_all_signs(places: int) -> Floats:
    """All ways in which the last sign is -; the others are their mirror images, with the same distance from zero."""
    ways = np.arange(2 ** (places - 1), dtype=np.int64)
    return _signs((ways[:, None] >> np.arange(places)) & 1)


def drawn_signs(places: int, draws: int, seed: int) -> Iterator[Floats]:
    """Draws x places of +1 and -1, some draws at a time.

    A bit each of the raw stream of PCG64, which numpy keeps fixed; those of a place do not change when places are
    added behind it.
    """
    words = -(-draws // 64)
    raw = np.asarray(np.random.PCG64(seed).random_raw(places * words), "<u8").view(np.uint8).reshape(places, words * 8)
    size = max(8, min(2048, SUMS // max(places, 1)) // 8 * 8)
    for start in range(0, draws, size):
        end = min(start + size, draws)
        bits = np.unpackbits(raw[:, start // 8 : -(-end // 8)], axis=1, bitorder="little")[:, : end - start]
        yield _signs(bits.T)


def _signs(bits: NDArray[np.integer[Any]]) -> Floats:
    signs: Floats = np.ascontiguousarray(bits, np.float64)
    signs *= 2.0
    signs -= 1.0
    return signs
