"""Agreement as the peers compute it: statsmodels' kappa, krippendorff's alpha, scipy's Spearman and Kendall."""

import krippendorff
import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.inter_rater import cohens_kappa

from karat.stats.agreement import cohen_kappa, kappa_interval, krippendorff_alpha, spearman
from karat.stats.system_order import chance_of_order, kendall_tau, tau_interval


@pytest.mark.parametrize("seed", range(8))
def test_kappa(seed):
    draw = np.random.default_rng(seed)
    table = draw.integers(0, 9, (4, 4)) + 6 * np.eye(4, dtype=int)
    assert cohen_kappa(table) == pytest.approx(cohens_kappa(table).kappa)
    for weights in ("linear", "quadratic"):
        peer = cohens_kappa(table, wt=weights)
        assert cohen_kappa(table, np.arange(4.0), weights) == pytest.approx(peer.kappa)


@pytest.mark.parametrize("weights", ["linear", "quadratic"])
def test_weights_of_unequal_steps_by_the_formula(weights):
    """Grades 0, 1 and 4 of which pairs lie 1, 3 and 4 apart: 1 - sum w o / sum w e, written out."""
    draw = np.random.default_rng(1)
    values, table = np.array([0.0, 1.0, 4.0]), draw.integers(1, 9, (3, 3))
    power, n = 1 if weights == "linear" else 2, table.sum()
    seen = expected = 0.0
    for i in range(3):
        for j in range(3):
            weight = abs(values[i] - values[j]) ** power
            seen += weight * table[i, j] / n
            expected += weight * table[i].sum() * table[:, j].sum() / n**2
    assert cohen_kappa(table, values, weights) == pytest.approx(1 - seen / expected)


@pytest.mark.parametrize("values", [None, np.arange(3.0)], ids=["plain", "quadratic"])
def test_the_interval_of_kappa_is_near_the_asymptotic_one(values):
    table = np.array([[60, 12, 3], [9, 55, 10], [4, 11, 40]])
    peer = cohens_kappa(table, wt=None if values is None else "quadratic")
    each = np.repeat(np.eye(9).reshape(9, 3, 3), table.ravel(), axis=0)
    low, high = kappa_interval(each, values)
    assert (low, high) == pytest.approx((peer.kappa_low, peer.kappa_upp), abs=0.01)


@pytest.mark.parametrize("metric", ["nominal", "ordinal", "interval", "ratio"])
@pytest.mark.parametrize("seed", range(6))
def test_alpha_with_missing_ratings_and_several_raters(metric, seed):
    draw = np.random.default_rng(seed)
    truth = draw.integers(1, 6, 40)
    ratings = np.clip(truth + draw.integers(-1, 2, (2 + seed % 4, 40)), 1, 5).astype(float)
    ratings[draw.random(ratings.shape) < 0.25] = np.nan
    peer = krippendorff.alpha(ratings, level_of_measurement=metric)
    assert krippendorff_alpha(ratings, metric) == pytest.approx(peer)


def test_alpha_by_ratio_with_zeros():
    ratings = np.array([[0.0, 1, 2, 3, 0, 0, 5], [0, 1, 3, 3, 1, 0, 4]])
    assert krippendorff_alpha(ratings, "ratio") == pytest.approx(
        krippendorff.alpha(ratings, level_of_measurement="ratio")
    )


@pytest.mark.parametrize("seed", range(4))
def test_spearman_with_ties(seed):
    draw = np.random.default_rng(seed)
    first, second = draw.integers(0, 6, 50).astype(float), draw.random(50).round(1)
    assert spearman(first, second) == pytest.approx(stats.spearmanr(first, second).statistic)


@pytest.mark.parametrize("seed", range(8))
def test_tau_of_systems_with_ties(seed):
    draw = np.random.default_rng(seed)
    first, second = draw.integers(0, 6, 9).astype(float), draw.random(9).round(1)
    assert kendall_tau(first, second) == pytest.approx(stats.kendalltau(first, second).statistic)


def test_the_least_p_of_an_order_is_the_exact_one():
    for n in range(3, 8):
        order = np.arange(n)
        assert chance_of_order(n) == pytest.approx(stats.kendalltau(order, order, method="exact").pvalue)


def test_the_interval_of_tau_is_that_of_a_plain_bootstrap():
    draw = np.random.default_rng(5)
    truth = np.linspace(0.3, 0.8, 6)[:, None] + 0.2 * draw.normal(size=(6, 60))
    other = truth + 0.3 * draw.normal(size=(6, 60))
    taus = []
    for _ in range(2000):
        picked = draw.integers(0, 60, 60)
        taus.append(stats.kendalltau(truth[:, picked].mean(axis=1), other[:, picked].mean(axis=1)).statistic)
    assert tau_interval(truth, other) == pytest.approx(tuple(np.quantile(taus, (0.025, 0.975))), abs=0.07)
