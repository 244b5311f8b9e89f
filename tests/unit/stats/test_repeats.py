"""The noise of a judge, by hand."""

import pytest

from karat.stats.repeats import repeats


def test_by_hand():
    """Rows (0, 1) and (1, 1): within .25, between .25."""
    found = repeats([[0.0, 1.0], [1.0, 1.0], [0.5], [None, 1.0]])
    assert (found.rows, found.repeats, found.flips) == (2, 2.0, 0.5)
    assert found.within == pytest.approx(0.25)
    assert found.of_score == pytest.approx(0.125)
    assert (found.icc, found.icc_mean) == (0.0, 0.0)


def test_flips_by_hand():
    found = repeats([[1, 1, 0], [0.5, 0.5, 0.5], [0, 1], [1], [None, 1]])
    assert found.rows == 3
    assert found.flips == pytest.approx(2 / 3)
    assert found.disagree == pytest.approx((2 + 0 + 1) / (3 + 3 + 1))


def test_a_failed_repeat_is_left_out_not_taken_for_a_flip():
    found = repeats([[1, None, 1]])
    assert (found.rows, found.flips, found.disagree) == (1, 0.0, 0.0)


def test_the_last_digit_of_a_mean_is_no_flip():
    assert repeats([[0.1 + 0.2, 0.3]]).flips == 0.0


def test_a_judge_that_always_says_the_same():
    found = repeats([[0, 0], [1, 1]])
    assert (found.flips, found.within, found.icc) == (0.0, 0.0, 1.0)


def test_nothing_to_tell():
    assert repeats([[1.0], [None, None], []]) is None
    assert repeats([[1, 1], [1, 1]]).icc is None
