import numpy as np
import pytest

from karat.core.measure import ANYTHING, Measure, MeasureSpec
from karat.core.scores import Scores, Status
from karat.results.evaluation import Summary
from karat.stats.summary import refusals, summarise, targets, usage


def a_measure(name="Recall", k=5, **declared):
    return Measure(MeasureSpec(name, lambda judged, k=None: judged, cut="optional", **declared), k)


def scores_of(rows, *, measure=None, statuses=None):
    """Scores of one measure; `rows` is {system: values}, "u" and "f" stand for undefined and failed."""
    kinds = {"u": Status.undefined, "f": Status.failed}
    values = np.array([[[np.nan if v in kinds else v] for v in row] for row in rows.values()], float)
    status = np.array([[[kinds.get(v, Status.ok)] for v in row] for row in rows.values()], np.uint8)
    questions = tuple(f"q{i}" for i in range(values.shape[1]))
    return Scores(tuple(rows), questions, (measure or a_measure(),), values=values, status=status)


def test_figures_by_hand():
    (s,) = summarise(scores_of({"bm25": [0, 1, 0.5, "u", 0.25]}), bands=["Recall"])
    assert (s.system, s.measure, s.n, s.n_undefined, s.n_failed) == ("bm25", "Recall@5", 4, 1, 0)
    assert s.mean == 0.4375
    assert s.std == pytest.approx(0.4269562818950)
    assert (s.min, s.q25, s.q50, s.q75, s.max) == (0, 0.1875, 0.375, 0.625, 1)
    assert s.low < s.mean < s.high
    assert (s.worst, s.best) == (None, None)
    assert (s.slice, s.value) == (None, None)
    assert (s.n_lowest, s.n_highest, s.n_reaching) == (1, 1, 2)
    assert s.band == "Fair"


def test_quantiles_and_std_agree_with_numpy_on_ragged_columns():
    rng = np.random.default_rng(0)
    rows = {f"s{i}": [("u" if rng.random() < 0.2 else rng.random()) for _ in range(40)] for i in range(6)}
    for s, row in zip(summarise(scores_of(rows), intervals=False), rows.values(), strict=True):
        known = np.array([v for v in row if v != "u"])
        assert s.n == len(known)
        np.testing.assert_allclose(
            [s.mean, s.std, s.min, s.q25, s.q50, s.q75, s.max],
            [known.mean(), known.std(ddof=1), *np.percentile(known, [0, 25, 50, 75, 100])],
        )
        assert s.low is None


def test_failed_rows_give_a_worst_and_a_best_mean():
    (s,) = summarise(scores_of({"a": [1, 0.5, "f", "f"]}))
    assert (s.n, s.n_failed, s.mean, s.worst, s.best) == (2, 2, 0.75, 0.375, 0.875)


def test_worst_is_the_upper_bound_where_lower_is_better():
    (s,) = summarise(scores_of({"a": [0.2, "f"]}, measure=a_measure("HallucinationRate", None, direction="lower")))
    assert (s.worst, s.best) == (0.6, 0.1)


def test_no_worst_or_best_at_an_infinite_bound():
    (s,) = summarise(scores_of({"a": [3, "f"]}, measure=a_measure("x", None, bounds=ANYTHING)))
    assert (s.worst, s.best) == (None, None)
    (s,) = summarise(scores_of({"a": [3, "f"]}, measure=a_measure("x", None, bounds=(0.0, np.inf))))
    assert (s.worst, s.best) == (1.5, None)


def test_without_values_there_is_no_number():
    (s,) = summarise(scores_of({"a": ["u", "u"]}))
    assert (s.n, s.n_undefined) == (0, 2)
    assert {s.mean, s.low, s.high, s.std, s.min, s.q50, s.max, s.band, s.n_lowest, s.n_reaching} == {None}
    (s,) = summarise(scores_of({"a": ["f"]}))
    assert (s.mean, s.worst, s.best) == (None, 0, 1)


def test_one_value_has_no_std_and_no_interval():
    (s,) = summarise(scores_of({"a": [0.4, "u"]}))
    assert (s.mean, s.std, s.low, s.high, s.q25) == (0.4, None, None, None, 0.4)


def test_a_value_that_is_not_a_number_counts_as_failed():
    (s,) = summarise(scores_of({"a": [np.inf, 0.5, np.nan]}))
    assert (s.n, s.n_failed, s.mean) == (1, 2, 0.5)


def test_equal_values_have_their_value_as_mean():
    (s,) = summarise(scores_of({"a": [0.1] * 7}))
    assert (s.mean, s.std) == (0.1, 0)
    assert s.low < 0.1 < s.high


def test_slices_follow_the_whole_set_in_order_of_appearance():
    scores = scores_of({"a": [1, 0, 0.5, 0.25], "b": [0, 0, 0, 1]})
    found = summarise(scores, slices={"kind": ["x", None, "w", "x"]})
    assert [(s.slice, s.value, s.system, s.n) for s in found] == [
        (None, None, "a", 4),
        (None, None, "b", 4),
        ("kind", "x", "a", 2),
        ("kind", "x", "b", 2),
        ("kind", "w", "a", 1),
        ("kind", "w", "b", 1),
        ("kind", "(none)", "a", 1),
        ("kind", "(none)", "b", 1),
    ]
    assert [s.mean for s in found[2:]] == [0.625, 0.5, 0.5, 0, 0, 0]


def test_the_interval_of_a_slice_is_that_of_its_values_alone():
    scores = scores_of({"a": [1, 0, 0.5, 0.25, 0.75, 0]})
    sliced = summarise(scores, slices={"kind": ["x", "x", "x", "x", "y", "y"]})[1]
    (alone,) = summarise(scores_of({"a": [1, 0, 0.5, 0.25]}))
    assert (sliced.low, sliced.high) == (alone.low, alone.high)


def test_a_slice_of_another_length_is_refused():
    with pytest.raises(ValueError, match="2 values for 3 questions"):
        summarise(scores_of({"a": [1, 0, 1]}), slices={"kind": ["x", "y"]})


def test_a_measure_on_the_log_scale_is_averaged_there():
    """The geometric mean, its interval that of the mean logarithm, failed rows at the bounds."""
    rows = [0.5, 0.125, 0.25, "f"]
    on_logs = a_measure("GMAP", scale="log", bounds=(1e-5, 1.0))
    (summary,) = summarise(scores_of({"s": rows}, measure=on_logs))
    assert summary.mean == pytest.approx(0.25)
    assert (summary.min, summary.q50, summary.max) == (0.125, 0.25, 0.5)
    assert summary.std == pytest.approx(np.std(rows[:3], ddof=1))
    (of_logs,) = summarise(scores_of({"s": np.log(rows[:3]).tolist()}, measure=a_measure(bounds=ANYTHING)))
    assert np.log([summary.low, summary.high]) == pytest.approx([of_logs.low, min(of_logs.high, 0.0)])
    assert summary.worst == pytest.approx((0.5 * 0.125 * 0.25 * 1e-5) ** 0.25)
    assert summary.best == pytest.approx((0.5 * 0.125 * 0.25) ** 0.25)


def test_usage_by_hand():
    found = usage("a", "seconds", [1.0, None, 3.0, 2.0])
    assert (found.n, found.mean, found.p50) == (3, 2.0, 2.0)
    assert found.p95 == pytest.approx(2.9)
    assert (found.std, found.min, found.max, found.total) == (1.0, 1.0, 3.0, 6.0)
    assert usage("a", "seconds", [4.0]).std is None
    assert usage("a", "tokens", [None, None]) is None
    assert usage("a", "tokens", []) is None


def test_declining_is_right_on_what_cannot_be_answered():
    found = refusals("s", [True, True, True, False, False, None], [False, False, True, True, False, False])
    assert (found.n, found.unanswerable, found.declined, found.right, found.empty) == (6, 4, 3, 2, 1)
    assert (found.precision, found.recall) == (pytest.approx(2 / 3), 1 / 2)
    assert found.f1 == pytest.approx(2 * (2 / 3) * (1 / 2) / (2 / 3 + 1 / 2))


def test_a_number_over_nothing_is_none():
    nothing = refusals("s", [False, None], [True, False])
    assert (nothing.precision, nothing.recall, nothing.f1) == (None, 0.0, 0.0)
    answerable = refusals("s", [True, False], [True, True])
    assert (answerable.precision, answerable.recall, answerable.f1) == (0.0, None, None)


def test_targets_are_met_above_not_at():
    found = targets(
        [
            Summary(system="a", measure="F1@5", n=9, n_undefined=0, n_failed=0, mean=0.5),
            Summary(system="a", measure="Hit@5", n=9, n_undefined=0, n_failed=0, mean=0.81),
            Summary(system="a", measure="MRR", n=0, n_undefined=9, n_failed=0),
            Summary(system="a", measure="MRR", n=3, n_undefined=0, n_failed=0, mean=0.9, slice="kind", value="x"),
            Summary(system="a", measure="Recall@5", n=9, n_undefined=0, n_failed=0, mean=0.5),
        ],
        {"F1@5": 1 / 3},
    )
    assert targets([Summary(system="a", measure="MRR(rel=2)", n=9, n_undefined=0, n_failed=0, mean=0.6)], {})[0].met
    assert targets([Summary(system="a", measure="MRR", n=0, n_undefined=0, n_failed=9)], {})[0].met is None
    assert [(t.measure, t.threshold, t.met, t.ceiling) for t in found] == [
        ("F1@5", 0.5, False, 1 / 3),
        ("Hit@5", 0.8, True, 1.0),
    ]
