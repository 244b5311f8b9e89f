import numpy as np
import pytest
from scipy import stats

from karat.stats.tails import t_quantile, t_tail


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 7, 18, 57, 200, 1_999, 2_000, 50_000])
def test_the_quantile_is_that_of_scipy(freedom):
    assert t_quantile(freedom) == pytest.approx(stats.t.ppf(0.975, freedom), abs=0.0015 if freedom >= 2_000 else 1e-9)
    assert t_quantile(freedom, 0.99) == pytest.approx(stats.t.ppf(0.995, freedom), abs=0.004)


def test_there_is_none_without_freedom():
    with pytest.raises(ValueError, match="0 degrees"):
        t_quantile(0)


def test_a_tail_does_not_depend_on_those_worked_out_beside_it():
    t = np.abs(np.random.default_rng(0).normal(0, 3, 2_000))
    together = t_tail(t, 6_999)
    np.testing.assert_allclose(
        together, np.concatenate([t_tail(t[i : i + 1], 6_999) for i in range(len(t))]), rtol=1e-14
    )
    np.testing.assert_allclose(together, 2 * stats.t.sf(t, 6_999), rtol=1e-9)


def test_what_is_no_number_has_no_tail():
    assert np.isnan(t_tail([np.nan, 1.0], 9)).tolist() == [True, False]
