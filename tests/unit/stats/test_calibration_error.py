import numpy as np
import pytest

from karat.results.calibration import Bin
from karat.stats.calibration_error import brier, expected_calibration_error, reliability


def test_bins_are_weighted_by_their_size():
    # .95 with 3 of 4 right: .2 off; .15 with 0 of 1: .15 off; (4 * .2 + 1 * .15) / 5
    sure, right = np.array([0.95, 0.95, 0.95, 0.95, 0.15]), np.array([1.0, 1, 1, 0, 0])
    bins = reliability(sure, right)
    assert [(b.low, b.high, b.n, b.accuracy) for b in bins] == [(0.1, 0.2, 1, 0.0), (0.9, 1.0, 4, 0.75)]
    assert expected_calibration_error(bins) == pytest.approx(0.19)


def test_an_edge_belongs_to_the_higher_bin_and_one_to_the_last():
    bins = reliability(np.array([0.0, 0.3, 0.7, 1.0]), np.ones(4))
    assert [b.low for b in bins] == [0.0, 0.3, 0.7, 0.9]


def test_bins_of_equal_mass_never_part_equal_confidences():
    sure = np.array([0.1] * 7 + [0.5, 0.6, 0.9])
    bins = reliability(sure, np.zeros(10), bins=5, by="mass")
    assert [b.n for b in bins] == [7, 1, 2]
    assert bins[0] == Bin(low=0.1, high=0.1, n=7, confidence=pytest.approx(0.1), accuracy=0.0)
    even = reliability(np.arange(100) / 100, np.zeros(100), by="mass")
    assert [b.n for b in even] == [10] * 10


def test_the_order_of_answers_changes_nothing():
    rng = np.random.default_rng(2)
    sure, right = rng.random(50).round(1), (rng.random(50) < 0.5).astype(float)
    turn = rng.permutation(50)
    for by in ("width", "mass"):
        one = expected_calibration_error(reliability(sure, right, by=by))
        assert expected_calibration_error(reliability(sure[turn], right[turn], by=by)) == pytest.approx(one)


def test_brier_by_hand():
    assert brier(np.array([0.8, 0.4]), np.array([1.0, 0.0])) == pytest.approx((0.04 + 0.16) / 2)
