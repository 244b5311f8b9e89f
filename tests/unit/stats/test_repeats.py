"""The noise of a judge, by hand."""

import pytest

from karat.stats.repeats import repeated


def test_by_hand():
    """Rows (0, 1) and (1, 1): within .25, between .25."""
    found = repeated([[0.0, 1.0], [1.0, 1.0], [0.5], [None, 1.0]])
    assert (found.rows, found.repeats, found.flips) == (2, 2.0, 0.5)
    assert found.within == pytest.approx(0.25)
    assert found.of_score == pytest.approx(0.125)
    assert (found.icc, found.icc_mean) == (0.0, 0.0)


def test_a_judge_that_always_says_the_same():
    found = repeated([[0, 0], [1, 1]])
    assert (found.flips, found.within, found.icc) == (0.0, 0.0, 1.0)


def test_nothing_to_tell():
    assert repeated([[1.0], []]) is None
    assert repeated([[1, 1], [1, 1]]).icc is None
