import hashlib

import numpy as np
import pytest

from karat.stats import bootstrap
from karat.stats.bootstrap import acceleration, bias, mean_interval


def test_acceleration_by_hand():
    # mean 1, deviations -1 -1 2: cubes -1 -1 8 = 6, squares 6; 6 / (6 * 6^1.5)
    assert acceleration(np.array([[0.0, 0.0, 3.0]]))[0] == pytest.approx(6**-1.5)
    assert acceleration(np.array([[0.0, 1.0]]))[0] == 0


def test_bias_counts_a_tie_half():
    # below 1, equal 2, above 1: (1 + 3) / 8 = one half, whose normal quantile is 0
    assert bias(np.array([[1.0, 2.0, 2.0, 3.0]]), np.array([2.0]), 0.0)[0] == 0
    # below 3 of 4: (3 + 3) / 8 = .75
    assert bias(np.array([[1.0, 1.0, 1.0, 3.0]]), np.array([2.0]), 0.0)[0] == pytest.approx(0.6744897501960817)


def test_bias_takes_sums_within_the_tolerance_for_ties():
    sums = np.array([[1.0, 2.0, 2.4, 3.0]])
    assert bias(sums, np.array([2.0]), 0.5)[0] == 0
    assert bias(sums, np.array([2.0]), 0.0)[0] < 0


def test_two_values_reach_from_one_to_the_other():
    low, high = mean_interval(np.array([[0.0, 1.0]]))
    assert (low[0], high[0]) == (0.0, 1.0)


def test_constant_column_has_no_width_and_a_single_value_no_interval():
    low, high = mean_interval(np.array([[0.1, 0.1, 0.1], [0.0, 1.0, 0.5]]))
    assert (low[0], high[0]) == (0.1, 0.1)
    assert low[1] < 0.5 < high[1]
    assert np.isnan(mean_interval(np.array([[0.4]]))[0]).all()
    assert mean_interval(np.empty((0, 5)))[0].shape == (0,)


def test_a_column_depends_on_its_own_values_only():
    rng = np.random.default_rng(3)
    many = rng.random((700, 31))  # more than one block of columns
    together = mean_interval(many)
    for row in (0, 511, 512, 699):
        alone = mean_interval(many[row : row + 1])
        assert alone[0][0] == together[0][row]
        assert alone[1][0] == together[1][row]
    shuffled = mean_interval(rng.permuted(many, axis=1))
    np.testing.assert_array_equal(shuffled, together)


def test_chunks_of_draws_change_nothing(monkeypatch):
    values = np.random.default_rng(3).random((5, 40))
    whole = mean_interval(values)
    monkeypatch.setattr(bootstrap, "COUNTS_BYTES", 8 * 40 * 1000)
    monkeypatch.setattr(bootstrap, "COLUMNS", 2)
    np.testing.assert_array_equal(mean_interval(values), whole)


def test_scale_and_shift_carry_over():
    values = np.random.default_rng(5).random((1, 50)) ** 2
    low, high = mean_interval(values)
    moved = mean_interval(values * 200 - 70)
    assert moved[0][0] == pytest.approx(low[0] * 200 - 70)
    assert moved[1][0] == pytest.approx(high[0] * 200 - 70)


def test_the_same_bytes_every_time():
    values = np.arange(60.0).reshape(3, 20) % 7
    low, high = mean_interval(values)
    digest = hashlib.sha256(np.round([low, high], 12).tobytes()).hexdigest()
    assert digest == hashlib.sha256(np.round(mean_interval(values), 12).tobytes()).hexdigest()
    assert mean_interval(values, seed=1)[0].tolist() != low.tolist()
    # the stream itself is pinned: these are the first draws of seed 0
    counts = next(iter(bootstrap.drawn_counts(5, 3, 0)))
    assert counts.sum(axis=1).tolist() == [5, 5, 5]
    assert counts.tolist() == [[0, 2, 1, 1, 1], [4, 0, 0, 0, 1], [0, 0, 1, 2, 2]]


def test_coverage_is_near_the_nominal():
    rng = np.random.default_rng(11)
    samples = (rng.random((400, 60)) < 0.35).astype(float)
    low, high = mean_interval(samples, draws=2000)
    covered = ((low <= 0.35) & (high >= 0.35)).mean()
    assert 0.91 < covered < 0.99
