"""Agreement as the peers compute it: statsmodels' kappa, krippendorff's alpha, scipy's Spearman."""

import krippendorff
import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.inter_rater import cohens_kappa

from karat.stats.agreement import cohen_kappa, kappa_interval, krippendorff_alpha, spearman


@pytest.mark.parametrize("seed", range(8))
def test_kappa(seed):
    draw = np.random.default_rng(seed)
    table = draw.integers(0, 9, (4, 4)) + 6 * np.eye(4, dtype=int)
    assert cohen_kappa(table) == pytest.approx(cohens_kappa(table).kappa)
    quadratic = cohens_kappa(table, wt="quadratic")
    assert cohen_kappa(table, np.arange(4.0)) == pytest.approx(quadratic.kappa)


@pytest.mark.parametrize("values", [None, np.arange(3.0)], ids=["plain", "quadratic"])
def test_the_interval_of_kappa_is_near_the_asymptotic_one(values):
    table = np.array([[60, 12, 3], [9, 55, 10], [4, 11, 40]])
    peer = cohens_kappa(table, wt=None if values is None else "quadratic")
    each = np.repeat(np.eye(9).reshape(9, 3, 3), table.ravel(), axis=0)
    low, high = kappa_interval(each, values)
    assert (low, high) == pytest.approx((peer.kappa_low, peer.kappa_upp), abs=0.01)


@pytest.mark.parametrize("metric", ["nominal", "ordinal", "interval"])
@pytest.mark.parametrize("seed", range(6))
def test_alpha_with_missing_ratings_and_several_raters(metric, seed):
    draw = np.random.default_rng(seed)
    truth = draw.integers(1, 6, 40)
    ratings = np.clip(truth + draw.integers(-1, 2, (2 + seed % 4, 40)), 1, 5).astype(float)
    ratings[draw.random(ratings.shape) < 0.25] = np.nan
    peer = krippendorff.alpha(ratings, level_of_measurement=metric)
    assert krippendorff_alpha(ratings, metric) == pytest.approx(peer)


@pytest.mark.parametrize("seed", range(4))
def test_spearman_with_ties(seed):
    draw = np.random.default_rng(seed)
    first, second = draw.integers(0, 6, 50).astype(float), draw.random(50).round(1)
    assert spearman(first, second) == pytest.approx(stats.spearmanr(first, second).statistic)
