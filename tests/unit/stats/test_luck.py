import numpy as np
import pytest

from karat.stats import luck
from karat.stats.corrections import holm
from karat.stats.luck import lucky
from karat.stats.permutation import sign_flip


def test_two_cells_are_the_paired_test():
    """With two cells the best of a draw leads by the distance of the sum from zero: the sign-flip test."""
    for seed in range(5):
        values = np.random.default_rng(seed).normal(0, 1, (2, 30))
        best = int(values.mean(axis=1).argmax())
        expected = sign_flip(values[best] - values[[1 - best]])[0]
        assert lucky(values, best)[1 - best] == pytest.approx(expected, abs=0.015)


def test_the_best_of_equal_cells_is_rarely_called_better():
    """Holm alone calls the luckiest of 30 equal cells better than another in far more than 5% of studies."""
    rng = np.random.default_rng(0)
    alone = both = 0
    for _ in range(60):
        values = rng.normal(0, 1, (30, 60))
        best = int(values.mean(axis=1).argmax())
        others = np.delete(np.arange(30), best)
        p = holm(sign_flip(values[best] - values[others], draws=1000))
        alone += (p <= 0.05).any()
        both += (np.maximum(p, lucky(values, best, draws=1000)[others]) <= 0.05).any()
    assert alone >= 9
    assert both <= 7


def test_a_real_lead_is_no_luck():
    values = np.random.default_rng(0).normal(0, 0.1, (40, 50))
    values[3] += 1
    p = lucky(values, 3)
    assert p[3] == 1
    assert np.delete(p, 3).max() == 1 / 10_001


def test_lower_can_be_better():
    values = np.random.default_rng(0).normal(0, 0.1, (5, 50))
    values[3] -= 1
    np.testing.assert_array_equal(lucky(values, 3, higher_is_better=False), lucky(-values, 3))


def test_copies_and_what_is_missing():
    values = np.random.default_rng(1).random((4, 20))
    values[2] = values[0]
    values[3] = np.nan
    p = lucky(values, 0)
    assert p[0] == p[2] == 1
    assert ((p > 0) & (p <= 1)).all()
    assert lucky(np.ones((3, 5)), 0).tolist() == [1, 1, 1]
    assert lucky(np.full((3, 5), np.nan), 0).tolist() == [1, 1, 1]
    assert lucky(np.ones((1, 5)), 0).tolist() == [1]
    assert lucky(np.ones((2, 0)), 0).tolist() == [1, 1]


def test_parts_of_the_work_change_nothing(monkeypatch):
    values = np.random.default_rng(1).random((6, 20))
    whole = lucky(values, 0)
    monkeypatch.setattr(luck, "SUMS", 600)
    np.testing.assert_allclose(lucky(values, 0), whole)
