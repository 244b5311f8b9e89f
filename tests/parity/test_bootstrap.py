"""The analytic interval agrees with the BCa bootstrap of scipy up to the noise of its draws."""

from statistics import NormalDist

import numpy as np
import pytest

from karat.stats.intervals import abc_intervals, student_reach

SHAPES = {
    "uniform": lambda rng: rng.random(60),
    "all or nothing": lambda rng: (rng.random(80) < 0.3).astype(float),
    "rare": lambda rng: (rng.random(120) < 0.06).astype(float),
    "skewed": lambda rng: rng.random(50) ** 5,
    "reciprocal ranks": lambda rng: rng.choice([1, 1 / 2, 1 / 3, 1 / 4, 1 / 5, 0], 133),
    "wide": lambda rng: rng.normal(-40, 300, 45),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed", [1, 2])
def test_ends_agree_with_scipy_within_the_noise_of_the_draws(shape, seed):
    from scipy.stats import bootstrap

    values = SHAPES[shape](np.random.default_rng(seed))
    peer = bootstrap(
        (values,), np.mean, method="BCa", n_resamples=40_000, axis=-1, rng=np.random.default_rng(seed + 100),
        confidence_level=1 - 2 * NormalDist().cdf(-student_reach(len(values))),
    )  # fmt: skip
    (low,), (high,) = abc_intervals(values[None])
    # the ends of draws vary by about 3% of the standard error; discrete sums step by up to one value
    noise = 0.12 * peer.standard_error + (values.max() - values.min()) / len(values)
    assert low == pytest.approx(peer.confidence_interval.low, abs=noise)
    assert high == pytest.approx(peer.confidence_interval.high, abs=noise)


def test_as_wide_as_students():
    """The reach is the t quantile, with n - 1 for n."""
    from scipy.stats import t

    assert student_reach(90) == pytest.approx(t.ppf(0.975, 89) * np.sqrt(90 / 89))


def test_not_the_percentile_interval():
    """On skewed values BCa must move away from the plain percentiles, in the direction of the skew."""
    from scipy.stats import bootstrap

    values = np.random.default_rng(4).random(30) ** 8
    plain = bootstrap(
        (values,), np.mean, method="percentile", n_resamples=20_000, axis=-1, rng=np.random.default_rng(0)
    )
    (low,), (high,) = abc_intervals(values[None])
    assert high - plain.confidence_interval.high > 0.05 * plain.standard_error
    assert low - plain.confidence_interval.low > 0.05 * plain.standard_error
