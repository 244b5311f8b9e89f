"""The sign-flip test and the corrections agree with scipy."""

import numpy as np
import pytest

from karat.stats.corrections import adjust
from karat.stats.permutation import flip_test


def sign_flip(differences, **more):
    return flip_test(differences, alpha=None, **more).p


SHAPES = {
    "normal": lambda rng, n: rng.normal(0.3, 1, n),
    "all or nothing": lambda rng, n: rng.choice([-1.0, 0.0, 1.0], n),
    "reciprocal ranks": lambda rng, n: rng.choice([1, 1 / 2, 1 / 3, 0], n) - rng.choice([1, 1 / 2, 1 / 3, 0], n),
    "skewed": lambda rng, n: rng.random(n) ** 4 - 0.1,
}


def peer(differences, draws, seed=0):
    from scipy.stats import permutation_test

    return permutation_test(
        (differences,),
        lambda x, axis: np.sum(x, axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=draws,
        alternative="two-sided",
        rng=np.random.default_rng(seed),
    ).pvalue


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("n", [2, 5, 9, 12])
def test_where_all_ways_are_counted_the_values_are_equal(shape, n):
    differences = SHAPES[shape](np.random.default_rng(n), n)
    assert sign_flip(differences[None])[0] == pytest.approx(peer(differences, 10_000), abs=1e-12)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("n", [30, 133])
def test_where_signs_are_drawn_they_differ_by_the_noise_of_the_draws(shape, n):
    differences = SHAPES[shape](np.random.default_rng(n), n)
    expected = peer(differences, 10_000)
    noise = 5 * np.sqrt(2 * max(expected * (1 - expected), 1e-4) / 10_000)
    assert sign_flip(differences[None])[0] == pytest.approx(expected, abs=noise)


def test_the_smallest_p_is_that_of_scipy():
    assert sign_flip(np.ones((1, 60)))[0] == pytest.approx(1 / 10_001)
    # scipy doubles the smaller side, and the seen sum counts on it once
    assert peer(np.ones(60), 10_000) == pytest.approx(2 / 10_001)


@pytest.mark.parametrize("seed", range(3))
def test_benjamini_hochberg(seed):
    from scipy.stats import false_discovery_control

    p = np.random.default_rng(seed).random(20) ** 2
    np.testing.assert_allclose(adjust(p, "bh"), false_discovery_control(p))


@pytest.mark.parametrize("seed", range(3))
def test_holm_is_bonferroni_over_what_is_left(seed):
    """Holm by its definition: reject while the smallest p times the number left is within the level."""
    p = np.random.default_rng(seed).random(12) ** 4
    adjusted = adjust(p, "holm")
    for level in (0.01, 0.05, 0.2, 0.9):
        left, rejected = list(range(12)), set()
        while left:
            least = min(left, key=lambda i: p[i])
            if p[least] * len(left) > level:
                break
            rejected.add(least)
            left.remove(least)
        assert set(np.flatnonzero(adjusted <= level)) == rejected
