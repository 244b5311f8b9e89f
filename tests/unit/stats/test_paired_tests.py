"""Paired tests and effect sizes by hand."""

import math

import numpy as np
import pytest

from karat.stats.paired_tests import is_all_or_nothing, mcnemar, paired_t, wilcoxon


def test_t_by_hand():
    """1, 2, 3: mean 2, standard deviation 1, t = 2 sqrt 3 with 2 degrees of freedom, p = 1 - t / sqrt(2 + t^2)."""
    found = paired_t(np.array([[1.0, 2.0, 3.0]]))
    t = 2 * math.sqrt(3)
    assert (found.n[0], found.mean[0], found.spread[0], found.d[0]) == (3, 2.0, 1.0, 2.0)
    assert found.t[0] == pytest.approx(t)
    assert found.p[0] == pytest.approx(1 - t / math.sqrt(2 + t * t))


def test_t_leaves_out_what_is_missing_and_says_where_there_is_none():
    gap = np.array([[1.0, np.nan, 2.0, 3.0], [0.1, 0.1, 0.1, 0.1], [0, 0, 0, 0], [np.nan, np.nan, np.nan, 1.0]])
    found = paired_t(gap)
    assert found.n.tolist() == [3, 4, 4, 1]
    assert found.p[0] == paired_t(np.array([[1.0, 2.0, 3.0]])).p[0]
    assert np.isnan(found.p[1])
    assert np.isnan(found.d[1])
    assert found.p[2] == 1.0
    assert np.isnan(found.p[3])


def test_wilcoxon_by_hand():
    """1, 2, -3, 4: ranks for 7, against 3; sums up to 3 come in 5 of 16 ways, so p = 10 / 16."""
    p, biserial = wilcoxon(np.array([[1.0, 2.0, -3.0, 4.0], [1.0, -1.0, 0.0, 0.0]]))
    assert p[0] == pytest.approx(10 / 16)
    assert biserial[0] == pytest.approx((7 - 3) / 10)
    assert (p[1], biserial[1]) == (1.0, 0.0)


def test_wilcoxon_of_equal_sizes_counts_all_signs():
    """Five gains of one size: of 32 ways 2 are as far."""
    assert wilcoxon(np.full((1, 5), 0.5))[0][0] == pytest.approx(2 / 32)


def test_wilcoxon_without_a_difference():
    p, biserial = wilcoxon(np.array([[0.0, 0.0, np.nan]]))
    assert p[0] == 1.0
    assert np.isnan(biserial[0])


def test_sizes_that_are_equal_on_paper_share_their_rank():
    """.3 - .1 and .2 are not the same double."""
    rough = np.array([[0.3 - 0.1, -0.2, 0.5, 0.9]])
    np.testing.assert_array_equal(wilcoxon(rough)[1], wilcoxon(np.array([[0.2, -0.2, 0.5, 0.9]]))[1])


def test_mcnemar_by_hand():
    """1 of 6: 2 (1 + 6) / 64."""
    np.testing.assert_allclose(mcnemar(np.array([5, 3, 0]), np.array([1, 3, 0])), [14 / 64, 1.0, 1.0])


def test_what_is_all_or_nothing():
    assert is_all_or_nothing(np.array([0.0, 1.0, np.nan]))
    assert not is_all_or_nothing(np.array([0.0, 0.5]))
    assert not is_all_or_nothing(np.array([np.nan]))
