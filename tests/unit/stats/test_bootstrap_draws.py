import hashlib

import numpy as np
import pytest

from karat.stats import bootstrap
from karat.stats.bootstrap import acceleration, bca_intervals, bias


def test_acceleration_by_hand():
    # mean 1, deviations -1 -1 2: cubes -1 -1 8 = 6, squares 6; 6 / (6 * 6^1.5)
    assert acceleration(np.array([[0.0, 0.0, 3.0]]))[0] == pytest.approx(6**-1.5)
    assert acceleration(np.array([[0.0, 1.0]]))[0] == 0


def shift(sums, observed, tolerance):
    return bias(np.array([sums], np.float32), np.array([observed], np.float32), tolerance)[0]


def test_bias_counts_a_tie_half():
    # below 1, equal 2, above 1: (1 + 3) / 8 = one half, whose normal quantile is 0
    assert shift([1.0, 2.0, 2.0, 3.0], 2.0, 0.0) == 0
    # below 3 of 4: (3 + 3) / 8 = .75
    assert shift([1.0, 1.0, 1.0, 3.0], 2.0, 0.0) == pytest.approx(0.6744897501960817)


def test_bias_takes_sums_within_the_tolerance_for_ties():
    assert shift([1.0, 2.0, 2.4, 3.0], 2.0, 0.5) == 0
    assert shift([1.0, 2.0, 2.4, 3.0], 2.0, 0.0) < 0


def test_two_values_reach_from_one_to_the_other():
    low, high = bca_intervals(np.array([[0.0, 1.0]]))
    assert (low[0], high[0]) == (0.0, 1.0)


def test_a_column_depends_on_its_own_values_only():
    rng = np.random.default_rng(3)
    many = rng.random((700, 31))  # more than one block of rows
    together = bca_intervals(many)
    for row in (0, 511, 512, 699):
        alone = bca_intervals(many[row : row + 1])
        assert alone[0][0] == together[0][row]
        assert alone[1][0] == together[1][row]
    shuffled = bca_intervals(rng.permuted(many, axis=1))
    np.testing.assert_array_equal(shuffled, together)


def test_chunks_of_draws_change_nothing(monkeypatch):
    values = np.random.default_rng(3).random((5, 40))
    whole = bca_intervals(values)
    monkeypatch.setattr(bootstrap, "COUNTS_BYTES", 4 * 40 * 1000)
    monkeypatch.setattr(bootstrap, "ROWS", 2)
    np.testing.assert_array_equal(bca_intervals(values), whole)


def test_scale_and_shift_carry_over():
    values = np.random.default_rng(5).random((1, 50)) ** 2
    low, high = bca_intervals(values)
    moved = bca_intervals(values * 200 - 70)
    assert moved[0][0] == pytest.approx(low[0] * 200 - 70, abs=1e-9)
    assert moved[1][0] == pytest.approx(high[0] * 200 - 70, abs=1e-9)


def test_the_same_bytes_every_time():
    values = np.arange(60.0).reshape(3, 20) % 7
    low, high = bca_intervals(values)
    digest = hashlib.sha256(np.round([low, high], 12).tobytes()).hexdigest()
    assert digest == hashlib.sha256(np.round(bca_intervals(values), 12).tobytes()).hexdigest()
    assert bca_intervals(values, seed=1)[0].tolist() != low.tolist()
    # the stream itself is pinned: these are the first draws of seed 0
    counts = next(iter(bootstrap.drawn_counts(5, 3, 0)))
    assert counts.sum(axis=1).tolist() == [5, 5, 5]
    assert counts.tolist() == [[0, 2, 1, 1, 1], [4, 0, 0, 0, 1], [0, 0, 1, 2, 2]]
