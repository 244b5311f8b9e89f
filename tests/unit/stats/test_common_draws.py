"""Tests and intervals from common draws are those of each pair alone."""

from itertools import combinations

import numpy as np
import pytest

from karat.stats import permutation
from karat.stats.permutation import drawn_pairs, flip_test
from karat.stats.signs import drawn_signs


def sign_flip(differences, **more):
    return flip_test(differences, alpha=None, **more).p


PAIRS = list(combinations(range(5), 2))


@pytest.fixture
def values():
    rng = np.random.default_rng(5)
    made = rng.choice([0, 1 / 3, 0.5, 1], (2, 5, 60))
    made[1] += rng.random((5, 60))
    return made


def test_p_is_the_sign_flip_test_of_each_pair(values):
    """The sums of every draw, one pair at a time and without a grid."""
    found = drawn_pairs(values, PAIRS, draws=2000, seed=3)
    signs = np.concatenate(list(drawn_signs(60, 2000, 3)))
    for measure in range(2):
        for number, (a, b) in enumerate(PAIRS):
            difference = values[measure, b] - values[measure, a]
            reached = np.abs(signs @ difference) >= abs(difference.sum()) - 1e-9
            assert found.p[measure, number] == (reached.sum() + 1) / 2001


def test_a_pair_does_not_depend_on_the_others_nor_on_its_direction(values):
    whole = drawn_pairs(values, PAIRS, draws=1000)
    alone = drawn_pairs(values[1:, [3, 1]], [(0, 1)], draws=1000)
    number = PAIRS.index((1, 3))
    assert alone.p[0, 0] == whole.p[1, number]
    assert (-alone.high[0, 0], -alone.low[0, 0]) == pytest.approx((whole.low[1, number], whole.high[1, number]))


def test_missing_values_leave_a_question_out_of_their_pairs_only(values):
    full = drawn_pairs(values, PAIRS, draws=1000)
    values[0, 2, [4, 9]] = np.nan
    found = drawn_pairs(values, PAIRS, draws=1000)
    kept = np.delete(np.arange(60), [4, 9])
    for number, (a, b) in enumerate(PAIRS):
        if 2 in (a, b):
            rest = values[0][:, kept][b] - values[0][:, kept][a]
            alone = flip_test(rest[None], draws=1000)
            assert (found.p[0, number], found.low[0, number]) == (alone.p[0], alone.low[0])
        else:
            assert found.p[0, number] == full.p[0, number]
    np.testing.assert_array_equal(found.p[1], full.p[1])


def test_questions_that_nobody_has_a_value_for_change_nothing(values):
    expected = drawn_pairs(values, PAIRS, draws=500)
    wider = np.full((2, 5, 70), np.nan)
    wider[:, :, 5:65] = values
    found = drawn_pairs(wider, PAIRS, draws=500)
    for name in ("p", "low", "high"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))


def test_few_differences_have_all_their_signs_counted():
    values = np.zeros((1, 2, 40))
    values[0, 1, :4] = 1
    found = drawn_pairs(values, [(0, 1)])
    assert found.p[0, 0] == 2 / 16


@pytest.mark.parametrize("shift", [0.0, 0.1])
def test_constant_differences(shift):
    values = np.stack([np.linspace(0, 0.5, 30), np.linspace(0, 0.5, 30) + shift])[None]
    found = drawn_pairs(values, [(0, 1)])
    assert found.p[0, 0] == (1.0 if shift == 0 else 1 / 10_001)
    assert np.isnan([found.low[0, 0], found.high[0, 0]]).all()


def test_nothing_in_common():
    values = np.array([[[1.0, np.nan], [np.nan, 1.0]]])
    found = drawn_pairs(values, [(0, 1)])
    assert found.p[0, 0] == 1
    assert np.isnan(found.low[0, 0])


def test_more_than_a_thousand_questions():
    rng = np.random.default_rng(0)
    found = drawn_pairs(rng.random((1, 2, 1500)), [(0, 1)], draws=50)
    assert 0 < found.p[0, 0] <= 1
    assert sign_flip(rng.normal(size=(1, 1500)), draws=50)[0] <= 1


@pytest.mark.parametrize("systems", [1, 2, 3])
def test_as_many_systems_at_a_time_as_memory_holds_change_nothing(monkeypatch, systems, values):
    whole = drawn_pairs(values, PAIRS, draws=1000)
    monkeypatch.setattr(permutation, "ALL_SUMS", systems * 1000)
    parts = drawn_pairs(values, PAIRS, draws=1000)
    for name in ("p", "low", "high"):
        np.testing.assert_allclose(getattr(parts, name), getattr(whole, name), atol=1e-12)
