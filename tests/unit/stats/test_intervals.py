"""The interval of a mean, by kind of number."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.core.language import parse_all
from karat.core.scores import Scores
from karat.stats.intervals import abc_intervals, mean_intervals, student_reach
from karat.stats.summary import summarise

UNIT, ANY = (0.0, 1.0), (-np.inf, np.inf)
Z = 1.959963984540054


def ends(values, bounds=UNIT, **more):
    low, high = mean_intervals(np.array([values], float), bounds, **more)
    return (low[0], high[0])


def wilson(share, n):
    centre = (share + Z * Z / (2 * n)) / (1 + Z * Z / n)
    reach = Z / (1 + Z * Z / n) * math.sqrt(share * (1 - share) / n + Z * Z / (4 * n * n))
    return centre - reach, centre + reach


def test_all_right_is_no_certainty():
    """20 of 20: the textbook's Wilson interval begins at .839."""
    low, high = ends([1.0] * 20)
    assert (round(low, 4), high) == (0.8389, 1.0)
    assert ends([0.0] * 20) == (0.0, pytest.approx(0.1611, abs=1e-4))


def test_a_summary_of_all_right_has_a_lower_end_below_one():
    scores = Scores(
        ("a",),
        tuple(map(str, range(20))),
        parse_all(["Hit@5"]),
        values=np.ones((1, 20, 1)),
        status=np.zeros((1, 20, 1)),
    )
    (summary,) = summarise(scores)
    assert (summary.mean, summary.high) == (1.0, 1.0)
    assert summary.low == pytest.approx(0.8389, abs=1e-4)


def test_0_and_1_are_wilson_at_any_size():
    for right, n in ((1, 2), (7, 20), (133, 500), (1200, 4000)):
        assert ends([1.0] * right + [0.0] * (n - right)) == pytest.approx(wilson(right / n, n), abs=1e-12)
    assert ends([1.0]) == pytest.approx(wilson(1.0, 1), abs=1e-12)


def test_ends_of_another_range():
    low, high = ends([-1.0, 1.0, 1.0, 1.0], (-1.0, 1.0))
    assert (low, high) == pytest.approx(tuple(2 * end - 1 for end in wilson(0.75, 4)))


def test_most_at_one_bound_are_wilson_of_their_sum():
    values = [1.0] * 8 + [0.5, 0.25]
    assert ends(values) == pytest.approx(wilson(0.875, 10), abs=1e-12)
    drawn = ends([1.0] * 7 + [0.5, 0.25, 0.75])
    assert drawn != pytest.approx(wilson(0.85, 10), abs=1e-3)
    assert drawn == tuple(end[0] for end in abc_intervals(np.array([[0.25, 0.5, 0.75] + [1.0] * 7])))


def test_equal_values_are_wilson_where_there_are_bounds():
    assert ends([0.2] * 30) == pytest.approx(wilson(0.2, 30), abs=1e-12)
    assert np.isnan(ends([3.5] * 30, ANY)).all()
    assert np.isnan(ends([5.0] * 30, (0.0, np.inf))).all()


def test_one_value_within_the_range_has_none():
    assert np.isnan(ends([0.5])).all()
    assert np.isnan(ends([2.5], ANY)).all()
    assert np.isnan(ends([])).all()


@pytest.mark.parametrize("n", [3, 30, 1000])
def test_other_values_are_analytic(n):
    values = np.random.default_rng(1).beta(1.2, 3, n)
    away = values - values.mean()
    a = (away**3).sum() / (6 * (away**2).sum() ** 1.5)
    s = values.std() / math.sqrt(n)
    by_hand = [values.mean() + s * w / (1 - a * w) ** 2 for w in (a - student_reach(n), a + student_reach(n))]
    assert ends(values) == pytest.approx(np.clip(by_hand, 0, 1), abs=1e-12)


def test_the_most_skewed_values_have_finite_ends():
    """One value apart from all others: the acceleration is greatest, and the ends are finite and hold the mean."""
    for n in range(3, 3000, 7):
        low, high = (end[0] for end in abc_intervals(np.append(np.zeros(n - 1), 1.0)[None]))
        assert low < 1 / n < high < 40 / n


def test_values_past_their_range_are_taken_for_unbounded():
    values = np.append(np.ones(19), 2.0)
    low, high = ends(values)
    assert low <= 1.05 < high
    assert np.isnan(ends([2.0] * 20)).all()


def test_rows_leave_out_what_is_not_finite_and_do_not_depend_on_each_other():
    rng = np.random.default_rng(2)
    rows = np.vstack([rng.random((3, 40)), rng.choice([0.0, 1.0], (2, 40)), np.ones((1, 40))])
    rows[1, ::3] = np.nan
    low, high = mean_intervals(rows, np.array([UNIT] * 5 + [ANY]))
    for row, bounds in enumerate([UNIT] * 5 + [ANY]):
        known = rows[row][np.isfinite(rows[row])]
        np.testing.assert_array_equal((low[row], high[row]), ends(rng.permutation(known), bounds))


def test_the_level_widens():
    values = np.random.default_rng(3).random(50)
    for sample in (values, np.round(values), np.tile(values, 30)):
        low, high = ends(sample)
        wide = ends(sample, level=0.99)
        assert wide[0] < low < high < wide[1]


SHAPES = st.sampled_from(
    [st.sampled_from([0.0, 1.0]), st.sampled_from([0.0, 0.5, 1.0]), st.floats(0, 1), st.sampled_from([0.2, 0.0])]
)


@given(SHAPES.flatmap(lambda value: st.lists(value, min_size=2, max_size=40)), st.sampled_from([1, 30]))
def test_an_interval_holds_the_mean_and_stays_within_the_range(values, times):
    values = np.tile(values, times)
    low, high = ends(values)
    assert 0 <= low <= values.mean() + 1e-12
    assert values.mean() - 1e-12 <= high <= 1
    assert low < high
