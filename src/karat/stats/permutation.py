"""Permutation: the paired sign-flip test of a mean difference, two-sided, for many pairs at once.

If two systems were the same, each difference could as well have had the other sign. p is the share of ways to put the
signs whose sum lies as far from zero as the one that was seen. Where there are no more ways than draws they are all
counted, the seen one among them, and p = count / ways; else signs are drawn and p = (count + 1) / (draws + 1).
`scipy.stats.permutation_test(permutation_type="samples")` gives the same where all ways are counted; where it draws it
counts one side, adds 1 and doubles.

Questions without a difference change no sum and are left out. The others stand in order of size, and the draws for a
place are the same for every pair. So p depends on the differences of its own pair, the draws and the seed: not on the
other pairs, the order of the questions, the machine, or which of the two is called the first.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

DRAWS = 10_000
TIE = 1e-12  # two values no farther apart than this are equal
SUMS = 2**20  # held at once


def sign_flip(differences: Floats, *, draws: int = DRAWS, seed: int = 0) -> Floats:
    """p for each row of `differences` (pairs x questions); what is not finite is left out of its pair.

    A pair without any difference, or without a question, has p = 1: nothing speaks against the two being the same.
    """
    if draws < 1:
        raise ValueError(f"draws={draws}: a test needs 1 or more")
    every, place = np.unique(_grid(differences), axis=0, return_inverse=True)
    return _tested(every, draws, seed)[place]


def _tested(grid: Floats, draws: int, seed: int) -> Floats:
    changed = np.count_nonzero(grid, axis=1)
    p = np.ones(len(grid))
    exact = changed < int(draws).bit_length()  # 2^changed <= draws
    for many in np.unique(changed[exact & (changed > 0)]).tolist():
        rows = np.flatnonzero(changed == many)
        p[rows] = _count(grid[rows, :many], _half_of_all_signs(many), float(many)) / 2.0 ** (many - 1)
    rows = np.flatnonzero(~exact)
    if len(rows):
        most = int(changed[rows].max())
        tolerance = changed[rows].astype(np.float64)
        p[rows] = (_count(grid[rows, :most], drawn_signs(most, draws, seed), tolerance) + 1) / (draws + 1)
    return p


def _grid(differences: Floats) -> Floats:
    """Each row from its largest difference to its smallest, zeros last.

    They become whole numbers on a grid so fine that every sum of them is exact in a double, in whatever order a
    machine adds; sums that are equal on paper then differ by one for each difference at most.
    """
    known = np.where(np.isfinite(differences), differences, 0.0)
    size = np.abs(known)
    known[size <= TIE] = 0.0
    order = np.argsort(-np.abs(known), axis=1, kind="stable")
    sorted_rows = np.take_along_axis(known, order, axis=1)
    changed = np.count_nonzero(sorted_rows, axis=1)
    most = np.abs(sorted_rows[:, :1]) if differences.shape[1] else np.zeros((len(known), 1))
    bits = np.frexp(np.maximum(changed, 1).astype(np.float64))[1]
    unit = np.ldexp(1.0, 52 - bits)[:, None]
    grid: Floats = np.rint(sorted_rows / np.where(most > 0, most, 1.0) * unit)
    return grid


def _count(grid: Floats, signs: Iterator[Floats], tolerance: Floats | float) -> Ints:
    """How many of the signs put the sum of each row at least as far from zero as it is."""
    reach = np.abs(grid.sum(axis=1)) - tolerance
    count = np.zeros(len(grid), np.int64)
    for some in signs:
        step = max(1, SUMS // len(some))
        for start in range(0, len(grid), step):
            part = slice(start, start + step)
            sums = some @ grid[part].T
            np.abs(sums, out=sums)
            count[part] += np.count_nonzero(sums >= reach[part], axis=0)
    return count


def _half_of_all_signs(places: int) -> Iterator[Floats]:
    """All ways in which the last sign is -; the others are their mirror images, with the same distance from zero."""
    ways = np.arange(2 ** (places - 1), dtype=np.int64)
    yield _signs((ways[:, None] >> np.arange(places)) & 1)


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
