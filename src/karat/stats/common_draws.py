"""Common draws: the sign-flip test and its interval of many pairs of systems at once, from draws that all share.

A flipped sum is linear in the scores: with the signs s of a draw, the sum of s (b - a) is the sum of s b less the sum
of s a. So one matrix product, draws x questions by questions x systems, serves all pairs of all measures, and a pair
costs a subtraction. What comes out are the test and the interval of `permutation.flip_test`, with draws that go by the
place of a question instead of by the size of its difference: give the questions in an order of their own, such as that
of their ids, and p and interval do not depend on the order of a file, nor on the other systems.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from karat.stats.permutation import ALPHA, DRAWS, TIE, Flipped, drawn_signs, fewest_flips, flip_test, inverted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Bools = NDArray[np.bool_]

_HELD = 2**18  # numbers of one step
_SUMS = 2**26  # numbers of the sums of all draws


def drawn_pairs(
    values: Floats,
    pairs: Sequence[tuple[int, int]],
    *,
    draws: int = DRAWS,
    seed: int = 0,
    alpha: float | None = ALPHA,
) -> Flipped:
    """Test and interval of b - a for each pair (a, b) of systems, each measures x pairs.

    `values` are measures x systems x questions; `alpha` None leaves the intervals out. What is not finite is no value.
    Pairs whose systems have values for the same questions are computed together, the others apart, each over the
    questions that both have.
    """
    if draws < 1:
        raise ValueError(f"draws={draws}: a test needs 1 or more")
    measures, many = len(values), len(pairs)
    made = Flipped.of_nothing(measures, many)
    if not many or not measures:
        return made
    first, second = np.array(pairs, np.int64).T
    group, masks = _groups(np.isfinite(values))
    alike = group[:, first] == group[:, second]
    for number, mask in enumerate(masks):
        wanted = alike & (group[:, first] == number)
        if wanted.any() and mask.any():
            _together(values[:, :, mask], wanted, first, second, made, draws, seed, alpha)
    for measure, row in enumerate(~alike):
        chosen = np.flatnonzero(row)
        for start in range(0, len(chosen), max(1, _HELD // max(values.shape[2], 1))):
            some = chosen[start : start + max(1, _HELD // max(values.shape[2], 1))]
            apart = differences(values[measure], first[some], second[some])
            _put(made, measure, some, flip_test(apart, draws=draws, seed=seed, alpha=alpha))
    return made


def differences(values: Floats, first: Ints, second: Ints) -> Floats:
    """b - a of each pair over systems x questions, NaN where one of the two has no value."""
    with np.errstate(invalid="ignore"):
        found = np.asarray(values[second] - values[first], np.float64)
    found[~np.isfinite(found)] = np.nan
    return found


def _put(made: Flipped, measure: int, chosen: Ints, tested: Flipped) -> None:
    made.p[measure, chosen], made.low[measure, chosen], made.high[measure, chosen] = tested.p, tested.low, tested.high


def _groups(known: Bools) -> tuple[Ints, list[Bools]]:
    """Which questions each system has a value for by each measure: the number of that set, and the sets."""
    rows = known.reshape(-1, known.shape[2])
    packed = np.packbits(rows, axis=1)
    numbers: dict[bytes, int] = {}
    masks: list[Bools] = []
    group = np.empty(len(rows), np.int64)
    for row, key in enumerate(packed):
        number = numbers.setdefault(key.tobytes(), len(masks))
        if number == len(masks):
            masks.append(rows[row])
        group[row] = number
    return group.reshape(known.shape[:2]), masks


def _together(
    values: Floats,
    wanted: Bools,
    first: Ints,
    second: Ints,
    made: Flipped,
    draws: int,
    seed: int,
    alpha: float | None,
) -> None:
    """The pairs of systems that all have a value for every question, as many measures at a time as memory holds."""
    systems, n = values.shape[1:]
    size = max(1, _SUMS // (systems * draws))
    asked = np.flatnonzero(wanted.any(axis=1))
    for start in range(0, len(asked), size):
        part = asked[start : start + size]
        grids, units = _grids(values[part])
        flat = np.vstack([grids.reshape(-1, n), np.ones(n)])
        *drawn, signs = np.split(_sums(flat, drawn_signs(n, draws, seed), draws), range(systems, len(flat), systems))
        step = max(1, _HELD // max(draws, n))
        for grid, unit, sums, measure in zip(grids, units.tolist(), drawn, part.tolist(), strict=True):
            chosen = np.flatnonzero(wanted[measure])
            for begin in range(0, len(chosen), step):
                some = chosen[begin : begin + step]
                tested = _tests(
                    values[measure], grid.sum(axis=1), sums, signs, first[some], second[some], unit, seed, alpha
                )
                _put(made, measure, some, tested)


def _grids(values: Floats) -> tuple[Floats, Floats]:
    """The values of each measure as whole numbers so fine that every sum of differences is exact in a double.

    What has no value stands as 0: such a system is in no pair of this group.
    """
    known = np.where(np.isfinite(values), values, 0.0)
    most = np.abs(known).max(axis=(1, 2))
    units = np.ldexp(1.0, 51 - int(values.shape[2]).bit_length()) / np.where(most > 0, most, 1.0)
    return np.rint(known * units[:, None, None]), units


def _sums(flat: Floats, signs: Iterator[Floats], draws: int) -> Floats:
    """For each row of `flat` and each draw the sum of the row's values times the signs of the draw."""
    made = np.empty((len(flat), draws))
    done = 0
    for some in signs:
        np.matmul(flat, some.T, out=made[:, done : done + len(some)])
        done += len(some)
    return made


def _tests(
    values: Floats,
    total: Floats,
    sums: Floats,
    signs: Floats,
    first: Ints,
    second: Ints,
    unit: float,
    seed: int,
    alpha: float | None,
) -> Flipped:
    """Test and interval of each pair by the sums of its systems, seen and flipped, which are on a grid of 1 / `unit`.

    Where there are no more ways to put the signs than draws, they are all counted.
    """
    n, draws = values.shape[1], sums.shape[1]
    tested = Flipped.of_nothing(len(first))
    seen, apart = total[second] - total[first], sums[second] - sums[first]
    reached = np.count_nonzero(np.abs(apart) >= np.abs(seen)[:, None] - 2.0 * n, axis=1)
    tested.p[:] = (reached + 1) / (draws + 1)
    rows = differences(values, first, second)
    if alpha is not None:
        fewest = fewest_flips(alpha, draws, 1)
        ends = inverted(seen, np.array([n]), apart, signs, tested.p, fewest, alpha)
        told = np.ptp(rows, axis=1) > TIE
        tested.low[told], tested.high[told] = (end[told] / unit for end in ends)
    few = np.flatnonzero(np.count_nonzero(np.abs(rows) > TIE, axis=1) < draws.bit_length())
    if len(few):
        counted = flip_test(rows[few], draws=draws, seed=seed, alpha=alpha)
        tested.p[few], tested.low[few], tested.high[few] = counted.p, counted.low, counted.high
    return tested
