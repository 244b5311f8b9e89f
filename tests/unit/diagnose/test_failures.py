import numpy as np
import pytest

from karat.core.docs import Chunk, Chunks, Doc, Problem
from karat.core.ranked import Ranked
from karat.core.types import Gold, Question, TestSet
from karat.diagnose.failures import attribute, error_class
from karat.match import resolve

CHUNKS = Chunks([Chunk(f"d{n}", f"d{n}", f"text number {n}") for n in range(6)])
DOCS = [Doc(f"d{n}", f"text number {n}") for n in range(6)]


def resolution(*golds):
    questions = [Question(f"q{n}", f"question {n}", gold=tuple(gold)) for n, gold in enumerate(golds)]
    return resolve(TestSet(questions), CHUNKS, DOCS)


def ranked(*lists):
    query = np.repeat(np.arange(len(lists)), [len(rows) for rows in lists])
    rows = np.array([row for rows in lists for row in rows], np.int64)
    scores = np.array([float(len(rows) - i) for rows in lists for i in range(len(rows))])
    return Ranked.ordered(len(lists), query, rows, scores)


def doc(name):
    return Gold(doc=name)


def labels(found):
    return {f.question: (f.label, f.leg, f.rank, f.depth) for f in found.failures}


def test_each_question_has_the_label_of_the_step_that_lost_it():
    gold = resolution([doc("d0")], [doc("atlantis")], [doc("d1")], [doc("d2")], [doc("d3")], [])
    result = ranked([0, 1], [0], [5, 4, 1], [5, 4, 2], [0, 1], [0])
    legs = {
        "dense": ranked([0], [0], [1, 5, 4], [5, 4, 2], [0, 1], [0]),
        "bm25": ranked([1], [0], [4, 5], [4, 5, 2], [0, 1], [0]),
    }
    deep = {"dense": ranked([0, 1, 2, 4, 5, 3]), "bm25": ranked([0, 1, 2, 3])}

    def ranks_of(leg, questions, rows):
        return deep[leg].ranks_of(np.zeros(len(questions), np.int64), rows)

    found = attribute("hybrid", gold, result, 2, legs=legs, deep=ranks_of)
    assert labels(found) == {
        "q1": ("gold_not_in_corpus", None, None, None),
        "q2": ("lost_in_fusion", "dense", 3, None),
        "q3": ("below_k", None, 3, None),
        "q4": ("not_in_pool", "bm25", None, 4),
    }
    details = {f.question: f.detail for f in found.failures}
    assert details["q2"] == "dense has it at rank 1, the result at rank 3."
    assert details["q4"] == "it is not among the 2 hits; bm25 has it at rank 4."


def test_a_file_that_was_not_read_is_not_indexed_rather_than_unknown():
    gold = resolution([doc("locked.pdf")])
    problem = Problem("docs/locked.pdf", "encrypted", "it needs a password.")
    found = attribute("s", gold, ranked([0]), 2, problems=[problem])
    assert found.failures[0].label == "gold_not_indexed"
    assert "docs/locked.pdf was not read: it needs a password." in found.failures[0].detail


def test_what_mending_a_step_would_add_to_recall():
    gold = resolution([doc("d0"), doc("d1")], [doc("d2")], [doc("atlantis"), doc("d3")], [])
    found = attribute("s", gold, ranked([0, 5, 1], [2], [5, 4, 3], [0]), 2)
    assert {(c.label, c.questions): pytest.approx(c.gain) for c in found.counts} == {
        ("gold_not_in_corpus", ("q2",)): 0.5 / 3,
        ("below_k", ("q0",)): (0.5 + 0.5) / 3,
    }
    recall = (0.5 + 1 + 0) / 3
    assert recall + sum(c.gain for c in found.counts) == pytest.approx(1)


def test_questions_without_a_result_are_not_counted_as_failures_of_retrieval():
    gold = resolution([doc("d0")], [doc("d1")], [doc("d2")])
    found = attribute("s", gold, ranked([], [], [2]), 2, skipped=[1])
    assert labels(found) == {"q0": ("not_in_pool", None, None, None)}
    assert [count.gain for count in found.counts] == [0.5]  # recall is .5 over the two questions that have a result


@pytest.mark.parametrize(
    ("recall", "answer", "expected"),
    [
        (1.0, None, "success"), (0.5, None, "partial_success"), (0.0, None, "retrieval_failure"), (None, 0.9, None),
        (1.0, 0.9, "success"), (0.5, 0.9, "partial_success"), (0.0, 0.9, "partial_success"),
        (1.0, 0.1, "generation_failure"), (0.5, 0.1, "mixed_failure"), (0.0, 0.1, "retrieval_failure"),
    ],
)  # fmt: skip
def test_every_error_class_can_be_reached(recall, answer, expected):
    assert error_class(recall, answer) == expected
