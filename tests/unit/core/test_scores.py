"""Scores: a value with status ok, or none with a reason."""

import numpy as np

from karat.core.language import parse
from karat.core.scores import Scores, Status


def test_a_value_is_there_only_with_status_ok():
    scores = Scores(
        ("s",), ("a", "b", "c"), (parse("MRR"),), np.array([[[0.5], [np.nan], [0.25]]]),
        np.array([[[Status.ok], [Status.undefined], [Status.failed]]], np.uint8), {(0, 1, 0): "no relevant gold"},
    )  # fmt: skip
    assert [scores.value(0, q, 0) for q in range(3)] == [0.5, None, None]
    assert type(scores.value(0, 0, 0)) is float
    assert [scores.reason(0, q, 0) for q in range(3)] == [None, "no relevant gold", None]


def test_the_names_of_the_statuses_are_those_of_the_files():
    assert [s.name for s in Status] == ["ok", "undefined", "failed"]
