import numpy as np
import pytest

from karat.stats import permutation
from karat.stats.permutation import flip_test
from karat.stats.signs import drawn_signs


def sign_flip(differences, **more):
    return flip_test(differences, alpha=None, **more).p


def p_of(*differences, **more):
    return sign_flip(np.array([differences], float), **more)[0]


def test_by_hand():
    # sums of +-1 +-2 +-3: seen 6, reached by +++ and --- among 8
    assert p_of(1, 2, 3) == 2 / 8
    # seen -1+2+3 = 4: at least 4 away from zero are +-6 and +-4
    assert p_of(-1, 2, 3) == 4 / 8
    # seen 1-1 = 0: every sum is as far
    assert p_of(1, -1) == 1
    assert p_of(0.5) == 1  # + and -


def test_questions_without_a_difference_change_nothing():
    assert p_of(1, 0, 2, 0, 3, 1e-13) == p_of(1, 2, 3)
    many = np.random.default_rng(0).normal(0.2, 1, 40)
    assert p_of(*many, *[0.0] * 30) == p_of(*many)


def test_what_is_not_finite_is_left_out():
    assert p_of(1, np.nan, 2, np.inf, 3) == p_of(1, 2, 3)


def test_nothing_to_go_by_is_no_evidence():
    assert p_of(0, 0, 0) == 1
    assert p_of(np.nan) == 1
    assert sign_flip(np.empty((2, 0))).tolist() == [1, 1]
    assert sign_flip(np.empty((0, 5))).shape == (0,)


def test_equal_sums_are_equal_although_their_floats_are_not():
    # .1 + .2 - .3 is not 0 in floats; every sum is at least as far as 0
    assert p_of(0.1, 0.2, -0.3) == 1
    # seen .3 - .1 - .2 + .1 = .1 up to rounding; by hand 14 of the 16 sums are .1 or more away from zero
    sums = [abs(a + b + c + d) for a in (3, -3) for b in (1, -1) for c in (2, -2) for d in (1, -1)]
    assert p_of(0.3, -0.1, -0.2, 0.1) == sum(s >= 1 for s in sums) / 16


def test_drawn_p_counts_the_seen_one():
    # 20 equal signs: no draw of 10,000 is likely to reach it
    assert p_of(*[1.0] * 40) == 1 / 10_001
    assert p_of(*[1.0] * 40, draws=99) == 1 / 100
    # one draw: either it reaches the sum or not
    assert p_of(*np.linspace(-1, 1.2, 15), draws=1) in (1 / 2, 1)


def test_all_ways_are_counted_up_to_the_number_of_draws():
    assert p_of(*[1.0] * 13) == 2 / 2**13
    assert p_of(*[1.0] * 14) != 2 / 2**14
    assert p_of(1, 2, 3, draws=7) != 2 / 8  # drawn: in eighths it cannot be


def test_a_pair_depends_on_its_own_differences_only():
    rng = np.random.default_rng(1)
    many = rng.normal(0.1, 1, (30, 50))
    many[rng.random(many.shape) < 0.3] = 0
    many[:5, 9:] = np.nan
    together = sign_flip(many)
    for row in range(30):
        assert sign_flip(many[row : row + 1])[0] == together[row]
    np.testing.assert_array_equal(sign_flip(rng.permuted(many, axis=1)), together)
    np.testing.assert_array_equal(sign_flip(-many), together)
    np.testing.assert_array_equal(sign_flip(many * 1024), together)


def test_parts_of_the_work_change_nothing(monkeypatch):
    many = np.random.default_rng(1).normal(0.1, 1, (30, 50))
    whole = sign_flip(many)
    monkeypatch.setattr(permutation, "SUMS", 5000)
    np.testing.assert_array_equal(sign_flip(many), whole)


def test_the_seed_moves_drawn_values_a_little():
    many = np.random.default_rng(2).normal(0.3, 1, 60)
    one, two = p_of(*many, seed=1), p_of(*many, seed=2)
    assert one != two
    assert one == pytest.approx(two, abs=0.02)
    assert one == p_of(*many, seed=1)


def test_signs_are_even_and_independent():
    signs = np.concatenate(list(drawn_signs(20, 10_000, 0)))
    assert signs.shape == (10_000, 20)
    assert set(np.unique(signs)) == {-1.0, 1.0}
    assert np.abs(signs.mean(axis=0)).max() < 0.05
    assert np.abs(np.corrcoef(signs.T) - np.eye(20)).max() < 0.05


def test_under_the_null_p_is_uniform():
    differences = np.random.default_rng(3).normal(0, 1, (2000, 20))
    p = sign_flip(differences)
    for share in (0.05, 0.2, 0.5, 0.9):
        assert (p <= share).mean() == pytest.approx(share, abs=0.035)


def test_the_largest_difference_has_the_first_sign_as_its_float_says():
    """Rounding to whole numbers comes after the order: it would make equals of sizes that differ, and draw others."""
    rng = np.random.default_rng(7)
    row = np.round(rng.integers(0, 6, 60) / 5, 1) - np.round(rng.integers(0, 5, 60) / 5, 1)
    row = row if row.sum() >= 0 else -row
    row = row[np.lexsort((row, -np.abs(row)))]
    sums = np.concatenate([signs @ row for signs in drawn_signs(len(row), 2000, 0)])
    reached = np.count_nonzero(np.abs(sums) >= row.sum() - 1e-9)
    assert flip_test(rng.permutation(row)[None], draws=2000).p[0] == (reached + 1) / 2001
