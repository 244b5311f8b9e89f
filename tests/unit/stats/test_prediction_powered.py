"""The prediction-powered mean: by hand, its coverage by simulation, and where it must not use the judge."""

import numpy as np
import pytest

from karat.stats.prediction_powered import FEWEST, effective_labels, people_mean, powered_mean, transferred_mean
from karat.stats.tails import t_quantile

TIMES = 1_000
OTHERS = 500


def test_the_mean_is_moved_along_the_line_of_labels_on_scores():
    # labels = score - .1 on the labelled rows: slope 1; the judge says .6 there and .8 over all
    scores = np.array([0.4, 0.5, 0.6, 0.7, 0.8])
    found = powered_mean(scores - 0.1, scores, np.full(5, 1.0))
    assert found.weight == pytest.approx(1.0)
    assert found.mean == pytest.approx(0.8 - 0.1)


def test_the_interval_holds_residuals_slope_and_the_mean_of_all_scores():
    """The first two as numpy's straight line gives them, at the judge's mean over all rows."""
    draw = np.random.default_rng(5)
    scores, others = draw.random(12) * 0.4, 0.5 + draw.random(30) * 0.5
    labels = 0.8 * scores + 0.1 * draw.random(12)
    every = np.concatenate([scores, others])
    (_, level), spread = np.polyfit(scores - every.mean(), labels, 1, cov=True)
    found = powered_mean(labels, scores, others)
    assert found.mean == pytest.approx(level)
    square = spread[1, 1] + found.weight**2 * every.var(ddof=1) / 42
    assert found.high - found.mean == pytest.approx(t_quantile(10) * np.sqrt(square))
    assert found.mean - found.low == pytest.approx(found.high - found.mean)


def test_people_alone_have_the_interval_of_student():
    found = people_mean(np.array([0.2, 0.4, 0.6]))
    reach = t_quantile(2) * 0.2 / np.sqrt(3)
    assert (found.mean, found.low, found.high) == pytest.approx((0.4, 0.4 - reach, 0.4 + reach))


def test_two_valued_labels_get_one_more_of_each_before_the_interval_is_taken():
    # 8 of 10: 9 of 12 with one more of each, sd by 11; the mean itself stays .8
    found = people_mean(np.array([1.0] * 8 + [0.0] * 2), (0.0, 1.0))
    reach = t_quantile(11) * np.sqrt(0.75 * 0.25 * 12 / 11 / 12)
    assert (found.mean, found.low, found.high) == pytest.approx((0.8, 0.75 - reach, 0.75 + reach))


def test_labels_that_are_all_the_same_say_nothing_of_how_far_others_vary():
    assert people_mean(np.full(8, 0.5)).low is None
    same = people_mean(np.ones(8), (0.0, 1.0))
    assert same.mean == 1.0
    assert same.low < 0.8
    assert same.high >= 1.0


@pytest.mark.parametrize("scores", [np.full(20, 0.7), -np.linspace(0, 1, 20)], ids=["constant", "backwards"])
def test_a_judge_that_tells_nothing_leaves_the_labels_alone(scores):
    labels = np.linspace(0, 1, 20)
    found = powered_mean(labels, scores, np.full(100, 0.9))
    alone = people_mean(labels)
    assert found.weight == 0
    assert (found.mean, found.low, found.high) == pytest.approx((alone.mean, alone.low, alone.high))


def test_without_enough_labels_the_judge_is_not_used():
    assert powered_mean(np.ones(FEWEST - 1), np.ones(FEWEST - 1), np.ones(100)) is None
    assert powered_mean(np.empty(0), np.empty(0), np.ones(100)) is None
    with pytest.raises(ValueError, match="3 labels for 2 scores"):
        powered_mean(np.ones(3), np.ones(2), np.ones(9))


def test_without_other_rows_it_is_people_alone():
    labels, scores = np.linspace(0, 1, 20), np.linspace(0.2, 0.9, 20)
    alone, found = people_mean(labels), powered_mean(labels, scores, np.empty(0))
    assert (found.mean, found.low, found.high) == pytest.approx((alone.mean, alone.low, alone.high))


def graded(draw, n):
    """Labels from 1 to 5 put into 0 to 1, and a judge that sees most of what people see."""
    shared = draw.normal(size=n)
    labels = (np.clip(np.round(3.6 + 1.1 * shared + 0.4 * draw.normal(size=n)), 1, 5) - 1) / 4
    return labels, np.clip(0.75 + 0.25 * shared + 0.1 * draw.normal(size=n), 0, 1)


def continuous(draw, n):
    labels = draw.beta(4, 2, n)
    return labels, np.clip(labels + 0.1 + 0.1 * draw.normal(size=n), 0, 1)


def useless(draw, n):
    return draw.beta(4, 2, n), draw.random(n)


def yes_no(draw, n):
    labels = (draw.random(n) < 0.8).astype(float)
    return labels, np.where(labels > 0, draw.beta(6, 2, n), draw.beta(3, 4, n))


def lenient(draw, n):
    """A judge that says 0 or 1 and is wrong on a tenth."""
    labels = (draw.random(n) < 0.8).astype(float)
    return labels, np.where(draw.random(n) < 0.1, 1 - labels, labels)


def simulated(make, n, ends):
    """Share of simulated sets whose interval covers the truth, and the mean width beside that of people alone."""
    truth = make(np.random.default_rng(99), 500_000)[0].mean()
    draw = np.random.default_rng(0)
    covered, widths = 0, np.zeros(2)
    for _ in range(TIMES):
        labels, scores = make(draw, n + OTHERS)
        found = powered_mean(labels[:n], scores[:n], scores[n:], ends)
        alone = people_mean(labels[:n], ends)
        covered += found.low <= truth <= found.high
        widths += found.high - found.low, alone.high - alone.low
    return covered / TIMES, *(widths / TIMES)


@pytest.mark.slow
@pytest.mark.parametrize("n", [20, 50])
@pytest.mark.parametrize("make", [graded, continuous, useless], ids=lambda make: make.__name__)
def test_the_interval_covers_the_truth_as_often_as_it_says(make, n):
    covered, width, alone = simulated(make, n, None)
    assert 0.93 <= covered <= 0.97
    assert width < (1.1 if make is useless else 0.7) * alone


@pytest.mark.parametrize("n", [20, 50])
@pytest.mark.parametrize("make", [yes_no, lenient], ids=lambda make: make.__name__)
def test_yes_and_no_are_covered_no_less_often_than_it_says(make, n):
    covered, width, alone = simulated(make, n, (0.0, 1.0))
    assert covered >= 0.94
    assert width < 0.95 * alone


def test_the_gain_is_said_in_labels():
    labels, scores = graded(np.random.default_rng(1), 550)
    alone, found = people_mean(labels[:50]), powered_mean(labels[:50], scores[:50], scores[50:])
    worth = effective_labels(50, alone, found)
    assert worth == pytest.approx(50 * ((alone.high - alone.low) / (found.high - found.low)) ** 2)
    assert worth > 90
    assert effective_labels(8, people_mean(np.full(8, 0.5)), found) is None


def _new_run(draw, questions, *, yes=False):
    """Labels and scores of 3 systems that answer the same questions, and scores of a new run of 300 questions."""

    def rows(many, systems):
        truth = 0.6 + 0.15 * draw.normal(size=many)[None, :] + 0.1 * draw.normal(size=(systems, many))
        labels = (draw.random(truth.shape) < np.clip(truth, 0, 1)).astype(float) if yes else truth
        return labels.ravel(), (truth + 0.1 + 0.1 * draw.normal(size=truth.shape)).ravel()

    labels, scores = rows(questions, 3)
    return labels, scores, np.tile(np.arange(questions), 3), rows(300, 1)[1]


@pytest.mark.slow
@pytest.mark.parametrize("yes", [False, True], ids=["continuous", "yes or no"])
@pytest.mark.parametrize("questions", [10, 25])
def test_a_calibration_taken_over_to_new_rows_covers_their_mean(questions, yes):
    draw, covered = np.random.default_rng(8), 0
    for _ in range(TIMES):
        given = _new_run(draw, questions, yes=yes)
        found = transferred_mean(*given, (0.0, 1.0) if yes else None)
        if found is None:  # the judge told nothing of these labels, and nothing is claimed
            covered += 1
            continue
        covered += found.low <= 0.6 <= found.high
    assert covered / TIMES > 0.925


def test_a_calibration_taken_over_by_hand():
    # labels = score - .1 on the labelled rows, and new rows that the judge scores .9
    scores = np.array([0.4, 0.5, 0.6, 0.7, 0.8])
    found = transferred_mean(scores - 0.1, scores, np.arange(5), np.full(4, 0.9))
    assert (found.mean, found.weight) == (pytest.approx(0.8), pytest.approx(1.0))


def test_nothing_is_taken_over_from_a_judge_that_tells_nothing():
    labels, new = np.linspace(0, 1, 8), np.full(5, 0.5)
    assert transferred_mean(labels, np.full(8, 0.7), np.arange(8), new) is None
    assert transferred_mean(labels, -labels, np.arange(8), new) is None
    assert transferred_mean(labels[:4], labels[:4], np.arange(4), new) is None
    assert transferred_mean(labels, labels, np.arange(8), new[:0]) is None
