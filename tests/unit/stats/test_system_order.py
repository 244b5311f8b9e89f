"""Kendall's tau of systems by hand, and when it says nothing."""

import numpy as np
import pytest

from karat.stats.system_order import chance_of_order, kendall_tau, tau_interval

NAN = np.nan


def test_tau_by_hand():
    # of 6 pairs of 4 systems one is turned round: (5 - 1) / 6
    assert kendall_tau(np.array([0.1, 0.2, 0.3, 0.4]), np.array([1.0, 2, 4, 3])) == pytest.approx(4 / 6)
    # a tie in the second: 5 of 6 pairs the same, sqrt(6 x 5) below
    assert kendall_tau(np.array([0.1, 0.2, 0.3, 0.4]), np.array([1.0, 2, 3, 3])) == pytest.approx(5 / 30**0.5)


def test_two_systems_are_ordered_alike_or_not():
    assert kendall_tau(np.array([0.1, 0.2]), np.array([3.0, 4])) == 1
    assert kendall_tau(np.array([0.1, 0.2]), np.array([4.0, 3])) == -1


def test_tau_is_undefined_of_one_system_and_where_one_ties_all():
    assert kendall_tau(np.array([0.1]), np.array([3.0])) is None
    assert kendall_tau(np.array([0.1, 0.2]), np.array([3.0, 3.0])) is None


def test_means_that_differ_in_the_last_bit_are_tied():
    same = np.array([0.1 + 0.2, 0.3, 0.5])
    assert kendall_tau(same, np.array([1.0, 2, 3])) == pytest.approx(2 / (2 * 3) ** 0.5)


def test_the_interval_needs_three_systems_and_ten_questions():
    draw = np.random.default_rng(0)
    values = draw.random((3, 12)) + np.array([[0.0], [0.3], [0.6]])
    low, high = tau_interval(values, values + 0.05 * draw.random((3, 12)))
    assert 0 < low <= high == 1
    assert tau_interval(values[:2], values[:2]) is None
    assert tau_interval(values[:, :9], values[:, :9]) is None
    assert tau_interval(values, np.where(np.arange(12) < 4, NAN, values)) is None
    assert tau_interval(values, values) == tau_interval(values, values)


def test_the_chance_of_an_order():
    assert [chance_of_order(n) for n in (1, 2, 3)] == [1, 1, pytest.approx(1 / 3)]
    assert chance_of_order(500) == 0
