"""Dominance of points: by hand, and the laws that any front keeps."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.stats.pareto import dominance

FIGURES = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=1, max_size=12)


def front(values, costs, **how):
    return np.flatnonzero(~dominance(np.array(values, float), np.array(costs, float), **how).any(axis=1)).tolist()


@pytest.mark.parametrize(
    ("values", "costs", "expected"),
    [
        ([0.5, 0.7, 0.6, 0.9], [1, 2, 3, 4], [0, 1, 3]),
        ([0.9, 0.7, 0.5], [1, 2, 3], [0]),
        ([0.5, 0.5, 0.7], [1, 1, 2], [0, 1, 2]),  # equal points are both on the front
        ([0.5, 0.6], [1, 1], [1]),  # the same cost: the better
        ([0.5, 0.5], [1, 2], [0]),  # the same value: the cheaper
        ([0.1 + 0.2, 0.3], [1, 1], [0, 1]),  # rounding alone sets them apart
        ([0.4], [0.0], [0]),
    ],
)
def test_fronts_by_hand(values, costs, expected):
    assert front(values, costs) == expected


def test_of_some_measures_less_is_better():
    assert front([0.5, 0.2, 0.6], [1, 2, 3], higher_is_better=False) == [0, 1]


def test_nothing_has_no_front():
    assert front([], []) == []


@given(FIGURES)
def test_a_point_is_on_the_front_or_a_point_of_the_front_dominates_it(points):
    values, costs = map(list, zip(*points, strict=True))
    on = front(values, costs)
    beaten = dominance(np.array(values, float), np.array(costs, float))
    for i in range(len(points)):
        assert (i in on) != any(beaten[i, j] for j in on)
        assert not any(beaten[i, j] and beaten[j, i] for j in range(len(points)))


@given(FIGURES, st.randoms(use_true_random=False))
def test_order_scale_and_dominated_points_change_nothing(points, random):
    values, costs = map(list, zip(*points, strict=True))
    on = {points[i] for i in front(values, costs)}
    shuffled = random.sample(points, len(points))
    assert {shuffled[i] for i in front(*zip(*shuffled, strict=True))} == on
    assert {points[i] for i in front(values, [1000.0 * cost for cost in costs])} == on
    worse = (points[0][0] - 1, points[0][1] + 1)
    more = [*points, worse]
    assert {more[i] for i in front(*zip(*more, strict=True))} == on
