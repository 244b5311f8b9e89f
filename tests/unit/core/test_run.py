"""Run: hits by question, from dicts and lists."""

from dataclasses import FrozenInstanceError, fields, replace

import numpy as np
import pytest

from karat.core.errors import InputError
from karat.core.run import Run
from karat.core.types import Answer, Question, TestSet
from karat.experiment.inputs import align


def test_scores_of_dicts():
    run = Run.from_scores("s", {"a": {"x": 1, "y": 2.5}, "b": {}, "c": {"z": np.float32(0.5)}})
    assert run.question_ids == ["a", "b", "c"]
    assert run.offsets.tolist() == [0, 2, 2, 3]
    assert list(run.docs) == ["x", "y", "z"]
    assert run.scores.tolist() == [1.0, 2.5, 0.5]
    assert (run.order, run.unique, len(run)) == ("score", True, 3)


@pytest.mark.parametrize("size", [1, 3, 60])
def test_short_and_long_lists_are_read_alike(size):
    hits = {q: {f"d{i}": i / 7 for i in range(size)} for q in "ab"}
    run = Run.from_scores("s", hits)
    assert run.scores.tolist() == [i / 7 for i in range(size)] * 2
    assert list(run.docs) == [f"d{i}" for i in range(size)] * 2


def test_lists_keep_their_order_and_repeats():
    run = Run.from_lists("s", {"a": ["x", "y", "x"], "b": []})
    assert (run.doc_list, run.scores, run.order) == (["x", "y", "x"], None, "given")
    assert run.offsets.tolist() == [0, 3, 3]
    assert run.by_score() is run


@pytest.mark.parametrize("length", [2, 60])
@pytest.mark.parametrize(
    ("bad", "shown"),
    [
        (float("nan"), "nan"),
        (float("inf"), "inf"),
        (-float("inf"), "-inf"),
        ("high", "'high'"),
        (None, "None"),
        (10**400, "1000"),
        ([1], r"\[1\]"),
    ],
)
def test_a_score_that_is_no_finite_number_is_named(length, bad, shown):
    hits = {f"d{i}": 1.0 for i in range(length)}
    with pytest.raises(InputError, match=f"bm25: score {shown}.* of question 'b', document 'y' is not a finite number"):
        _ = Run.from_scores("bm25", {"a": hits, "b": {"x": 1.0, **hits, "y": bad}}).scores


def full_run() -> Run:
    """A run with something in every field."""
    return Run(
        "s",
        question_ids=["a"],
        offsets=np.array([0, 2]),
        _docs=["x", "y"],
        _scores=np.array([1.0, 2.0]),
        fields={"page": ["1", "2"]},
        answers={"a": Answer("a", "yes")},
        failed={"b": "why"},
        unasked={"c": "no reference"},
        source="file",
        unique=True,
        complete=True,
        texts={"a": "what?"},
        settings={"alpha": 0.3},
        steps={"b": ({"query": "what?"},)},
    )


def test_a_run_is_frozen():
    with pytest.raises(FrozenInstanceError):
        full_run().name = "t"


@pytest.mark.parametrize(
    ("copied", "changed"),
    [
        (lambda run: replace(run, name="t"), {"name"}),
        (lambda run: run.by_score(), {"order"}),
        (lambda run: run.without_rankings(), {"question_ids", "offsets", "_docs", "_scores", "fields"}),
        (lambda run: align(TestSet([Question("n", "what?")]), run)[0], {"question_ids", "answers", "texts"}),
    ],
)
def test_a_copy_keeps_every_other_field(copied, changed):
    run = full_run()
    before, after = ({f.name: getattr(one, f.name) for f in fields(Run)} for one in (run, copied(run)))
    differ = {name for name in before if not np.array_equal(np.array(before[name]), np.array(after[name]))}
    assert differ == changed
    assert all(after[name] for name in set(before) - changed - {"offsets", "_scores", "by_question"})


def test_a_copy_of_dicts_has_the_same_hits():
    run = Run.from_scores("s", {"a": {"x": 1, "y": 2.5}})
    copied = replace(run, name="t")
    assert (copied.doc_list, copied.scores.tolist(), copied.source) == (["x", "y"], [1.0, 2.5], "s")
    assert run.by_score() is run


def test_times_alone_are_no_answers():
    def with_text(text):
        return Run(
            "s",
            question_ids=[],
            offsets=np.array([0]),
            _docs=[],
            answers={"a": Answer("a", text, seconds={"answer": 1.0})},
        )

    assert not with_text(None).has_answers
    assert with_text("").has_answers
    assert repr(with_text("")) == "Run('s', 0 questions, 0 hits, 1 answer)"


def test_the_first_doc_is_read_without_laying_out_the_others():
    run = Run.from_scores("a", {"q": {}, "r": {"x": 1.0, "y": 2.0}})
    assert run.first_doc == "x"
    assert "docs" not in vars(run)
    assert Run.from_lists("b", {"q": ["z"]}).first_doc == "z"
