"""Every p, interval and correction of a comparison equals that of scipy or statsmodels on the same data."""

import numpy as np
import pytest

from karat.stats.compare import compare_systems
from karat.stats.corrections import adjust
from karat.stats.paired_tests import mcnemar, paired_t, wilcoxon
from karat.stats.permutation import drawn_pairs
from karat.stats.power import detectable, needed
from karat.stats.repeats import repeats
from karat.stats.tukey import tukey

SHAPES = {
    "normal": lambda rng, n: rng.normal(0.2, 1, n),
    "all or nothing": lambda rng, n: rng.choice([-1.0, 0.0, 1.0], n, p=[0.2, 0.5, 0.3]),
    "reciprocal ranks": lambda rng, n: rng.choice([1, 1 / 2, 1 / 3, 0], n) - rng.choice([1, 1 / 2, 1 / 3, 0], n),
    "skewed": lambda rng, n: rng.random(n) ** 4 - 0.1,
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("n", [5, 12, 40, 133, 1500])
def test_wilcoxon(shape, n):
    from scipy.stats import wilcoxon as peer

    rows = np.stack([SHAPES[shape](np.random.default_rng(seed), n) for seed in range(4)]).round(9)
    for row, p in zip(rows, wilcoxon(rows)[0], strict=True):
        left = row[row != 0]
        expected = peer(left).pvalue if len(left) else 1.0
        assert p == pytest.approx(expected, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("n", [3, 40, 1500])
def test_paired_t(shape, n):
    from scipy.stats import ttest_rel

    a = np.random.default_rng(9).random(n)
    rows = np.stack([SHAPES[shape](np.random.default_rng(seed), n) for seed in range(3)])
    found = paired_t(rows)
    for i, row in enumerate(rows):
        expected = ttest_rel(a + row, a)
        assert found.p[i] == pytest.approx(expected.pvalue, rel=1e-6)
        assert found.t[i] == pytest.approx(expected.statistic, rel=1e-6)


@pytest.mark.parametrize(("gained", "lost"), [(0, 0), (1, 0), (5, 1), (10, 25), (300, 260)])
def test_mcnemar(gained, lost):
    from statsmodels.stats.contingency_tables import mcnemar as peer

    expected = peer([[7, gained], [lost, 9]], exact=True).pvalue if gained + lost else 1.0
    assert mcnemar(np.array([gained]), np.array([lost]))[0] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("method", "theirs"), [("holm", "holm"), ("bonferroni", "bonferroni"), ("bh", "fdr_bh")])
@pytest.mark.parametrize("seed", range(3))
def test_corrections(method, theirs, seed):
    from statsmodels.stats.multitest import multipletests

    p = np.random.default_rng(seed).random(30) ** 3
    np.testing.assert_allclose(adjust(p, method), multipletests(p, method=theirs)[1], atol=1e-12)


@pytest.mark.parametrize("shape", SHAPES)
def test_permutation_where_all_ways_are_counted(shape):
    from scipy.stats import permutation_test

    row = SHAPES[shape](np.random.default_rng(3), 12)
    values = np.stack([np.zeros(12), row])[None]
    expected = permutation_test((row,), np.mean, permutation_type="samples", vectorized=True, n_resamples=10_000)
    assert drawn_pairs(values, [(0, 1)]).p[0, 0] == pytest.approx(expected.pvalue, abs=1e-12)


@pytest.mark.parametrize("shape", SHAPES)
def test_permutation_and_interval_within_the_noise_of_the_draws(shape):
    from scipy.stats import permutation_test

    def peer(shift):
        return permutation_test(
            (row - shift,), np.mean, permutation_type="samples", vectorized=True, n_resamples=20_000,
            rng=np.random.default_rng(1),
        ).pvalue  # fmt: skip

    row = SHAPES[shape](np.random.default_rng(8), 90)
    found = drawn_pairs(np.stack([np.zeros(90), row])[None], [(0, 1)])
    p = peer(0.0)
    assert found.p[0, 0] == pytest.approx(p, abs=5 * np.sqrt(max(p * (1 - p), 1e-4) * 1.5 / 10_000))
    # the ends are where scipy's p of the shifted differences passes .05, up to the noise of both
    for end in (found.low[0, 0], found.high[0, 0]):
        assert peer(end) == pytest.approx(0.05, abs=0.015)


def test_tukey_tends_to_the_studentised_range():
    """With many questions the shuffled means are normal with one variance: Tukey's own distribution."""
    from scipy.stats import studentized_range

    rng = np.random.default_rng(12)
    values = rng.random((5, 150)) + np.array([0, 0, 0.02, 0.05, 0.09])[:, None]
    found = tukey(values)
    means = values.mean(axis=1)
    error = np.sqrt(((values - values.mean(axis=0)) ** 2).sum() / 4) / 150
    for a in range(5):
        for b in range(a):
            expected = studentized_range.sf(abs(means[a] - means[b]) / error, 5, 1e6)
            assert found[a, b] == pytest.approx(expected, abs=0.025)


def test_icc_is_that_of_the_analysis_of_variance():
    from scipy.stats import f_oneway

    rng = np.random.default_rng(6)
    rows = rng.normal(0, 1, (25, 1)) + rng.normal(0, 0.6, (25, 3))
    ratio = f_oneway(*rows).statistic
    found = repeats(rows.tolist())
    assert found.icc == pytest.approx((ratio - 1) / (ratio + 2))
    assert found.icc_mean == pytest.approx((ratio - 1) / ratio)


@pytest.mark.parametrize("size", [0.1, 0.3, 0.5])
def test_power_is_that_of_the_normal_test(size):
    from statsmodels.stats.power import NormalIndPower, TTestPower

    n = NormalIndPower().solve_power(effect_size=size, alpha=0.05, power=0.8, ratio=0)
    assert needed(1.0, size) == np.ceil(n - 1e-6)
    assert detectable(1.0, 400) == pytest.approx(TTestPower().solve_power(nobs=400, alpha=0.05, power=0.8), rel=0.01)


def test_the_interval_of_one_question_and_of_no_difference():
    found = compare_systems(np.array([[[0.5], [0.7]]]), [(0, 1)])
    assert np.isnan(found.low[0, 0])
    assert found.permutation[0, 0] == 1.0
