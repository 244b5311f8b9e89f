"""Figures between pairs of systems, all together and as the pairs of a study."""

import numpy as np
import pytest

from karat.stats.compare import compare_systems, draws_for, pairs
from karat.stats.corrections import adjust
from karat.stats.permutation import drawn_pairs

NAN = np.nan
VALUES = np.array(
    [
        [[0.0, 0.0, 1.0, 1.0, 0.0, 0.0], [1.0, 1.0, 1.0, 0.0, 1.0, np.nan]],
        [[0.2, 0.4, 0.6, 0.8, 0.1, 0.3], [0.2, 0.5, 0.4, 0.9, 0.3, 0.3]],
    ]
)


def test_figures_of_a_pair():
    found = compare_systems(VALUES, [(0, 1)])
    assert found.n.tolist() == [[5], [6]]
    assert found.difference[0, 0] == pytest.approx(0.4)
    assert (found.wins[0, 0], found.losses[0, 0]) == (3, 1)
    assert found.mcnemar[0, 0] == pytest.approx(10 / 16)
    assert found.permutation[0, 0] == pytest.approx(10 / 16)
    assert np.isnan(found.mcnemar[1, 0])
    assert np.isnan(found.tukey).all()


def test_less_is_better():
    found = compare_systems(VALUES, [(0, 1)], lower=[False, True])
    assert (found.wins[1, 0], found.losses[1, 0]) == (1, 3)


def test_pairs_without_a_common_question_are_no_part_of_the_correction():
    rng = np.random.default_rng(1)
    values = np.concatenate([rng.random((1, 3, 40)), np.full((1, 1, 40), NAN)], axis=1)
    three = [(0, 1), (0, 2), (1, 2)]
    alone = compare_systems(values, three, draws=500).adjusted("permutation", "holm")
    beside = compare_systems(values, [*three, (0, 3), (2, 3)], draws=500).adjusted("permutation", "holm")
    assert beside[0].tolist() == [*alone[0].tolist(), 1.0, 1.0]


def test_corrections_are_over_pairs_and_measures():
    rng = np.random.default_rng(1)
    found = compare_systems(rng.random((2, 3, 40)), [(0, 1), (0, 2), (1, 2)], draws=500)
    p = found.permutation
    assert found.adjusted("permutation", "bonferroni")[1, 2] == pytest.approx(min(1, 6 * p[1, 2]))
    assert found.adjusted("permutation", "none")[0, 1] == p[0, 1]
    assert found.adjusted("tukey", "holm")[0, 1] == pytest.approx(min(1, 2 * found.tukey[0, 1]))
    assert (found.adjusted("wilcoxon", "holm") >= found.wilcoxon).all()


def test_a_test_without_a_value_gives_way_to_the_permutation():
    values = np.stack([np.linspace(0, 0.5, 20), np.linspace(0, 0.5, 20) + 0.1])[None]
    found = compare_systems(values, [(0, 1)])
    assert np.isnan(found.t[0, 0])
    assert found.p("t")[0, 0] == found.permutation[0, 0]


def test_only_the_tests_that_are_asked_for():
    found = compare_systems(np.random.default_rng(1).random((1, 3, 9)), [(0, 1)], tests=())
    assert np.isnan(found.wilcoxon).all()
    assert np.isnan(found.tukey).all()
    assert np.isfinite([found.permutation, found.low, found.high]).all()


SYSTEMS = np.array(
    [
        [0.0, 0.5, 0.0, 1.0, 0.2],
        [1.0, 0.5, 0.5, 1.0, 0.1],
        [NAN, 0.5, 1.0, NAN, 0.4],
    ]
)


def test_pairs_by_hand():
    ab, ac, bc = pairs("F1@5", ["a", "b", "c"], SYSTEMS)
    assert (ab.a, ab.b, ab.measure) == ("a", "b", "F1@5")
    # 1 0 .5 0 -.1
    assert (ab.n, ab.wins, ab.ties, ab.losses) == (5, 2, 2, 1)
    assert ab.difference == pytest.approx(1.4 / 5)
    # three differ; sums of +-1 +-.5 +-.1 with 1.4 seen: 1.6 and 1.4, both signs
    assert ab.p == 4 / 8
    # c has three questions: 0 1 .2 against a, 0 .5 .3 against b
    assert (ac.n, ac.wins, ac.ties, ac.losses) == (3, 2, 1, 0)
    assert ac.difference == pytest.approx(0.4)
    assert ac.p == 2 / 4
    assert bc.difference == pytest.approx(0.8 / 3)
    assert [pair.adjusted for pair in (ab, ac, bc)] == adjust([0.5, 0.5, 0.5]).tolist()


def test_the_interval_is_that_of_the_test():
    values = np.random.default_rng(1).random((2, 30))
    (pair,) = pairs("MRR", ["a", "b"], values, seed=4)
    drawn = drawn_pairs(values[None], [(0, 1)], seed=4)
    assert (pair.p, pair.low, pair.high) == (drawn.p[0, 0], drawn.low[0, 0], drawn.high[0, 0])
    (few,) = pairs("MRR", ["a", "b"], SYSTEMS[:2])  # three questions differ
    assert (few.low, few.high) == (None, None)


def test_chosen_pairs_and_their_direction():
    (pair,) = pairs("F1", ["a", "b", "c"], SYSTEMS, [(1, 0)])
    assert (pair.a, pair.b, pair.wins, pair.losses) == ("b", "a", 1, 2)
    assert pair.difference == pytest.approx(-1.4 / 5)
    assert pair.adjusted == pair.p  # one pair: nothing to correct for


def test_holm_is_over_the_pairs_of_the_call():
    values = np.vstack([np.zeros(12), np.ones(12), np.full(12, 0.5)])
    assert {pair.adjusted for pair in pairs("F1", "abc", values)} == {3 * 2 / 2**12}
    assert {pair.adjusted for pair in pairs("F1", "abc", values, [(0, 1), (0, 2)])} == {2 * 2 / 2**12}


def test_of_pairs_lower_can_be_better():
    (pair,) = pairs("Seconds", ["a", "b"], SYSTEMS[:2], higher_is_better=False)
    assert (pair.wins, pair.ties, pair.losses) == (1, 2, 2)
    assert pair.difference == pytest.approx(1.4 / 5)  # still b - a


def test_equal_systems_and_pairs_without_a_common_question():
    same, apart = pairs("F1", ["a", "b", "c"], np.array([[1, NAN], [1, NAN], [NAN, 1]]), [(0, 1), (0, 2)])
    assert (same.n, same.difference, same.p, same.low, same.ties) == (1, 0, 1, None, 1)
    assert (apart.n, apart.p, apart.low, apart.wins, apart.ties, apart.losses) == (0, 1, None, 0, 0, 0)
    assert apart.difference is None


def test_infinite_values_are_none():
    (pair,) = pairs("F1", ["a", "b"], np.array([[1.0, np.inf, 0.0], [np.inf, np.inf, 1.0]]))
    assert (pair.n, pair.difference) == (1, 1.0)


def test_nothing_to_pair():
    assert pairs("F1", ["a"], SYSTEMS[:1]) == ()


def test_many_pairs_can_still_be_told_apart():
    """1 / (draws + 1) times the number of pairs must be able to fall below .05."""
    assert draws_for(1) == draws_for(250) == 10_000
    assert all(many / (draws_for(many) + 1) < 0.05 for many in (251, 1000, 4000))
    values = np.vstack([np.random.default_rng(0).random((600, 40)), np.full(40, 2.0)])
    found = pairs("F1", [str(i) for i in range(601)], values, [(i, 600) for i in range(600)])
    assert max(pair.adjusted for pair in found) <= 0.05
