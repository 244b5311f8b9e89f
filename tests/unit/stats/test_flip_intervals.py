"""The interval of a paired difference is the sign-flip test turned around, and never contradicts its p."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.results.evaluation import SIGNIFICANT
from karat.stats.compare import pairs
from karat.stats.permutation import drawn_pairs, flip_test
from karat.stats.signs import drawn_signs

SHAPES = {
    "0 or 1": lambda rng, shape: rng.choice([0.0, 1.0], shape),
    "mostly 1": lambda rng, shape: rng.choice([0.0, 1.0], shape, p=[0.05, 0.95]),
    "graded": lambda rng, shape: rng.choice([0, 1 / 3, 0.5, 1], shape),
    "tenths": lambda rng, shape: rng.integers(0, 11, shape) / 10,
    "continuous": lambda rng, shape: rng.random(shape) ** 3,
    "rarely different": lambda rng, shape: np.where(rng.random(shape) < 0.1, rng.random(shape), 0.4),
}


def p_at(differences, shift):
    """p of the differences less a shift with every way to put the signs, by the definition."""
    moved = np.asarray(differences) - shift
    sums = np.abs(np.array(list(product((1, -1), repeat=len(moved)))) @ moved)
    return np.mean(sums >= abs(moved.sum()) - 1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_small_samples_by_the_definition(seed):
    """All ways counted: just within the ends p is above .05, just outside it is not."""
    rng = np.random.default_rng(seed)
    row = np.round(rng.normal(0.3, 1, 9), 2) if seed % 2 else rng.choice([-1.0, 0.0, 1.0, 0.5, 0.25, 2.0], 10)
    if np.count_nonzero(row) < 6:
        row[:6] = [1, 0.5, 2, 0.25, 1, 0.5]
    found = flip_test(row[None])
    low, high, nudge = found.low[0], found.high[0], 1e-6
    assert found.p[0] == pytest.approx(p_at(row, 0.0))
    assert p_at(row, low + nudge) > 0.05 >= p_at(row, low - nudge)
    assert p_at(row, high - nudge) > 0.05 >= p_at(row, high + nudge)
    assert low <= row.mean() <= high


@pytest.mark.parametrize("seed", range(3))
def test_drawn_signs_by_the_definition(seed):
    """The same draws for p of the shifted differences, one shift at a time."""
    values = np.random.default_rng(seed).choice([0, 1 / 3, 0.5, 1], (1, 2, 40))
    row = values[0, 1] - values[0, 0]
    found = drawn_pairs(values, [(0, 1)], draws=999)
    signs = np.concatenate(list(drawn_signs(40, 999, 0)))

    def p(shift):
        reached = np.abs(signs @ (row - shift)) >= abs((row - shift).sum()) - 1e-9
        return (reached.sum() + 1) / 1000

    low, high = found.low[0, 0], found.high[0, 0]
    assert p(low + 1e-7) > 0.05 >= p(low - 1e-7)
    assert p(high - 1e-7) > 0.05 >= p(high + 1e-7)
    assert found.p[0, 0] == p(0.0)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("n", [6, 9, 14, 20, 60, 133])
def test_zero_is_inside_exactly_where_p_is_above_the_level(shape, n):
    rng = np.random.default_rng([n, len(shape)])
    values = SHAPES[shape](rng, (3, 12, n))
    values[:, 6:] = np.minimum(values[:, 6:] + rng.choice([0, 0, 0.5, 1], (3, 6, n)), 1)
    values[2, 1, 1] = np.nan
    every = list(combinations(range(12), 2))
    found = drawn_pairs(values, every)
    told = np.isfinite(found.low)
    inside = (found.low <= 0) & (found.high >= 0)
    np.testing.assert_array_equal(inside[told], (found.p > SIGNIFICANT)[told])
    assert (found.p[~told] > SIGNIFICANT).all() or n < 133
    with np.errstate(invalid="ignore"):
        mean = np.array([[np.nanmean(m[b] - m[a]) for a, b in every] for m in values])
    assert ((found.low <= mean + 1e-9) & (mean <= found.high + 1e-9))[told].all()
    assert (np.abs([found.low[told], found.high[told]]) <= 1).all()


@given(
    st.lists(st.sampled_from([-1.0, -0.5, -1 / 3, -0.1, 0.0, 0.1, 0.2, 0.3, 1 / 3, 0.5, 1.0]), max_size=30),
    st.sampled_from([0.01, 0.05, 0.1]),
)
def test_one_row_never_contradicts_its_p(row, alpha):
    found = flip_test(np.array([row], float).reshape(1, len(row)), draws=2000, alpha=alpha)
    if np.isfinite(found.low[0]):
        assert (found.low[0] <= 0 <= found.high[0]) == (found.p[0] > alpha)
        assert found.low[0] - 1e-9 <= np.mean(row) <= found.high[0] + 1e-9


def test_fewer_than_six_that_differ_have_no_interval():
    values = np.zeros((2, 2, 40))
    values[0, 1, :5] = values[1, 1, :6] = 1
    found = drawn_pairs(values, [(0, 1)])
    assert found.p[:, 0].tolist() == [2 / 32, 2 / 64]
    assert np.isnan(found.low[0, 0])
    assert 0 < found.low[1, 0] < 0.15 < found.high[1, 0] < 0.4


@pytest.mark.parametrize("n", [8, 40])
def test_equal_differences_do_not_tell_how_far_others_may_lie(n):
    values = np.stack([np.linspace(0, 0.5, n), np.linspace(0, 0.5, n) + 0.1])[None]
    found = drawn_pairs(values, [(0, 1)])
    assert found.p[0, 0] <= SIGNIFICANT
    assert np.isnan(found.low[0, 0])
    assert np.isnan(flip_test(np.full((1, n), 0.1)).low[0])


def test_a_row_does_not_depend_on_order_direction_or_scale():
    rng = np.random.default_rng(4)
    rows = rng.choice([-1, -0.5, 0, 0, 0.5, 1, 1], (12, 60))
    rows[:4, 10:] = 0
    rows[4:6, ::4] = np.nan
    found = flip_test(rows)
    for other in (flip_test(rng.permuted(rows, axis=1)), flip_test(rows * 1024)):
        np.testing.assert_array_equal(other.p, found.p)
    np.testing.assert_array_equal(flip_test(rng.permuted(rows, axis=1)).low, found.low)
    np.testing.assert_allclose(flip_test(rows * 1024).high, found.high * 1024)
    turned = flip_test(-rows)
    np.testing.assert_array_equal([-turned.high, -turned.low], [found.low, found.high])


def test_too_few_draws_have_no_interval():
    row = np.random.default_rng(0).normal(0.2, 1, (1, 30))
    assert np.isnan(flip_test(row, draws=10).low[0])
    assert np.isfinite(flip_test(row, draws=40).low[0])


def test_one_pair_has_one_interval_wherever_it_is_asked():
    """In the table of a run and in a comparison, whatever else is compared."""
    values = np.random.default_rng(9).choice([0, 0.5, 1], (4, 50))
    ids = [f"q{i}" for i in range(50)]
    order = np.random.default_rng(1).permutation(50)
    by_id = np.argsort(ids)
    (pair,) = pairs("F1", ["a", "b"], values[:2][:, order], ids=[ids[i] for i in order])
    compared = drawn_pairs(values[None][:, :, by_id], list(combinations(range(4), 2)))
    assert (pair.p, pair.low, pair.high) == (compared.p[0, 0], compared.low[0, 0], compared.high[0, 0])
