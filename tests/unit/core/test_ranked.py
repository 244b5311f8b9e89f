import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from karat.core.ranked import Ranked, best_first


def ranked(queries, hits, depth=None):
    query, rows, scores = (
        np.array([hit[i] for hit in hits], kind) for i, kind in enumerate((np.int64, np.int64, float))
    )
    return Ranked.ordered(queries, query, rows, scores, depth)


def lists(found):
    return [list(zip(rows.tolist(), scores.tolist(), strict=True)) for rows, scores in found]


def test_best_first_and_of_equal_scores_the_higher_row():
    found = ranked(3, [(0, 1, 0.5), (2, 7, -1.0), (0, 4, 0.5), (0, 2, 0.9), (2, 3, -0.5)])
    assert lists(found) == [[(2, 0.9), (4, 0.5), (1, 0.5)], [], [(3, -0.5), (7, -1.0)]]
    assert found.rank.tolist() == [1, 2, 3, 1, 2]
    assert found.query.tolist() == [0, 0, 0, 2, 2]


def test_scores_that_differ_beyond_float32_are_equal():
    assert lists(ranked(1, [(0, 1, 1.0 + 1e-12), (0, 2, 1.0)])) == [[(2, 1.0), (1, 1.0 + 1e-12)]]
    assert lists(ranked(1, [(0, 1, 0.0), (0, 2, -0.0)]))[0][0][0] == 2


def test_the_top_and_some_queries_of_a_ranking():
    found = ranked(2, [(0, 1, 3.0), (0, 2, 2.0), (1, 5, 1.0)])
    assert lists(found.top(1)) == [[(1, 3.0)], [(5, 1.0)]]
    assert lists(found.take(np.array([1, 0, 1]))) == [[(5, 1.0)], [(1, 3.0), (2, 2.0)], [(5, 1.0)]]
    assert lists(Ranked.empty(2)) == [[], []]


SCORES = st.floats(-(2.0**100), 2.0**100, width=32)


@given(st.lists(st.tuples(st.integers(0, 3), SCORES), max_size=40))
def test_one_key_sorts_as_query_and_score_do(hits):
    query = np.array([q for q, _ in hits], np.int64)
    scores = np.array([s for _, s in hits], float)
    expected = sorted(range(len(hits)), key=lambda i: (query[i], -scores[i]))
    assert best_first(query, scores).tolist() == expected


def test_ranks_and_places_of_rows():
    ranked = Ranked(np.array([0, 3, 3, 5]), np.array([7, 2, 9, 2, 4]), np.array([3.0, 2.0, 1.0, 5.0, 5.0]))
    assert ranked.find(np.array([0, 0, 1, 2, 2]), np.array([9, 4, 7, 4, -1])).tolist() == [2, -1, -1, 4, -1]
    rows = [np.array([9, 2]), np.array([2]), np.array([], np.int64), np.array([4, 100]), np.array([3])]
    assert ranked.ranks_of(np.array([0, 1, 0, 2, 2]), rows).tolist() == [2, 0, 0, 2, 0]
    assert Ranked.empty(2).ranks_of(np.array([0, 1]), rows[:2]).tolist() == [0, 0]
    assert ranked.ranks_of(np.array([], np.int64), []).tolist() == []
