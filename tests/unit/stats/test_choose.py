from dataclasses import asdict

import numpy as np
import pytest

from karat.stats.choose import cells_of, choose
from karat.stats.corrections import adjust
from karat.stats.intervals import mean_intervals
from karat.stats.optimism import selection_p

NAN = np.nan


def chosen(values, kinds=None, **more):
    values = np.array(values, float)
    cells = cells_of([(f"s{i}", "F1@5", 5) for i in range(len(values))], values)
    return choose("F1", cells, values, kinds=kinds, **more)


def studied(seed=0, cells=8, questions=40, step=0.02):
    rng = np.random.default_rng(seed)
    return rng.random(questions) + rng.normal(0, 0.1, (cells, questions)) + step * np.arange(cells)[:, None]


def test_cells_by_hand():
    values = np.array([[1.0, 0.0, NAN], [0.5, 0.5, 0.5], [NAN, NAN, NAN], [NAN, 1.0, NAN]])
    found = cells_of([("a", "F1@3", 3), ("b", "MRR", None), ("c", "F1@5", 5), ("d", "F1@5", 5)], values)
    assert [(c.system, c.n) for c in found] == [("a", 2), ("b", 3), ("c", 0), ("d", 1)]
    assert [c.mean for c in found[:2]] == [0.5, 0.5]
    assert np.isnan(found[2].mean)
    low, high = mean_intervals(values, (0.0, 1.0))
    assert [(c.low, c.high) for c in found if c.n] == [(low[i], high[i]) for i in (0, 1, 3)]
    assert found[1].low < 0.5 < found[1].high
    assert (found[2].low, found[2].high) == (None, None)
    unbounded = cells_of([("b", "LengthRatio", None)], values[1:2], bounds=(0.0, np.inf))
    assert (unbounded[0].low, unbounded[0].high) == (None, None)
    with pytest.raises(ValueError, match="zip"):
        cells_of([("a", "F1", None)], values)


def test_the_best_its_equals_and_those_it_beats():
    found = chosen(studied())
    assert found.best.system == "s7"
    assert {p.a for p in found.equals} | {p.a for p in found.beaten} == {f"s{i}" for i in range(7)}
    assert {p.b for p in (*found.equals, *found.beaten)} == {"s7"}
    assert all(p.adjusted <= 0.05 and p.difference > 0 for p in found.beaten)
    assert all(p.adjusted > 0.05 for p in found.equals)
    assert "s6" in {p.a for p in found.equals}
    assert "s0" in {p.a for p in found.beaten}


def test_of_equal_means_the_earlier_cell():
    found = chosen([[0.1, 0.2, 0.3], [0.3, 0.2, 0.1], [0.2, 0.2, 0.2]])
    assert found.best.system == "s0"
    assert found.beaten == ()
    assert found.ties == ("s1", "s2")


def test_being_picked_for_its_lead_is_held_against_the_best():
    """Equal cells of which Holm alone would call some worse than the luckiest."""
    values = np.random.default_rng(0).normal(0.5, 0.3, (30, 60))
    found = chosen(values, ["a"] * 60)
    every = (*found.equals, *found.beaten)
    plain = adjust([pair.p for pair in every])
    best = int(found.best.system.removeprefix("s"))
    chance = selection_p(values, best)
    expected = [max(p, chance[int(pair.a[1:].partition(" ")[0])]) for p, pair in zip(plain, every, strict=True)]
    assert [pair.adjusted for pair in every] == expected
    assert (plain <= 0.05).any()
    assert found.beaten == ()
    assert len(found.by_kind[0].equals) == 29


def test_of_two_cells_the_p_is_that_of_their_pair():
    """A test of two sides takes both for the one that may have been picked: run and compare say the same."""
    for differ in range(3, 9):
        values = np.zeros((2, 20))
        values[1, :differ] = 1.0
        found = chosen(values)
        (pair,) = (*found.equals, *found.beaten)
        assert pair.adjusted == pair.p == 2.0 ** (1 - differ)


def test_a_cell_that_is_better_where_both_have_values_is_not_beaten():
    values = np.full((2, 40), 0.6)
    values[0] = 0.5
    values[0, :4] = 5.0
    values[1, :4] = NAN
    found = chosen(values)
    assert found.best.system == "s0"
    assert [(pair.a, round(pair.difference, 3), pair.losses) for pair in found.equals] == [("s1", -0.1, 36)]


def test_cross_validation_by_hand():
    """Two cells, two questions, one fold each: the cell chosen on one question is scored on the other."""
    found = chosen([[1.0, 0.0], [0.0, 0.6]])
    # trained on the first s0 is chosen and gets 0 on the second; on the second s1, 0 on the first
    assert found.cross_validated == 0
    assert found.optimism == 0.5
    assert found.picks == {"s0": 10, "s1": 10}
    assert found.oracle == 0.8


def test_choosing_among_noise_is_seen_through():
    rng = np.random.default_rng(5)
    gained, optimism = [], []
    for _ in range(10):
        values = rng.random((20, 30))
        found = chosen(values)
        gained.append(found.best.mean - 0.5)
        optimism.append(found.optimism)
        assert found.cross_validated == pytest.approx(found.best.mean - found.optimism)
    assert np.mean(gained) > 0.08
    assert np.mean(optimism) == pytest.approx(np.mean(gained), abs=0.03)


def test_a_clear_winner_is_not_flattered():
    values = np.random.default_rng(0).random((5, 30)) * 0.1
    values[2] += 0.8
    found = chosen(values)
    assert found.optimism == pytest.approx(0)
    assert found.picks == {"s2": 50}
    assert found.equals == ()


def test_by_kind():
    values = np.zeros((3, 30))
    values[0] = 0.5
    values[1, :12] = 1.0  # of kind a
    values[2, 12:27] = 0.6  # of kind b
    noise = np.random.default_rng(0).normal(0, 0.02, values.shape)
    kinds = ["a"] * 12 + ["b"] * 15 + ["c"] * 2 + [None]
    found = chosen(values + noise, kinds)
    assert [(k.kind, k.n, k.best.system) for k in found.by_kind] == [("a", 12, "s1"), ("b", 15, "s2")]
    assert found.too_few == {"c": 2}
    assert found.by_kind[0].equals == ()
    assert found.by_kind[0].best.mean == pytest.approx(1, abs=0.02)


def test_kinds_too_small_for_any_difference_are_named():
    values = np.vstack([np.ones(12), *np.zeros((9, 12))])
    found = chosen(values, ["a"] * 6 + ["b"] * 6)
    # 2 / 2^6 times 9 is above .05
    assert [len(k.equals) for k in found.by_kind] == [9, 9]


def test_one_cell_is_no_choice():
    found = chosen(studied(cells=1))
    assert (found.equals, found.beaten, found.optimism) == ((), (), 0)


def test_one_question():
    found = chosen([[0.2], [0.9]])
    assert (found.best.system, found.best.low, found.cross_validated) == ("s1", None, None)
    assert found.oracle == 0.9
    assert [p.p for p in found.equals] == [1]


def test_all_equal():
    found = chosen(np.full((3, 10), 0.4))
    assert found.best.system == "s0"
    assert (found.optimism, found.oracle, len(found.equals)) == (pytest.approx(0), pytest.approx(0.4), 2)


def test_nothing_to_choose_from():
    assert chosen(np.full((3, 4), NAN)) is None
    assert chosen(np.empty((0, 4))) is None
    assert chosen(np.empty((2, 0))) is None


def test_a_cell_of_few_questions_is_not_the_best():
    values = studied()
    values[3] = NAN
    values[3, 0] = 99.0
    values[0] = NAN
    found = chosen(values)
    assert found.best.system == "s7"
    assert [c.n for c in found.cells][:4] == [0, 40, 40, 1]
    assert "s0" not in {p.a for p in (*found.equals, *found.beaten)}
    assert (found.barred, [p.a for p in found.ahead]) == (("s0", "s3"), ["s3"])


def test_a_barred_cell_that_is_ahead_is_said_to_be_ahead_and_why_it_is_barred():
    values = np.random.default_rng(1).random((3, 80)) * 0.2
    values[1] += 0.4
    values[1, :20] = NAN
    found = chosen(values)
    (pair,) = found.ahead
    assert (pair.a, found.barred) == ("s1", ("s1",))
    assert "s1" not in {p.a for p in (*found.equals, *found.beaten)}
    assert pair.difference < -0.3
    assert found.ranked[0].system == "s1"


def test_what_to_expect_has_an_interval_and_two_digits():
    found = chosen(studied())
    mean, low, high = found.cross_validated, found.expected_low, found.expected_high
    assert low < mean < high


def test_cells_stand_best_first_by_the_direction_of_the_measure():
    rows = [[0.2] * 4, [0.6] * 4, [0.4] * 4, [NAN] * 4]
    assert [c.system for c in chosen(rows).ranked] == ["s1", "s2", "s0"]
    assert [c.system for c in chosen(rows, higher_is_better=False).ranked] == ["s0", "s2", "s1"]


def test_questions_without_a_value_change_nothing():
    values = studied()
    wide = np.hstack([values, np.full((8, 5), NAN)])
    a, b = chosen(values), chosen(wide)
    assert a.cross_validated == b.cross_validated
    assert a.best == b.best
    assert a.oracle == b.oracle


def test_lower_can_be_better():
    values = studied()
    low, high = chosen(-values, higher_is_better=False), chosen(values)
    assert low.best.system == high.best.system
    assert low.optimism == pytest.approx(high.optimism)
    assert low.oracle == pytest.approx(-high.oracle)
    assert low.picks == high.picks
    assert [p.a for p in low.beaten] == [p.a for p in high.beaten]


def test_same_input_same_choice():
    kinds = ["a", "b"] * 20
    assert asdict(chosen(studied(), kinds)) == asdict(chosen(studied(), kinds))
    assert chosen(studied(step=0), kinds, seed=1).cross_validated != chosen(studied(step=0), kinds).cross_validated


def test_copies_of_a_cell_have_its_figures():
    """A fine grid holds most rows many times: each is a test of its own, and has the numbers of the others."""
    values = studied(cells=5)
    many = chosen(np.concatenate([values, values[[1, 1, 3]]]))
    assert (many.best.system, many.ties) == ("s3", ("s7",))
    assert {cell.system: cell.mean for cell in many.cells}["s6"] == many.cells[1].mean
    held = {pair.a: pair for pair in (*many.equals, *many.beaten)}
    first, copy = (asdict(held[name]) | {"a": ""} for name in ("s1", "s6"))
    assert first == copy
    assert (held["s7"].difference, held["s7"].p, held["s7"].adjusted) == (0, 1, 1)
    assert set(many.picks) <= {f"s{i}" for i in range(5)}
    alone = chosen(values)
    assert (many.oracle, many.optimism) == (alone.oracle, alone.optimism)
    assert held["s1"].p == {pair.a: pair.p for pair in (*alone.equals, *alone.beaten)}["s1"]


def test_cells_without_a_question_of_a_kind_in_common_with_the_best_are_in_no_correction():
    """Of kind a p is 2 / 2^6 for the one that shares questions with the best; two tests would make it .0625."""
    apart = np.array([1.0] * 6 + [NAN] * 6)
    alone = np.array([NAN] * 6 + [0.1] * 6)
    values = np.vstack([apart, 0 * apart, alone])
    rest = np.vstack([np.zeros(24), np.ones(24), np.ones(24)])
    found = chosen(np.hstack([values, rest]), ["a"] * 12 + ["b"] * 24)
    assert (found.by_kind[0].best.system, found.by_kind[0].equals) == ("s0", ("s2",))
