import numpy as np
import pytest

from karat.stats.folds import best_rows, deal, full_enough, held_out, mean_known, training

NAN = np.nan


def test_every_fold_gets_its_share_of_all_and_of_every_kind():
    kinds = ["a"] * 23 + [None] * 9 + ["b"] * 11 + ["c"] * 3
    dealt = deal(46, kinds, folds=5, repeats=7)
    assert dealt.shape == (7, 46)
    for row in dealt:
        sizes = np.bincount(row, minlength=5)
        assert len(sizes) == 5
        assert np.ptp(sizes) <= 1
        for kind in ("a", None, "b", "c"):
            of_kind = np.bincount(row[[i for i, k in enumerate(kinds) if k == kind]], minlength=5)
            assert np.ptp(of_kind) <= 1


def test_repeats_differ_and_the_seed_decides():
    dealt = deal(40, repeats=3, seed=1)
    assert not (dealt[0] == dealt[1]).all()
    np.testing.assert_array_equal(dealt, deal(40, repeats=3, seed=1))
    assert not (dealt == deal(40, repeats=3, seed=2)).all()
    np.testing.assert_array_equal(deal(40, [None] * 40, seed=1), deal(40, seed=1))


def test_no_more_folds_than_questions():
    assert sorted(deal(3, folds=5, repeats=1)[0]) == [0, 1, 2]
    assert deal(1, repeats=2).tolist() == [[0], [0]]
    assert deal(0, repeats=2).shape == (2, 0)


def test_what_cannot_be_dealt_is_refused():
    with pytest.raises(ValueError, match="folds=1"):
        deal(5, folds=1)
    with pytest.raises(ValueError, match="repeats=0"):
        deal(5, repeats=0)
    with pytest.raises(ValueError, match="2 strata for 3 questions"):
        deal(3, ["a", "b"])


VALUES = np.array([[1.0, 0.0, 0.5, NAN], [0.0, 1.0, 0.5, 0.0], [1.0, 0.0, 0.5, NAN], [NAN, NAN, NAN, NAN]])


def test_best_rows_by_hand():
    among = np.array([[1, 1, 1, 1], [1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0, 0, 0, 0]], bool)
    # means .5 .375 .5: the first of the equal ones; then 1 0 1; 0 1 0; .5 .5 .5; only row 1 has one; none at all
    assert best_rows(VALUES, among).tolist() == [0, 0, 1, 0, 1, -1]
    assert best_rows(VALUES, among, higher_is_better=False).tolist() == [1, 1, 0, 0, 1, -1]
    allowed = np.array([False, True, True, True])
    assert best_rows(VALUES, among, allowed=allowed).tolist() == [2, 2, 1, 1, 1, -1]
    assert best_rows(np.empty((0, 4)), among).tolist() == [-1] * 6


def test_best_rows_by_weight():
    # row 0: (1 + 0) / 1.5, row 1: (0 + .5) / 1.5; then the other way round
    assert best_rows(VALUES, np.array([[1.0, 0.5, 0, 0], [0.5, 1.0, 0, 0]])).tolist() == [0, 1]
    # weights below one are still a mean, not a sum
    assert best_rows(np.array([[0.2, NAN], [0.1, 0.1]]), np.array([[0.3, 0.3]])).tolist() == [0]


def test_equal_means_are_equal_although_their_floats_are_not():
    rng = np.random.default_rng(0)
    values = np.stack([rng.permutation(np.arange(51) / 10) for _ in range(30)])
    assert len({float(np.cumsum(row)[-1]) for row in values}) > 1
    for turn in range(30):
        assert best_rows(np.roll(values, turn, axis=0), np.ones((1, 51), bool)).tolist() == [0]


def test_training_and_held_out():
    dealt = np.array([[0, 1, 0, 1]])
    assert training(dealt).tolist() == [[False, True, False, True], [True, False, True, False]]
    # fold 0 is scored by row 1, fold 1 by row 0
    np.testing.assert_array_equal(held_out(VALUES, dealt, np.array([1, 0])), [[0.0, 0.0, 0.5, NAN]])
    np.testing.assert_array_equal(held_out(VALUES, dealt, np.array([-1, 0])), [[NAN, 0.0, NAN, NAN]])


def test_full_enough():
    values = np.ones((4, 10))
    values[1, 0] = values[2, :2] = values[3] = NAN
    assert full_enough(values).tolist() == [True, True, False, False]
    assert full_enough(np.full((2, 3), NAN)).tolist() == [False, False]


def test_mean_known():
    np.testing.assert_array_equal(mean_known(np.array([[1.0, NAN, NAN], [0.0, 2.0, np.inf]])), [0.5, 2.0, NAN])
