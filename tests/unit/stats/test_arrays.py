import numpy as np

from karat.stats.arrays import DistinctRows

NAN = np.nan


def test_equal_rows_are_held_once_in_the_order_they_came():
    distinct = DistinctRows(np.array([[1.0, NAN], [0.0, 1.0], [1.0, NAN]]))
    distinct.add(np.array([[0.5, 0.5], [0.0, 1.0], [0.5, 0.5], [0.25, 0.5]]))
    np.testing.assert_array_equal(distinct.rows, [[1.0, NAN], [0.0, 1.0], [0.5, 0.5], [0.25, 0.5]])
    assert distinct.place.tolist() == [0, 1, 0, 2, 1, 2, 3]
    assert distinct.first.tolist() == [0, 1, 3, 6]


def test_no_rows():
    distinct = DistinctRows(np.zeros((0, 3)))
    distinct.add(np.zeros((0, 3)))
    assert (distinct.rows.shape, len(distinct.place), len(distinct.first)) == ((0, 3), 0, 0)
