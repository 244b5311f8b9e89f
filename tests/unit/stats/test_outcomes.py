"""Outcomes by sufficiency and selective accuracy, by hand and by brute force."""

from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.stats.intervals import wilson
from karat.stats.outcomes import outcome_table, selective_accuracy

NAN = float("nan")


def curve(right, confidence, n=None):
    sure = None if confidence is None else np.array([NAN if c is None else c for c in confidence])
    return selective_accuracy("s", np.array(right, float), sure, n=n or len(right), correct_by="rule")


def brute(right, confidence, n):
    """The mean over every order of the tied answers of the share right in the first j, and the area in steps."""
    sure = [-1.0 if c is None else c for c in confidence]
    orders = [o for o in permutations(range(len(right))) if all(sure[a] >= sure[b] for a, b in pairwise(o))]
    heights = [
        sum(sum(right[i] for i in order[:j]) / j for order in orders) / len(orders) for j in range(1, len(right) + 1)
    ]
    return heights, sum(height / n for height in heights)


def test_selective_accuracy_by_hand():
    # surest first: .9 right; .5 and .5 tie, one right; .1 wrong. 5 questions, 4 answered
    found = curve([0, 1, 0, 1], [0.1, 0.5, 0.5, 0.9], n=5)
    assert found.accuracy == pytest.approx((1, 1.5 / 2, 2 / 3, 2 / 4))
    assert found.area == pytest.approx((1 + 0.75 + 2 / 3 + 0.5) / 5)
    assert (found.n, found.answered, found.right, found.coverage) == (5, 4, 2, 0.8)


@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 1), st.sampled_from([0.0, 0.2, 0.7, 1.0, None])), min_size=1, max_size=6))
def test_selective_accuracy_is_the_mean_over_all_orders_of_ties(rows):
    right, confidence = zip(*rows, strict=True)
    found = curve(right, confidence, n=len(rows) + 2)
    heights, area = brute(right, confidence, len(rows) + 2)
    if all(c is None for c in confidence):
        assert found.accuracy == (sum(right) / len(right),)
        assert found.area is None
    else:
        assert found.accuracy == pytest.approx(heights)
        assert found.area == pytest.approx(area)
        assert found.n_without == confidence.count(None)
        assert found.accuracy[-1] == sum(right) / len(right)


def test_without_confidence_there_is_one_point_and_without_answers_none():
    for confidence in (None, [None, None]):
        found = curve([1, 0], confidence, n=4)
        assert (found.accuracy, found.area, found.coverage) == ((0.5,), None, 0.5)
    empty = curve([], [], n=3)
    assert (empty.answered, empty.accuracy, empty.area, empty.coverage) == (0, (), None, 0.0)
    assert curve([], [], n=0).coverage == 0.0


def test_none_right_is_a_curve_of_zeros():
    found = curve([0, 0], [0.9, 0.1])
    assert (found.accuracy, found.area, found.right) == ((0.0, 0.0), 0.0, 0)


def test_outcomes_are_counted_by_sufficiency():
    enough = np.array([1, 1, 1, 1, 0, 0, 0, NAN, 1, NAN])
    outcome = np.array([1, 1, 0, -1, 0, 0, -1, 1, NAN, NAN])
    found = outcome_table("s", enough, outcome, sufficient_by="a", outcome_by="b")
    counts = {row.sufficient: [one.n for one in row.shares] for row in found.rows}
    assert counts == {True: [2, 1, 1], False: [0, 2, 1], None: [1, 0, 0]}
    assert (found.n, found.n_left_out) == (8, 2)
    assert sum(row.n for row in found.rows) == found.n
    right = found.rows[0].shares[0]
    low, high = wilson(np.array([0.5]), np.array([4]))
    assert (right.share, right.low, right.high) == pytest.approx((0.5, low[0], high[0]))
    for row in found.rows:
        assert sum(one.share or 0 for one in row.shares) == pytest.approx(1)


def test_a_row_without_answers_has_no_share():
    found = outcome_table("s", np.ones(2), np.array([1.0, -1.0]), sufficient_by="a", outcome_by="b")
    assert [(row.sufficient, row.n) for row in found.rows] == [(True, 2), (False, 0)]
    assert {one.share for one in found.rows[1].shares} == {None}


def test_repeats_that_differ_go_to_the_nearer_outcome_and_halfway_to_none():
    enough = np.array([2 / 3, 1 / 3, 0.5, 1, 1, 1])
    outcome = np.array([1, 1, 1, 1 / 3, -2 / 3, -0.5])
    found = outcome_table("s", enough, outcome, sufficient_by="a", outcome_by="b")
    assert [[one.n for one in row.shares] for row in found.rows] == [[1, 1, 1], [1, 0, 0]]
    assert found.n_left_out == 2
