"""Tails of distributions agree with scipy's."""

import numpy as np
import pytest

from karat.stats.tails import binomial_tail, f_tail, incomplete_beta, normal_tail, t_tail


def test_students_t():
    from scipy.stats import t

    seen = np.concatenate([np.linspace(0, 6, 40), [9.0, 20.0, 40.0]])
    for freedom in (1, 2, 3, 9, 29, 132, 999, 6_979, 100_000):
        np.testing.assert_allclose(t_tail(seen, freedom), 2 * t.sf(seen, freedom), rtol=1e-9, atol=1e-250)
    assert t_tail(-2.0, 9) == t_tail(2.0, 9)
    assert t_tail(0.0, 9) == 1


def test_fishers_f():
    from scipy.stats import f

    seen = np.concatenate([np.linspace(0.01, 5, 40), [30.0, 1e4]])
    for between, within in ((1, 3), (2, 27), (4.5, 131.2), (10, 7_000), (54, 7_128)):
        np.testing.assert_allclose(f_tail(seen, between, within), f.sf(seen, between, within), rtol=1e-9, atol=1e-250)
    assert f_tail([0.0, -1.0, np.inf], 2, 27).tolist() == [1.0, 1.0, 0.0]
    with pytest.raises(ValueError, match="0 and 27 degrees of freedom"):
        f_tail(1.0, 0, 27)


def test_binomial():
    from scipy.stats import binom

    for n in (1, 2, 7, 50, 133, 7_000):
        most = np.unique(np.linspace(0, n - 1, 30).astype(int))
        np.testing.assert_allclose(binomial_tail(most, np.full(len(most), n)), binom.cdf(most, n, 0.5), rtol=1e-9)


def test_normal():
    from scipy.stats import norm

    z = np.linspace(-5, 30, 70)
    np.testing.assert_allclose(normal_tail(z), norm.sf(z), rtol=1e-12)


def test_incomplete_beta():
    from scipy.special import betainc

    rng = np.random.default_rng(0)
    a, b, x = rng.gamma(1, 30, 2_000) + 0.1, rng.gamma(1, 30, 2_000) + 0.1, rng.random(2_000)
    np.testing.assert_allclose(incomplete_beta(a, b, x), betainc(a, b, x), rtol=1e-10, atol=1e-250)
