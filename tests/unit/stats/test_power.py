"""Power against a simulation and against figures worked out by hand."""

import numpy as np
import pytest

from karat.stats.power import detectable, needed


def test_by_hand():
    # 1.95996 + 0.84162 = 2.80159 standard errors
    assert detectable(0.5, 100) == pytest.approx(2.80159 * 0.05, abs=1e-5)
    assert detectable(1, 1) == 1.0
    assert needed(0.5, 0.1) == 197  # (2.80159 * 5) ** 2 = 196.2


def test_needed_is_the_inverse():
    for spread in (0.1, 0.4, 1.0):
        n = needed(spread, 0.03)
        assert detectable(spread, n) <= 0.03 < detectable(spread, n - 1)


def test_a_difference_of_this_size_is_found_in_80_percent():
    rng = np.random.default_rng(0)
    draws = rng.normal(detectable(0.4, 200), 0.4, (4000, 200))
    t = draws.mean(axis=1) / (draws.std(axis=1, ddof=1) / np.sqrt(200))
    assert np.mean(np.abs(t) > 1.96) == pytest.approx(0.8, abs=0.02)
