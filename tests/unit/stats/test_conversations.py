"""Turns of conversations in intervals, tests and choices: whole conversations are resampled."""

from itertools import product

import numpy as np
import pytest

from karat.stats.choose import cells_of, choose
from karat.stats.compare import compare_systems, pairs
from karat.stats.intervals import mean_intervals
from karat.stats.optimism import cross_validate, selection_p
from karat.stats.paired_tests import paired_t
from karat.stats.permutation import drawn_pairs, flip_test
from karat.stats.power import worst_spread
from karat.stats.tails import t_quantile
from karat.stats.tukey import tukey

NAN, FREE = np.nan, (-np.inf, np.inf)
SHARES = (0.0, 1.0)
Z = 1.959963984540054


def turns(seed, studies, many=50, size=5, icc=0.3):
    """Scores of turns, and the number of each turn's conversation."""
    rng = np.random.default_rng(seed)
    of_conversation = np.repeat(rng.normal(0, icc**0.5, (studies, many)), size, axis=1)
    return of_conversation + rng.normal(0, (1 - icc) ** 0.5, (studies, many * size)), np.repeat(np.arange(many), size)


# What a conversation counts


def test_deviations_of_conversations_make_the_interval():
    # mean 3; deviations of the conversations (1 + 2 - 6, 3 + 4 - 6, 8 - 3, 0 - 3) = -3, 1, 5, -3
    low, high = mean_intervals(np.array([[1.0, 3.0, 2.0, 4.0, 8.0, 0.0]]), FREE, clusters=[0, 1, 0, 1, 2, 3])
    squares, cubes = 9 + 1 + 25 + 9, -27 + 1 + 125 - 27
    skew, error, reach = cubes / (6 * squares**1.5), squares**0.5 / 6, (4 / 3) ** 0.5 * t_quantile(3)
    ends = [3 + error * (skew + w) / (1 - skew * (skew + w)) ** 2 for w in (-reach, reach)]
    np.testing.assert_allclose([low[0], high[0]], ends, rtol=1e-12)


def test_design_effect_of_right_and_wrong_answers():
    # 4 conversations of 2: shares 1, 1, .5, 0; mean .625; deviations .75, .75, -.25, -1.25
    row = np.array([[1.0, 1, 1, 1, 1, 0, 0, 0]])
    between, within = 4 / 3 * (2 * 0.75**2 + 0.25**2 + 1.25**2), 8 / 7 * 8 * 0.625 * 0.375
    n = 8 / (between / within) * (Z / t_quantile(3)) ** 2
    centre = (0.625 + Z**2 / (2 * n)) / (1 + Z**2 / n)
    reach = Z / (1 + Z**2 / n) * (0.625 * 0.375 / n + Z**2 / (4 * n * n)) ** 0.5
    low, high = mean_intervals(row, SHARES, clusters=[0, 0, 1, 1, 2, 2, 3, 3])
    np.testing.assert_allclose([low[0], high[0]], [centre - reach, centre + reach], rtol=1e-12)


def test_what_does_not_vary_is_worth_one_turn_a_conversation():
    n = 4 * (Z / t_quantile(3)) ** 2
    low, high = mean_intervals(np.ones((1, 8)), SHARES, clusters=np.repeat(range(4), 2))
    np.testing.assert_allclose([low[0], high[0]], [n / (n + Z**2), 1.0], rtol=1e-12)


def test_turns_that_are_less_alike_than_chance_are_worth_no_more_than_questions():
    clusters = np.repeat(range(30), 2)
    row = np.tile([0.0, 1.0], 30)[None]
    low, high = mean_intervals(row, SHARES, clusters=clusters)
    own, most = mean_intervals(row, SHARES)
    assert low[0] <= own[0]
    assert high[0] >= most[0]


def test_one_conversation_tells_nothing():
    for bounds, row in ((FREE, [1.0, 2.0, 3.0]), (SHARES, [1.0, 1.0, 1.0]), (SHARES, [0.0, 1.0, 1.0])):
        assert np.isnan(mean_intervals(np.array([row]), bounds, clusters=[4, 4, 4])).all()
    tested = flip_test(np.array([[1.0, 2.0, 3.0]]), clusters=[4, 4, 4])
    assert (tested.p[0], np.isnan(tested.low[0])) == (1.0, True)


@pytest.mark.parametrize("seed", range(3))
def test_student_is_that_of_conversation_means_where_all_are_as_long(seed):
    rows, clusters = turns(seed, 4, many=12, size=3)
    means = rows.reshape(4, 12, 3).mean(axis=2)
    found, plain = paired_t(rows, clusters), paired_t(means)
    np.testing.assert_allclose(found.p, plain.p, rtol=1e-10)
    np.testing.assert_allclose(found.effective / 36**0.5, plain.spread / 12**0.5, rtol=1e-12)
    np.testing.assert_array_equal(found.d, paired_t(rows).d)


def test_wilcoxon_and_tukey_take_sums_and_mcnemar_is_left_out():
    rows, clusters = turns(3, 3, many=9, size=2)
    sums = rows.reshape(3, 9, 2).sum(axis=2)
    every = [(0, 1), (0, 2), (1, 2)]
    found, plain = compare_systems(rows[None], every, clusters=clusters), compare_systems(sums[None], every)
    np.testing.assert_allclose(found.wilcoxon, plain.wilcoxon, rtol=1e-12)
    np.testing.assert_array_equal(found.tukey, plain.tukey)
    np.testing.assert_array_equal(found.permutation, plain.permutation)
    np.testing.assert_allclose([found.low, found.high], [plain.low / 2, plain.high / 2], rtol=1e-9)
    assert (found.n == 18).all()
    right = (rows > 0).astype(float)
    assert np.isnan(compare_systems(right[None], every, clusters=clusters).mcnemar).all()
    assert np.isfinite(compare_systems(right[None], every).mcnemar).all()


def test_worst_spread_by_hand():
    assert worst_spread([0, 0, 0, 1]) == pytest.approx((10 / 4) ** 0.5)


# Laws


def test_conversations_of_one_turn_change_no_bit():
    rows = np.random.default_rng(1).choice([0.0, 0.2, 1.0, NAN], (40, 25), p=[0.4, 0.2, 0.3, 0.1])
    alone, kinds = np.random.default_rng(2).permutation(25), ["x", "y", "z", "x", "y"] * 5
    every = [(i, i + 1) for i in range(39)]
    labels = [(str(i), "M", None) for i in range(40)]
    cells = cells_of(labels, rows)
    for plain, turned in (
        (mean_intervals(rows, SHARES), mean_intervals(rows, SHARES, clusters=alone)),
        (vars(flip_test(rows)).values(), vars(flip_test(rows, clusters=alone)).values()),
        (vars(drawn_pairs(rows[None], every)).values(), vars(drawn_pairs(rows[None], every, clusters=alone)).values()),
        (
            vars(compare_systems(rows[None], every)).values(),
            vars(compare_systems(rows[None], every, clusters=alone)).values(),
        ),
        ([selection_p(rows, 0)], [selection_p(rows, 0, clusters=alone)]),
    ):
        for one, other in zip(plain, turned, strict=True):
            np.testing.assert_array_equal(one, other)
    assert cells == cells_of(labels, rows, clusters=alone)
    assert choose("M", cells, rows, kinds=kinds) == choose("M", cells, rows, kinds=kinds, clusters=alone.tolist())


def test_rows_whose_values_are_all_of_different_conversations_are_as_they_were():
    rows = np.array([[1.0, NAN, 0.5, NAN, 0.2, 0.9, -0.4, 0.3], [1.0, 2.0, 0.5, 0.1, 0.2, 0.9, -0.4, 0.3]])
    clusters, kept = [0, 0, 1, 1, 2, 3, 4, 5], [0, 2, 4, 5, 6, 7]
    for found, plain in (
        (mean_intervals(rows, FREE, clusters=clusters), mean_intervals(rows[:1, kept], FREE)),
        (vars(flip_test(rows, clusters=clusters)).values(), vars(flip_test(rows[:1, kept])).values()),
    ):
        for one, other in zip(found, plain, strict=True):
            assert one[0] == other[0]
    assert flip_test(rows, clusters=clusters).p[1] != flip_test(rows).p[1]


@pytest.mark.parametrize("many", [5, 7, 30])
def test_order_and_numbers_of_conversations_change_nothing(many):
    rng = np.random.default_rng(many)
    clusters = np.repeat(np.arange(many), rng.integers(1, 6, many))
    rows = rng.choice([0.0, 0.25, 0.5, 1.0, NAN], (6, len(clusters)))
    ids = np.array([f"q{place:03}" for place in range(len(clusters))])
    order = rng.permutation(len(clusters))
    other = (rng.permutation(many) * 7 + 3)[clusters]
    first, second = (
        pairs("M", [*"abcdef"], rows, ids=ids, clusters=clusters.tolist()),
        pairs("M", [*"abcdef"], rows[:, order], ids=ids[order], clusters=other[order].tolist()),
    )
    assert first == second
    differences = rows[:3] - rows[3:]
    for one, two in zip(
        (*mean_intervals(rows, SHARES, clusters=clusters), *vars(flip_test(differences, clusters=clusters)).values()),
        (
            *mean_intervals(rows[:, order], SHARES, clusters=other[order]),
            *vars(flip_test(differences[:, order], clusters=other[order])).values(),
        ),
        strict=True,
    ):
        np.testing.assert_allclose(one, two, rtol=1e-12)


def test_conversations_without_a_difference_have_p_1():
    # .1 + .2 - .3 is not 0 in doubles
    row = np.array([[0.1, 0.2, -0.3, 0.7, -0.7, 0.0, 0.3, -0.1, -0.2]])
    clusters = [0, 0, 0, 1, 1, 2, 3, 3, 3]
    assert flip_test(row, clusters=clusters).p[0] == 1.0
    tested = drawn_pairs(np.stack([np.zeros(9), row[0]])[None], [(0, 1)], clusters=clusters)
    assert tested.p[0, 0] == 1.0
    assert np.isnan(tested.low[0, 0])


def test_conversations_with_the_same_mean_difference_have_no_interval():
    clusters = np.repeat(range(8), [1, 2, 3, 1, 2, 3, 1, 2])
    row = np.full((1, 15), 0.3)
    tested = flip_test(row, clusters=clusters)
    assert tested.p[0] == 2 / 2**8
    assert np.isnan(tested.low[0])


def test_fewer_than_six_conversations_that_differ_show_nothing():
    rows, clusters = np.random.default_rng(0).random((20, 50)), np.repeat(range(5), 10)
    tested = flip_test(rows, clusters=clusters)
    assert tested.p.min() == 2 / 2**5
    assert np.isnan([tested.low, tested.high]).all()


def p_of(d0, sums, sizes, signs):
    """The share of all ways to put the signs of conversations that lie as far from zero, of differences less d0."""
    left = sums - sizes * d0
    return float((np.abs(signs @ left) >= abs(left.sum()) - 1e-9).mean())


@pytest.mark.parametrize("seed", range(25))
def test_p_and_interval_are_those_of_all_ways_and_agree(seed):
    rng = np.random.default_rng(seed)
    many = int(rng.integers(6, 10))
    clusters = np.repeat(np.arange(many), rng.integers(1, 5, many))
    differences = rng.normal(0.25, 0.5, len(clusters))
    if seed % 3 == 0:
        differences = np.round(differences * 2) / 2  # ties, and conversations without a difference
    sums, sizes = np.bincount(clusters, differences), np.bincount(clusters)
    signs = np.array(list(product((-1.0, 1.0), repeat=many)))
    for tested in (
        flip_test(differences[None], clusters=clusters),
        drawn_pairs(np.stack([np.zeros(len(clusters)), differences])[None], [(0, 1)], clusters=clusters),
    ):
        p, low, high = (float(np.ravel(one)[0]) for one in vars(tested).values())
        assert p == p_of(0.0, sums, sizes, signs)
        if np.isnan(low):
            assert (np.abs(sums) > 1e-12).sum() < 6
            continue
        assert (p <= 0.05) == (not low <= 0 <= high)
        near = 1e-6
        for d0, inside in ((low + near, True), (high - near, True), (low - near, False), (high + near, False)):
            assert (p_of(d0, sums, sizes, signs) > 0.05) == inside, (low, high, d0)


@pytest.mark.parametrize("shift", [0.0, 0.1, 0.2, 0.3])
def test_drawn_p_and_interval_agree(shift):
    rows, clusters = turns(int(10 * shift), 60, many=25, size=3)
    clusters = clusters[:70]
    rows = np.round(rows[:, :70] + shift, 1)
    tested = flip_test(rows, draws=500, clusters=clusters)
    assert ((tested.p <= 0.05) == ~((tested.low <= 0) & (tested.high >= 0))).all()
    common = drawn_pairs(
        np.stack([np.zeros_like(rows), rows], axis=1).reshape(1, -1, 70),
        [(2 * i, 2 * i + 1) for i in range(60)],
        draws=500,
        clusters=clusters,
    )
    assert ((common.p <= 0.05) == ~((common.low <= 0) & (common.high >= 0))).all()
    assert np.abs(common.p[0] - tested.p).max() < 0.1


# Choices


def test_folds_deal_whole_conversations():
    rng = np.random.default_rng(4)
    clusters = rng.permutation(np.repeat(range(20), 3))
    values = rng.random((6, 20))[:, clusters]
    values -= values.mean(axis=1, keepdims=True)
    every = np.ones(6, bool)
    strata = [str(number % 3) for number in clusters]
    found = cross_validate(values, 0, every, strata, 0, clusters)
    assert all(len(set(found.values[clusters == number])) == 1 for number in range(20))
    plain = cross_validate(values, 0, every, strata, 0)
    assert any(len(set(plain.values[clusters == number])) > 1 for number in range(20))
    assert cross_validate(values[:, clusters == 0], 0, every, None, 0, np.zeros(3, np.int64)) is None


def test_what_to_expect_is_of_the_questions_with_a_value():
    rows, clusters = turns(5, 3, many=12, size=4)
    rows[:, 7] = NAN
    kept = np.arange(48) != 7
    cells = cells_of([(name, "M", None) for name in "abc"], rows, bounds=FREE, clusters=clusters)
    found, plain = (
        choose("M", cells, values, bounds=FREE, clusters=numbers.tolist())
        for values, numbers in ((rows, clusters), (rows[:, kept], clusters[kept]))
    )
    assert (found.expected_low, found.expected_high) == (plain.expected_low, plain.expected_high)
    assert found.expected_high - found.expected_low > 0


def test_selection_flips_whole_conversations():
    rows, clusters = turns(8, 5, many=12, size=4)
    sums = rows.reshape(5, 12, 4).sum(axis=2)
    np.testing.assert_array_equal(selection_p(rows, 2, clusters=clusters), selection_p(sums, 2))


def test_tukey_shuffles_the_turns_of_a_conversation_together():
    rows, clusters = turns(9, 4, many=10, size=3)
    np.testing.assert_array_equal(tukey(rows, clusters=clusters), tukey(rows.reshape(4, 10, 3).sum(axis=2)))


# What it is for


def level_and_coverage(studies, draws, seed):
    """Shares of tests that reject without a difference and of intervals that hold the mean; by turn first."""
    values, clusters = turns(seed, 2 * studies)
    every = [(2 * study, 2 * study + 1) for study in range(studies)]
    for groups in (None, clusters):
        rejected = drawn_pairs(values[None], every, draws=draws, alpha=None, clusters=groups).p <= 0.05
        low, high = mean_intervals(values, FREE, clusters=groups)
        yield rejected.mean(), ((low <= 0) & (high >= 0)).mean()


@pytest.mark.parametrize(
    ("studies", "draws", "most", "least"),
    [(400, 199, 0.08, 0.93), pytest.param(4_000, 999, 0.065, 0.94, marks=pytest.mark.slow)],
)
def test_level_and_coverage_hold_by_conversation_and_not_by_turn(studies, draws, most, least):
    by_turn, by_conversation = level_and_coverage(studies, draws, 20261118)
    assert by_turn[0] > 0.12
    assert by_turn[1] < 0.88
    assert by_conversation[0] <= most
    assert by_conversation[1] >= least
