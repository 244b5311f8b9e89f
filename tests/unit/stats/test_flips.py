"""Flips of a judge, by hand."""

import pytest

from karat.stats.flips import Flips, flips


def test_three_numbers_by_hand():
    found = flips([[1, 1, 0], [0.5, 0.5, 0.5], [0, 1], [1], [None, 1]])
    assert found.rows == 3
    assert found.rate == pytest.approx(2 / 3)
    assert found.disagree == pytest.approx((2 + 0 + 1) / (3 + 3 + 1))
    assert found.spread == pytest.approx(((1 / 3) ** 0.5 + 0 + 0.5**0.5) / 3)


def test_a_failed_repeat_is_left_out_not_taken_for_a_flip():
    assert flips([[1, None, 1]]) == Flips(1, 0.0, 0.0, 0.0)


def test_without_repeats_there_is_no_rate():
    assert flips([[1], [None, None], []]) == Flips(0, None, None, None)


def test_the_last_digit_of_a_mean_is_no_flip():
    assert flips([[0.1 + 0.2, 0.3]]).rate == 0.0
