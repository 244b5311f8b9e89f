import numpy as np
import pytest

from karat.stats import optimism
from karat.stats.arrays import codes, mean_known
from karat.stats.corrections import adjust
from karat.stats.optimism import assign_folds, best_rows, cross_validate, selection_p
from karat.stats.permutation import flip_test


def sign_flip(differences, **more):
    return flip_test(differences, alpha=None, **more).p


NAN = np.nan
EVERY = np.ones(4, bool)


def test_every_fold_gets_its_share_of_all_and_of_every_kind():
    kinds = ["a"] * 23 + [None] * 9 + ["b"] * 11 + ["c"] * 3
    dealt = assign_folds(codes(kinds))
    assert dealt.shape == (10, 46)
    for row in dealt:
        sizes = np.bincount(row, minlength=5)
        assert len(sizes) == 5
        assert np.ptp(sizes) <= 1
        for kind in ("a", None, "b", "c"):
            of_kind = np.bincount(row[[i for i, k in enumerate(kinds) if k == kind]], minlength=5)
            assert np.ptp(of_kind) <= 1


def test_repeats_differ_and_the_seed_decides():
    one = np.zeros(40, np.int64)
    dealt = assign_folds(one, seed=1)
    assert not (dealt[0] == dealt[1]).all()
    np.testing.assert_array_equal(dealt, assign_folds(one, seed=1))
    assert not (dealt == assign_folds(one, seed=2)).all()


def test_no_more_folds_than_questions():
    assert sorted(assign_folds(np.zeros(3, np.int64))[0]) == [0, 1, 2]
    assert assign_folds(np.zeros(1, np.int64)).tolist() == [[0]] * 10


VALUES = np.array([[1.0, 0.0, 0.5, NAN], [0.0, 1.0, 0.5, 0.0], [1.0, 0.0, 0.5, NAN], [NAN, NAN, NAN, NAN]])


def test_best_rows_by_hand():
    among = np.array([[1, 1, 1, 1], [1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0, 0, 0, 0]], bool)
    # means .5 .375 .5: the first of the equal ones; then 1 0 1; 0 1 0; .5 .5 .5; only row 1 has one; none at all
    assert best_rows(VALUES, among, EVERY).tolist() == [0, 0, 1, 0, 1, -1]
    assert best_rows(VALUES, among, np.array([False, True, True, True])).tolist() == [2, 2, 1, 1, 1, -1]


def test_equal_means_are_equal_although_their_floats_are_not():
    rng = np.random.default_rng(0)
    values = np.stack([rng.permutation(np.arange(51) / 10) for _ in range(30)])
    assert len({float(np.cumsum(row)[-1]) for row in values}) > 1
    for turn in range(30):
        rows = best_rows(np.roll(values, turn, axis=0), np.ones((1, 51), bool), np.ones(30, bool))
        assert rows.tolist() == [0]


def test_cross_validation_by_hand():
    """Two rows, two questions, a fold each: trained on one question, scored on the other."""
    found = cross_validate(np.array([[1.0, 0.0], [0.0, 0.6]]), 0, EVERY[:2])
    assert found.values.tolist() == [0.0, 0.0]
    assert (found.optimism, found.picks, found.folds) == (0.5, ((0, 10), (1, 10)), 2)
    assert cross_validate(np.array([[0.2, NAN], [0.9, NAN]]), 1, EVERY[:2]) is None


def test_mean_known():
    np.testing.assert_array_equal(mean_known(np.array([[1.0, NAN, NAN], [0.0, 2.0, np.inf]])), [0.5, 2.0, NAN])


def test_two_cells_are_the_paired_test():
    """With two cells the best of a draw leads by the distance of the sum from zero: the sign-flip test."""
    for seed in range(5):
        values = np.random.default_rng(seed).normal(0, 1, (2, 30))
        best = int(values.mean(axis=1).argmax())
        expected = sign_flip(values[best] - values[[1 - best]])[0]
        assert selection_p(values, best)[1 - best] == pytest.approx(expected, abs=0.015)


def test_the_best_of_equal_cells_is_rarely_called_better():
    """Holm alone calls the luckiest of 30 equal cells better than another in far more than 5% of studies."""
    rng = np.random.default_rng(0)
    alone = both = 0
    for _ in range(60):
        values = rng.normal(0, 1, (30, 60))
        best = int(values.mean(axis=1).argmax())
        others = np.delete(np.arange(30), best)
        p = adjust(sign_flip(values[best] - values[others], draws=1000))
        alone += (p <= 0.05).any()
        both += (np.maximum(p, selection_p(values, best, draws=1000)[others]) <= 0.05).any()
    assert alone >= 9
    assert both <= 7


def test_a_real_lead_is_not_owed_to_picking():
    values = np.random.default_rng(0).normal(0, 0.1, (40, 50))
    values[3] += 1
    p = selection_p(values, 3)
    assert p[3] == 1
    assert np.delete(p, 3).max() == 1 / 10_001


def test_copies_and_what_is_missing():
    values = np.random.default_rng(1).random((4, 20))
    values[2] = values[0]
    values[3] = np.nan
    p = selection_p(values, 0)
    assert p[0] == p[2] == 1
    assert ((p > 0) & (p <= 1)).all()
    assert selection_p(np.ones((3, 5)), 0).tolist() == [1, 1, 1]
    assert selection_p(np.full((3, 5), np.nan), 0).tolist() == [1, 1, 1]
    assert selection_p(np.ones((1, 5)), 0).tolist() == [1]
    assert selection_p(np.ones((2, 0)), 0).tolist() == [1, 1]


def test_parts_of_the_work_change_nothing(monkeypatch):
    values = np.random.default_rng(1).random((6, 20))
    whole = selection_p(values, 0)
    monkeypatch.setattr(optimism, "SUMS", 600)
    np.testing.assert_allclose(selection_p(values, 0), whole)
