import pytest
from scipy import stats

from karat.stats.tails import t_quantile


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 7, 18, 57, 200, 1_999, 2_000, 50_000])
def test_the_quantile_is_that_of_scipy(freedom):
    assert t_quantile(freedom) == pytest.approx(stats.t.ppf(0.975, freedom), abs=0.0015 if freedom >= 2_000 else 1e-9)
    assert t_quantile(freedom, 0.99) == pytest.approx(stats.t.ppf(0.995, freedom), abs=0.004)


def test_there_is_none_without_freedom():
    with pytest.raises(ValueError, match="0 degrees"):
        t_quantile(0)
