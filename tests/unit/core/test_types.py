"""A test set is subscripted by place, by slice and by the id of a question."""

import pytest

from karat.core.errors import UsageError
from karat.core.types import Gold, Question, TestSet

ASKED = TestSet([Question(f"q{n}", f"What is {n}?") for n in range(5)], name="qa", version="v1")
PLAIN = TestSet(qrels={f"q{n}": {"d": n} for n in range(5)}, name="qrels")


@pytest.mark.parametrize("testset", [ASKED, PLAIN], ids=["questions", "qrels"])
def test_a_question_by_its_place_and_by_its_id(testset):
    assert testset[0].id == "q0"
    assert testset[-1] == testset["q4"] == list(testset)[-1]
    with pytest.raises(IndexError):
        testset[5]
    with pytest.raises(TypeError):
        testset[1.0]


@pytest.mark.parametrize("testset", [ASKED, PLAIN], ids=["questions", "qrels"])
def test_a_slice_is_a_test_set(testset):
    part = testset[1:3]
    assert part.ids == ("q1", "q2")
    assert (part.is_plain, part.version) == (testset.is_plain, testset.version)
    assert part.name == f"{testset.name} (2 of 5)"
    assert part.digest == TestSet(testset.questions[1:3]).digest
    assert testset[::-1].ids == ("q4", "q3", "q2", "q1", "q0")


@pytest.mark.parametrize("questions", [{"questions": [Question("a"), Question("b")]}, {"qrels": {"a": {}, "b": {}}}])
def test_a_slice_is_scored_as_the_whole_is(questions):
    part = TestSet(**questions, version="1.0", changed="a question was added", norm="squad")[:1]
    assert (part.ids, part.version, part.changed, part.norm) == (("a",), "1.0", "a question was added", "squad")


def test_an_id_that_is_not_there_or_twice_is_refused():
    with pytest.raises(UsageError, match=r"qa holds no question 'q9'\. Its ids are q0, q1, q2, q3 and 1 more\."):
        ASKED["q9"]
    twice = TestSet([Question("a"), Question("a")], name="twice")
    with pytest.raises(UsageError, match="twice holds 2 questions with the id 'a'"):
        twice["a"]


def test_what_is_in_a_test_set():
    assert "q3" in ASKED
    assert "q9" not in ASKED
    assert ASKED[0] in ASKED
    assert 0 not in ASKED


def test_a_test_set_shows_its_questions():
    shown = TestSet([Question("q<1>", "Who?", gold=(Gold(doc="a", page="3"),), kind="fact")])._repr_html_()
    assert "<td>q&lt;1&gt;</td><td>Who?</td><td>fact</td><td>a#page=3</td>" in shown
