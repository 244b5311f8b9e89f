"""Precision, recall and F1 of declining, by hand."""

import pytest

from karat.stats.refusals import refusals


def test_declining_is_right_on_what_cannot_be_answered():
    found = refusals("s", [True, True, True, False, False, None], [False, False, True, True, False, False])
    assert (found.n, found.unanswerable, found.declined, found.right, found.empty) == (6, 4, 3, 2, 1)
    assert (found.precision, found.recall) == (pytest.approx(2 / 3), 1 / 2)
    assert found.f1 == pytest.approx(2 * (2 / 3) * (1 / 2) / (2 / 3 + 1 / 2))


def test_a_number_over_nothing_is_none():
    nothing = refusals("s", [False, None], [True, False])
    assert (nothing.precision, nothing.recall, nothing.f1) == (None, 0.0, 0.0)
    answerable = refusals("s", [True, False], [True, True])
    assert (answerable.precision, answerable.recall, answerable.f1) == (0.0, None, None)
