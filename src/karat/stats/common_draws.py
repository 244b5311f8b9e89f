"""Common draws: the sign-flip test and the interval of many pairs of systems at once, from draws that all share.

Both are linear in the scores. With the signs s of a draw, the sum of s (b - a) is the sum of s b less the sum of s a,
and the same holds for how often a bootstrap draws each question. So one matrix product, draws x questions by questions
x systems, serves all pairs of all measures, and a pair costs a subtraction. What comes out are the paired sign-flip
test of `permutation.sign_flip` and the BCa interval of `bootstrap.mean_interval`, as wide as Student's
(`bootstrap.student_level`), with draws that go by the place of a question instead of by the size of its difference:
give the questions in an order of their own, such as that of their ids, and p and interval do not depend on the order
of a file, nor on the other systems.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from karat.stats.bootstrap import acceleration, bca_ends, drawn_counts, known_intervals, student_level
from karat.stats.permutation import DRAWS, TIE, drawn_signs, sign_flip

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Bools = NDArray[np.bool_]

INTERVAL_DRAWS = 10_000
_HELD = 2**21  # numbers of one step
_SUMS = 2**26  # numbers of the sums of all draws


@dataclass(frozen=True)
class Drawn:
    """p of the sign-flip test and the ends of the 95% interval, each measures x pairs; NaN where there is no end."""

    p: Floats
    low: Floats
    high: Floats


def drawn_pairs(
    values: Floats, pairs: Sequence[tuple[int, int]], *, draws: int = DRAWS, seed: int = 0, intervals: bool = True
) -> Drawn:
    """Test and interval of b - a for each pair (a, b) of systems; `values` are measures x systems x questions.

    What is not finite is no value. Pairs whose systems have values for the same questions are computed together, the
    others apart, each over the questions that both have.
    """
    if draws < 1:
        raise ValueError(f"draws={draws}: a test needs 1 or more")
    measures, many = len(values), len(pairs)
    made = Drawn(np.ones((measures, many)), *(np.full((measures, many), np.nan) for _ in range(2)))
    if not many or not measures:
        return made
    first, second = np.array(pairs, np.int64).T
    group, masks = _groups(np.isfinite(values))
    alike = group[:, first] == group[:, second]
    for number, mask in enumerate(masks):
        wanted = alike & (group[:, first] == number)
        if wanted.any() and mask.any():
            _together(values[:, :, mask], wanted, first, second, made, draws, seed, intervals)
    for measure, row in enumerate(~alike):
        chosen = np.flatnonzero(row)
        for start in range(0, len(chosen), max(1, _HELD // max(values.shape[2], 1))):
            some = chosen[start : start + max(1, _HELD // max(values.shape[2], 1))]
            apart = differences(values[measure], first[some], second[some])
            made.p[measure, some] = sign_flip(apart, draws=draws, seed=seed)
            if intervals:
                made.low[measure, some], made.high[measure, some] = known_intervals(apart, seed=seed, student=True)
    return made


def differences(values: Floats, first: Ints, second: Ints) -> Floats:
    """b - a of each pair over systems x questions, NaN where one of the two has no value."""
    with np.errstate(invalid="ignore"):
        found = np.asarray(values[second] - values[first], np.float64)
    found[~np.isfinite(found)] = np.nan
    return found


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
    values: Floats, wanted: Bools, first: Ints, second: Ints, made: Drawn, draws: int, seed: int, intervals: bool
) -> None:
    """The pairs of systems that all have a value for every question, as many measures at a time as memory holds."""
    systems, n = values.shape[1:]
    size = max(1, _SUMS // (systems * max(draws, INTERVAL_DRAWS)))
    asked = np.flatnonzero(wanted.any(axis=1))
    for start in range(0, len(asked), size):
        part = asked[start : start + size]
        grids, units = _grids(values[part])
        flat = grids.reshape(-1, n)
        signed = _sums(flat, drawn_signs(n, draws, seed), draws).reshape(len(part), systems, draws)
        for number, measure in enumerate(part.tolist()):
            chosen = np.flatnonzero(wanted[measure])
            made.p[measure, chosen] = _tests(
                values[measure], grids[number], signed[number], first[chosen], second[chosen], draws, seed
            )
        del signed
        if not intervals or n < 2:
            continue
        counted = _sums(flat, drawn_counts(n, INTERVAL_DRAWS, seed), INTERVAL_DRAWS)
        counted = counted.reshape(len(part), systems, INTERVAL_DRAWS)
        for number, measure in enumerate(part.tolist()):
            chosen = np.flatnonzero(wanted[measure])
            made.low[measure, chosen], made.high[measure, chosen] = _intervals(
                grids[number], units[number], counted[number], first[chosen], second[chosen]
            )


def _grids(values: Floats) -> tuple[Floats, Floats]:
    """The values of each measure as whole numbers so fine that every sum of differences is exact in a double.

    What has no value stands as 0: such a system is in no pair of this group.
    """
    known = np.where(np.isfinite(values), values, 0.0)
    most = np.abs(known).max(axis=(1, 2))
    units = np.ldexp(1.0, 51 - int(values.shape[2]).bit_length()) / np.where(most > 0, most, 1.0)
    return np.rint(known * units[:, None, None]), units


def _sums(flat: Floats, drawn: Iterator[Floats], draws: int) -> Floats:
    """For each row of `flat` and each draw the sum of the row's values times what was drawn."""
    made = np.empty((len(flat), draws))
    done = 0
    for some in drawn:
        np.matmul(flat, some.T, out=made[:, done : done + len(some)])
        done += len(some)
    return made


def _tests(values: Floats, grid: Floats, sums: Floats, first: Ints, second: Ints, draws: int, seed: int) -> Floats:
    """p of each pair; where there are no more ways to put the signs than draws, they are all counted."""
    n = grid.shape[1]
    p = np.ones(len(first))
    total = grid.sum(axis=1)
    reach = np.abs(total[second] - total[first]) - 2.0 * n
    step = max(1, _HELD // max(draws, n))
    for start in range(0, len(first), step):
        part = slice(start, start + step)
        apart = sums[second[part]]
        apart -= sums[first[part]]
        np.abs(apart, out=apart)
        p[part] = (np.count_nonzero(apart >= reach[part, None], axis=1) + 1) / (draws + 1)
        rows = differences(values, first[part], second[part])
        few = np.flatnonzero(np.count_nonzero(np.abs(rows) > TIE, axis=1) < draws.bit_length())
        if len(few):
            p[start + few] = sign_flip(rows[few], draws=draws, seed=seed)
    return p


def _intervals(grid: Floats, unit: float, sums: Floats, first: Ints, second: Ints) -> tuple[Floats, Floats]:
    """The ends of each pair; where all differences are the same, both are the mean."""
    n = grid.shape[1]
    low, high = np.empty(len(first)), np.empty(len(first))
    tail = (1 - student_level(n)) / 2
    step = max(1, _HELD // max(sums.shape[1], n))
    for start in range(0, len(first), step):
        part = slice(start, start + step)
        rows = grid[second[part]] - grid[first[part]]
        least, most, total = rows.min(axis=1), rows.max(axis=1), rows.sum(axis=1)
        varied = most - least > 2.0
        ends = (total / n, total / n)
        if varied.any():
            apart = sums[second[part][varied]]
            apart -= sums[first[part][varied]]
            skew = acceleration(rows[varied])
            for end, found in zip(ends, bca_ends(apart, total[varied], skew, 2.0 * n, tail), strict=True):
                end[varied] = np.clip(found / n, least[varied], most[varied])
        low[part], high[part] = ends[0] / unit, ends[1] / unit
    return low, high
