from karat.core.measure import Measure, MeasureSpec
from karat.report.build.evaluation import leader
from karat.results.decisions import best_systems
from karat.results.evaluation import Summary


def row(*figures):
    return [
        Summary(system=name, measure="m", n=9, n_undefined=0, n_failed=0, mean=mean, low=low, high=high)
        for name, mean, low, high in figures
    ]


def measure(direction="higher"):
    return Measure(MeasureSpec("m", lambda judged: judged, direction=direction))


def test_best_and_those_whose_intervals_overlap_it():
    best = best_systems(measure(), row(("a", 0.5, 0.45, 0.55), ("b", 0.6, 0.54, 0.66), ("c", 0.3, 0.25, 0.35)))
    assert (best.best, best.near) == ({"b"}, {"a"})


def test_lower_is_better_where_the_measure_says_so():
    best = best_systems(measure("lower"), row(("a", 0.5, 0.45, 0.55), ("b", 0.6, 0.54, 0.66), ("c", 0.3, 0.25, 0.35)))
    assert (best.best, best.near) == ({"c"}, set())


def test_ties_are_all_best():
    best = best_systems(measure(), row(("a", 0.3 + 0.3, 0.5, 0.7), ("b", 0.6, 0.5, 0.7)))
    assert (best.best, best.near) == ({"a", "b"}, set())


def test_nothing_is_best_without_direction_rival_or_interval():
    two = row(("a", 0.5, 0.4, 0.6), ("b", 0.7, 0.6, 0.8))
    assert not best_systems(measure("none"), two).best
    assert not best_systems(measure(), two[:1]).best
    assert not best_systems(measure(), row(("a", 0.5, 0.4, 0.6), ("b", 0.7, None, None))).best
    assert not best_systems(measure(), row(("a", 0.5, 0.4, 0.6), ("b", None, None, None))).best


def test_a_mean_over_fewer_questions_is_not_ranked():
    """A system that fails on its hard questions has a high mean over the rest."""
    figures = (("a", 0.5, 0.45, 0.55, 100), ("b", 0.6, 0.54, 0.66, 90), ("c", 0.9, 0.85, 0.95, 89))
    several = [
        Summary(system=name, measure="m", n=n, n_undefined=0, n_failed=100 - n, mean=mean, low=low, high=high)
        for name, mean, low, high, n in figures
    ]
    best = best_systems(measure(), several)
    assert (best.best, best.near, best.barred) == ({"b"}, {"a"}, {"c"})
    assert "".join(map(best.sign, "abc")) == "~*!"
    said = leader(measure(), several, best)
    assert "b, .6" in said
    assert said.endswith("not ranked for want of values: c.")


def test_an_interval_that_is_not_known_is_not_said_to_overlap_nothing():
    several = row(("a", 0.5, None, None), ("b", 0.7, 0.6, 0.8))
    assert not leader(measure(), several, best_systems(measure(), several)).endswith("overlaps.")
