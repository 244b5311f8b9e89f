"""Scores of all pairs: values, statuses and reasons."""

import numpy as np
import pytest

from karat.core.answered import AnswerTable
from karat.core.errors import UsageError
from karat.core.language import parse
from karat.core.measure import Measure, measure
from karat.core.run import Run
from karat.core.scores import MeasureResult, Status
from karat.core.types import TestSet
from karat.match import judge
from karat.measures.compute import Unscored, compute

QRELS = {"a": {"x": 1}, "b": {"y": 0}, "c": {"z": 2}}
RUNS = {"one": {"a": ["w", "x"], "c": ["z"]}, "two": {"b": ["y"], "c": ["w"]}}
JUDGED = judge(TestSet(qrels=QRELS), [Run.from_lists(n, lists) for n, lists in RUNS.items()])


def scored(*measures, no_gold_is_zero=False, **unscored):
    made = [parse(m) if isinstance(m, str) else m for m in measures]
    return compute(
        made, JUDGED.systems, JUDGED.questions, judged=JUDGED, unscored=Unscored(**unscored),
        no_gold_is_zero=no_gold_is_zero,
    )  # fmt: skip


def of(function, **declared):
    return Measure(measure(name="mine", **declared)(function).__karat_measure__)


def test_values_statuses_and_reasons():
    scores = scored("MRR", "Retrieved")
    assert scores.values[:, :, 0].tolist()[0][0] == 0.5
    assert scores.value(0, 2, 0) == 1.0
    assert scores.value(1, 0, 0) == 0.0  # judged, and the run does not answer it
    assert scores.value(0, 1, 0) is None
    assert scores.reason(0, 1, 0) == "no relevant gold"
    assert scores.value(0, 1, 1) == 0.0  # a count needs no gold
    assert scores.reason(0, 0, 0) is None


def test_without_gold_a_dialect_may_score_zero():
    scores = scored("MRR", no_gold_is_zero=True)
    assert scores.value(0, 1, 0) == 0.0
    assert (scores.status == Status.ok).all()


def test_rel_decides_what_has_gold():
    assert [scored("MRR(rel=2)").value(0, q, 0) for q in range(3)] == [None, None, 1.0]


def test_a_failed_pair_has_no_value_whatever_was_computed():
    scores = scored("MRR", "Retrieved", failed={2: "the engine raised"})
    assert scores.value(0, 2, 0) is None
    assert scores.status[0, 2].tolist() == [Status.failed, Status.failed]
    assert scores.reason(0, 2, 1) == "the engine raised"
    assert scores.value(1, 2, 0) == 0.0


def test_what_a_system_does_not_hold_is_undefined_not_zero():
    absent = {"retrieval": {"two": "the results hold no rankings"}}
    scores = scored("MRR", "EM", absent=absent)
    assert [scores.value(1, q, 0) for q in range(3)] == [None] * 3
    assert scores.reason(1, 2, 0) == "the results hold no rankings"
    assert scores.value(0, 0, 0) == 0.5
    assert scores.reason(0, 0, 1) == "no answer results"
    everywhere = {"retrieval": dict.fromkeys(("one", "two"), "nothing ranked")}
    assert set(scored("MRR", absent=everywhere).reasons.values()) == {"nothing ranked"}


def test_an_infinite_value_is_a_failure_and_nan_undefined():
    scores = scored(of(lambda judged: np.array([np.inf, 1, -np.inf, np.nan, 1, 1]), needs_gold=False))
    assert scores.status[:, :, 0].tolist() == [[2, 0, 2], [1, 0, 0]]
    assert scores.reason(0, 0, 0) == "the measure gave an infinite value"
    assert scores.reason(1, 0, 0)
    assert np.isnan(scores.values[0, 0, 0])


def test_an_outcome_brings_its_own_reasons():
    scores = scored(
        of(lambda judged: MeasureResult(np.ones(6), {0: "too short"}, failed={5: "refused"}), needs_gold=False)
    )
    assert scores.reason(0, 0, 0) == "too short"
    assert scores.status[1, 2, 0] == Status.failed
    assert scores.value(0, 1, 0) == 1.0


def test_an_exception_of_another_packages_measure_fails_its_rows_only():
    def breaks(judged):
        raise ZeroDivisionError("by design")

    scores = scored("MRR", of(breaks))
    assert (scores.status[:, :, 1] == Status.failed).all()
    assert scores.reason(0, 0, 1) == "ZeroDivisionError: by design"
    assert scores.value(0, 0, 0) == 0.5


@pytest.mark.parametrize("result", [np.ones(5), 1.0, None, "high", np.ones((2, 3))])
def test_a_result_of_the_wrong_shape_fails_its_rows(result):
    scores = scored(of(lambda judged: result, needs_gold=False))
    assert (scores.status == Status.failed).all()
    assert "6" in scores.reason(0, 0, 0)


@pytest.mark.parametrize(
    ("measure", "sentence"),
    [("RBP(p=2)", "not a probability"), ("AQWV(beta=-1, n=100)", "beta=-1"), ("AQWV(n=1)", "n=1 is less")],
)
def test_a_users_mistake_stays_an_error(measure, sentence):
    with pytest.raises(UsageError, match=sentence):
        scored(measure)


def test_a_measure_cannot_change_what_the_next_one_sees():
    kept = JUDGED.relevant

    def returns_what_it_was_given(judged):
        return judged.relevant

    scored(of(returns_what_it_was_given), "MRR", failed={0: "x"})
    assert JUDGED.relevant is kept
    assert JUDGED.relevant.tolist() == [1, 0, 1, 1, 0, 1]


def test_answers_of_several_systems_stand_in_their_places():
    answered = AnswerTable(
        ("one", "two"),
        ("a", "b"),
        texts=["q"] * 4,
        answers=["paris", "rome", None, "rome"],
        references=[("Paris",), ("Rome",)] * 2,
        contexts=[None] * 4,
        answerable=[True] * 4,
    )
    scores = compute([parse("EM"), parse("MRR")], ("one", "two"), ("a", "b"), answered=answered)
    assert scores.values[:, :, 0].tolist() == [[1, 1], [0, 1]]
    assert scores.reason(0, 0, 1) == "no retrieval results"
