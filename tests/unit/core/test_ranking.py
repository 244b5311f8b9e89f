"""The order of hits as trec_eval 9 has it."""

import numpy as np
import pytest

from karat.core.ranked import at_precision, ranking
from karat.core.run import Run


def ranked(hits, ties="float32"):
    run = Run.from_scores("s", {"q": hits})
    return [run.doc_list[i] for i in ranking(run, ties)]


def test_score_descending_then_id_descending():
    assert ranked({"a": 1.0, "c": 2.0, "b": 2.0, "d": 0.0}) == ["c", "b", "a", "d"]
    assert ranked({"9": 1.0, "10": 1.0}) == ["9", "10"]
    assert ranked({"a": 1.0, "B": 1.0, "é": 1.0, "ж": 1.0, "z": 1.0, "😀": 1.0, "\uffee": 1.0}) == [
        "😀",
        "\uffee",
        "ж",
        "é",
        "z",
        "a",
        "B",
    ]


def test_scores_that_float32_cannot_tell_apart_are_tied():
    near = {"a": 1.0 + 1e-9, "b": 1.0}
    assert ranked(near) == ["b", "a"]
    assert ranked(near, "double") == ["a", "b"]


def test_scores_beyond_float32_tie_at_infinity():
    assert ranked({"a": 1e300, "b": 1e200, "c": 1.0}) == ["b", "a", "c"]
    assert ranked({"a": 1e300, "b": 1e200, "c": 1.0}, "double") == ["a", "b", "c"]
    assert np.isinf(at_precision(np.array([1e300]), "float32")).all()


def test_each_list_is_ranked_on_its_own():
    run = Run.from_scores("s", {"p": {"x": 1.0, "y": 2.0}, "q": {}, "r": {"z": 2.0, "w": 2.0, "v": 3.0}})
    assert [run.doc_list[i] for i in ranking(run)] == ["y", "x", "v", "z", "w"]


@pytest.mark.parametrize("order", ["given", "score"])
def test_a_list_without_scores_stays_as_given(order):
    run = Run("s", question_ids=["q"], offsets=np.array([0, 3]), _docs=["b", "a", "c"], order=order)
    assert ranking(run).tolist() == [0, 1, 2]
