"""Reranking with scorers made by hand; the real cross-encoder is tested beside the models."""

import numpy as np
import pytest

from karat.core.errors import KaratError, UsageError
from karat.core.ranked import Ranked
from karat.retrieve import rerank

TEXTS = ["none", "one", "two", "three", "four"]
RANKED = Ranked(np.array([0, 4, 4, 6]), np.array([4, 3, 2, 1, 1, 0]), np.array([9.0, 8.0, 7.0, 6.0, 0.5, 0.25]))
QUERIES = ["a", "b", "c"]


class Scorer:
    """Scores from a table by passage, and what it was asked."""

    def __init__(self, **scores):
        self.scores, self.asked = scores, []

    def score(self, pairs):
        self.asked.append(pairs)
        return np.array([self.scores[text] for _, text in pairs])


def test_the_first_are_ordered_anew_and_the_rest_follow_as_they_stood():
    scorer = Scorer(four=-2.0, three=0.5, one=1.0, none=3.0)
    done = rerank(RANKED, TEXTS.__getitem__, QUERIES, scorer, depth=2).ranked
    assert [rows.tolist() for rows, _ in done] == [[3, 4, 2, 1], [], [0, 1]]
    assert [scores.tolist() for _, scores in done] == [[0.5, -2.0, -3.0, -4.0], [], [3.0, 1.0]]
    assert scorer.asked == [[("a", "four"), ("a", "three")], [("c", "one"), ("c", "none")]]


@pytest.mark.parametrize("floor", [-1e30, -3e7, 0.0, 2.0, 5e8, 1e30])
def test_the_rest_stays_below_and_in_order_whatever_the_scores(floor):
    rows = np.arange(3000)
    long = Ranked(np.array([0, 3000]), rows, np.linspace(1, 0, 3000))
    done = rerank(long, str, ["q"], Scorer(**{"0": floor, "1": floor + abs(floor)}), depth=2).ranked
    assert done.rows[2:].tolist() == rows[2:].tolist()
    assert (np.diff(done.scores[1:].astype(np.float32)) < 0).all()


def test_ties_go_to_the_higher_row():
    done = rerank(RANKED, TEXTS.__getitem__, QUERIES, Scorer(four=1, three=1, two=1, one=1, none=1), depth=9).ranked
    assert [rows.tolist() for rows, _ in done] == [[4, 3, 2, 1], [], [1, 0]]


@pytest.mark.parametrize("depth", [0, -1, 2.5, True])
def test_a_depth_that_cannot_be(depth):
    with pytest.raises(UsageError, match="depth"):
        rerank(RANKED, TEXTS.__getitem__, QUERIES, Scorer(), depth=depth)


def test_a_query_for_each_ranking():
    with pytest.raises(UsageError, match="2 queries for 3 rankings"):
        rerank(RANKED, TEXTS.__getitem__, QUERIES[:2], Scorer())


@pytest.mark.parametrize("given", [[1.0, np.nan], [1.0], [[1.0, 2.0]]])
def test_a_scorer_that_fails_is_not_believed(given):
    class Broken:
        def score(self, pairs):
            return np.array(given)

    with pytest.raises(KaratError, match="One finite number for each pair"):
        rerank(RANKED, TEXTS.__getitem__, QUERIES, Broken(), depth=2)
