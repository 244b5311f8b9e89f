"""The randomised Tukey HSD test."""

from itertools import permutations, product

import numpy as np
import pytest

from karat.stats.permutation import flip_test
from karat.stats.tukey import tukey


def sign_flip(differences, **more):
    return flip_test(differences, alpha=None, **more).p


def test_all_shuffles_counted_by_hand():
    """Three systems, two questions: 36 ways; drawn, the share of ways with a range as large."""
    values = np.array([[0.0, 0.1], [0.5, 0.4], [1.0, 0.9]])
    ranges = [
        np.ptp(np.array(one) + np.array(two))
        for one, two in product(permutations(values[:, 0]), permutations(values[:, 1]))
    ]
    found = tukey(values, draws=20_000)
    for a, b in ((0, 1), (0, 2), (1, 2)):
        apart = abs(values[a].sum() - values[b].sum())
        assert found[a, b] == pytest.approx(np.mean(np.array(ranges) >= apart - 1e-9), abs=0.015)


def test_of_two_systems_it_is_the_sign_flip_test():
    rng = np.random.default_rng(2)
    values = rng.normal(size=(2, 40))
    assert tukey(values)[0, 1] == pytest.approx(sign_flip((values[1] - values[0])[None])[0], abs=0.02)


def test_with_many_questions_shuffling_comes_to_its_limit():
    rng = np.random.default_rng(4)
    values = rng.random((6, 120)) ** 2
    np.testing.assert_allclose(tukey(values), tukey(values, cells=0), atol=0.03)


def test_the_largest_difference_needs_more_than_between_two():
    rng = np.random.default_rng(3)
    values = rng.normal(size=(8, 50))
    means = values.mean(axis=1)
    best, worst = int(means.argmax()), int(means.argmin())
    assert tukey(values)[best, worst] > 2 * sign_flip((values[best] - values[worst])[None])[0]


def test_equal_systems_and_missing_values():
    values = np.array([[1.0, 0.0, 1.0], [1.0, 0.0, 1.0], [0.0, 0.0, np.nan]])
    found = tukey(values)
    assert found[0, 1] == 1
    np.testing.assert_array_equal(found, tukey(values[:, :2]))
    assert (tukey(np.full((3, 2), np.nan)) == 1).all()
    assert (tukey(np.ones((3, 4))) == 1).all()
