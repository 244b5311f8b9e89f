from karat.core.measure import Measure, MeasureSpec
from karat.results.decisions import mark
from karat.results.evaluation import Summary


def row(*figures):
    return [
        Summary(system=name, measure="m", n=9, n_undefined=0, n_failed=0, mean=mean, low=low, high=high)
        for name, mean, low, high in figures
    ]


def measure(direction="higher"):
    return Measure(MeasureSpec("m", lambda judged: judged, direction=direction))


def test_best_and_those_whose_intervals_overlap_it():
    marks = mark(measure(), row(("a", 0.5, 0.45, 0.55), ("b", 0.6, 0.54, 0.66), ("c", 0.3, 0.25, 0.35)))
    assert (marks.best, marks.near) == ({"b"}, {"a"})


def test_lower_is_better_where_the_measure_says_so():
    marks = mark(measure("lower"), row(("a", 0.5, 0.45, 0.55), ("b", 0.6, 0.54, 0.66), ("c", 0.3, 0.25, 0.35)))
    assert (marks.best, marks.near) == ({"c"}, set())


def test_ties_are_all_best():
    marks = mark(measure(), row(("a", 0.3 + 0.3, 0.5, 0.7), ("b", 0.6, 0.5, 0.7)))
    assert (marks.best, marks.near) == ({"a", "b"}, set())


def test_nothing_is_best_without_direction_rival_or_interval():
    two = row(("a", 0.5, 0.4, 0.6), ("b", 0.7, 0.6, 0.8))
    assert not mark(measure("none"), two).best
    assert not mark(measure(), two[:1]).best
    assert not mark(measure(), row(("a", 0.5, 0.4, 0.6), ("b", 0.7, None, None))).best
    assert not mark(measure(), row(("a", 0.5, 0.4, 0.6), ("b", None, None, None))).best
