"""Signs: + or - at random for each place and draw, the same on every machine, and sums under them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from karat.io.threads import threads_for
from karat.stats.arrays import Floats

SUMS = 2**20  # numbers held at once
_BITS = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little")
_SIGNS_OF_BYTE: Floats = _BITS.astype(np.float64) * 2.0 - 1.0


def flipped_sums(rows: Floats, draws: int, seed: int) -> Floats:
    """For each row and each draw the sum of the row's values times the signs of the draw."""
    sums = np.empty((len(rows), draws))
    done = 0
    with threads_for(rows.size * _draws_at_once(rows.shape[1])):
        for some in drawn_signs(rows.shape[1], draws, seed):
            np.matmul(rows, some.T, out=sums[:, done : done + len(some)])
            done += len(some)
    return sums


def sign_sums(places: int, draws: int, seed: int) -> Floats:
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
