"""Agreement by hand: kappa, alpha, Spearman, and the interval of a mean difference."""

import numpy as np
import pytest

from karat.stats.agreement import (
    cohen_kappa,
    confusion,
    difference_between,
    kappa_interval,
    krippendorff_alpha,
    mean_difference,
    spearman,
)

NAN = np.nan


def test_a_confusion_table_counts_the_first_rater_by_row():
    assert confusion(np.array([0, 0, 1, 1, 1]), np.array([0, 1, 1, 1, 0]), 2).tolist() == [[1, 1], [1, 2]]


def test_kappa_by_hand():
    # 35 of 50 agree; by chance (25 * 30 + 25 * 20) / 50^2 = .5; (.7 - .5) / (1 - .5)
    assert cohen_kappa(np.array([[20, 5], [10, 15]])) == pytest.approx(0.4)
    assert cohen_kappa(np.array([[5, 0], [0, 3]])) == pytest.approx(1.0)
    assert cohen_kappa(np.array([[0, 4], [4, 0]])) == pytest.approx(-1.0)


def test_weighted_kappa_by_hand():
    # disagreements weigh 1, 1 and 4: 6 seen; margins 4 3 3 and 3 3 4 expect (12+4*16 + 9+12 + 4*9+9)/10 = 14.2
    table = np.array([[3, 0, 1], [0, 2, 1], [0, 1, 2]])
    assert cohen_kappa(table, np.array([1.0, 2.0, 3.0])) == pytest.approx(1 - 6 / 14.2)
    assert cohen_kappa(table, np.array([0.0, 0.5, 1.0])) == pytest.approx(1 - 6 / 14.2)


def test_linear_weights_by_hand():
    # disagreements weigh 1, 1 and 2: 4 seen; margins 4 3 3 and 3 3 4 expect (12+2*16 + 9+12 + 2*9+9)/10 = 9.2
    table = np.array([[3, 0, 1], [0, 2, 1], [0, 1, 2]])
    assert cohen_kappa(table, np.array([1.0, 2.0, 3.0]), "linear") == pytest.approx(1 - 4 / 9.2)


def test_alpha_by_ratio_by_hand():
    # one item 1 and 3, one item 2 and 2: (2/4)^2 seen twice of 4; pairs of all values 1 3 2 2 expect
    # 2 x (1/4 + 2 x 1/9 + 2 x 1/25) over 12
    seen, expected = 2 * 0.25 / 4, 2 * (0.25 + 2 / 9 + 2 / 25) / 12
    assert krippendorff_alpha(np.array([[1.0, 2], [3, 2]]), "ratio") == pytest.approx(1 - seen / expected)
    assert krippendorff_alpha(np.array([[-1.0, 2], [3, 2]]), "ratio") is None


def test_the_difference_of_two_groups_by_hand():
    values, second = np.array([1.0, 2, 3, 5, 6, 7]), np.array([False, False, False, True, True, True])
    gap, low, high = difference_between(values, second, np.arange(6))
    # each group has a variance of 1: sum of (2/3)^2 ... pulls 1/9 x 4 rows x 6/5, t of 5
    reach = 2.570582 * (4 / 9 * 6 / 5) ** 0.5
    assert (gap, low, high) == pytest.approx((4, 4 - reach, 4 + reach), abs=1e-5)
    assert difference_between(values, np.ones(6, bool), np.arange(6)) == (None, None, None)
    assert difference_between(values[:4], second[:4], np.arange(4)) == (3, None, None)


def test_answers_shown_in_both_positions_are_compared_within_questions():
    """What is hard about a question leaves the difference between its two rows."""
    draw = np.random.default_rng(0)
    hard, groups = draw.normal(size=40), np.tile(np.arange(40), 2)
    values = np.concatenate([hard, hard + 0.1]) + 0.01 * draw.normal(size=80)
    second = np.arange(80) >= 40
    _, low, high = difference_between(values, second, groups)
    assert 0.09 < low < high < 0.11
    _, low, high = difference_between(values, second, np.arange(80))
    assert low < 0 < high


def test_kappa_is_undefined_where_one_category_is_all_there_is():
    assert cohen_kappa(np.array([[7, 0], [0, 0]])) is None
    assert cohen_kappa(np.array([[7, 0], [0, 0]]), np.array([0.0, 1.0])) is None
    assert cohen_kappa(np.array([[6, 1], [0, 0]])) == 0.0


def tables(first, second):
    made = np.zeros((len(first), 2, 2))
    made[np.arange(len(first)), first, second] = 1
    return made


def test_the_interval_of_kappa_narrows_with_questions_and_needs_some():
    first, second = np.array([0, 0, 0, 1, 1, 1, 0, 1] * 5), np.array([0, 0, 1, 1, 1, 0, 0, 1] * 5)
    low, high = kappa_interval(tables(first, second))
    assert -1 <= low < 0.5 < high <= 1
    many = kappa_interval(tables(np.tile(first, 10), np.tile(second, 10)))
    assert (many[1] - many[0]) < 0.4 * (high - low)
    assert kappa_interval(tables(first[:2], second[:2])) is None
    assert kappa_interval(tables(first, first)) is None


def test_answers_to_one_question_count_as_one():
    """Four systems that answer alike tell no more than one."""
    first, second = np.array([0, 0, 0, 1, 1, 1, 0, 1] * 5), np.array([0, 0, 1, 1, 1, 0, 0, 1] * 5)
    assert kappa_interval(tables(first, second) * 4) == pytest.approx(kappa_interval(tables(first, second)))


def test_alpha_by_hand():
    # two raters, four items, one disagreement: o = [[4, 1], [1, 2]], n = 5 and 3;
    # alpha = 1 - 7 * 2 / (2 * 5 * 3)
    assert krippendorff_alpha(np.array([[0.0, 0, 1, 1], [0.0, 0, 1, 0]])) == pytest.approx(1 - 14 / 30)


def test_alpha_of_three_raters_with_ratings_missing():
    # item 1 is 1 1, item 2 is 1 2 2, item 3 has one rating and is left out. Of item 2 each ordered pair counts 1/2:
    # o11 = 2, o12 = o21 = 1, o22 = 1, so n1 = 3, n2 = 2
    ratings = np.array([[1, 1, 3], [1, 2, NAN], [NAN, 2, NAN]], float)
    assert krippendorff_alpha(ratings) == pytest.approx(1 - 4 * 2 / (2 * 3 * 2))


def test_alpha_knows_order_and_distance():
    near = np.array([[1, 2, 3, 4, 5, 5], [1, 2, 3, 4, 5, 4]], float)
    far = np.array([[1, 2, 3, 4, 5, 5], [1, 2, 3, 4, 5, 1]], float)
    assert krippendorff_alpha(near, "interval") > krippendorff_alpha(far, "interval") + 0.2
    assert krippendorff_alpha(near, "ordinal") > krippendorff_alpha(far, "ordinal") + 0.2
    assert krippendorff_alpha(near, "nominal") == pytest.approx(krippendorff_alpha(far, "nominal"), abs=0.05)


@pytest.mark.parametrize("ratings", [[[1, NAN], [NAN, 1]], [[1, 1], [1, 1]], [[NAN, NAN], [NAN, NAN]]])
@pytest.mark.parametrize("metric", ["nominal", "ordinal", "interval"])
def test_alpha_is_undefined_where_there_is_nothing_to_agree_about(ratings, metric):
    assert krippendorff_alpha(np.array(ratings, float), metric) is None


def test_spearman_by_hand():
    assert spearman(np.array([1.0, 2, 3]), np.array([10.0, 20, 90])) == pytest.approx(1.0)
    # ranks 0 1.5 1.5 3 and 0 1 2 3: 4.5 / sqrt(4.5 * 5)
    assert spearman(np.array([1.0, 2, 2, 3]), np.array([1.0, 2, 3, 4])) == pytest.approx(4.5 / np.sqrt(22.5))
    assert spearman(np.array([1.0, 1, 1]), np.array([1.0, 2, 3])) is None
    assert spearman(np.array([1.0, 2]), np.array([1.0, 2])) is None


def test_a_mean_difference_has_the_classical_interval_where_questions_differ():
    # 0 .1 .2: mean .1, sd .1, t of 2 degrees 4.3027
    mean, low, high = mean_difference(np.array([0.0, 0.1, 0.2]), np.array([4, 5, 6]))
    reach = 4.302653 * 0.1 / np.sqrt(3)
    assert (mean, low, high) == pytest.approx((0.1, 0.1 - reach, 0.1 + reach), abs=1e-6)


def test_repeated_answers_to_a_question_do_not_narrow_a_difference():
    one = mean_difference(np.array([0.0, 0.1, 0.2]), np.arange(3))
    four = mean_difference(np.tile([0.0, 0.1, 0.2], 4), np.tile(np.arange(3), 4))
    assert four == pytest.approx(one)
    assert mean_difference(np.array([0.2, 0.2, 0.2]), np.arange(3))[1:] == (None, None)
    assert mean_difference(np.array([0.2, 0.3]), np.arange(2))[1:] == (None, None)
