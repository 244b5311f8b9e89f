"""All figures between pairs, put together."""

import numpy as np
import pytest

from karat.stats.compare import compare_systems

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
