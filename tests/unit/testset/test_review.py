"""Reviews: decisions that are kept at once, survive a change of the test set only where they still fit, and apply."""

import json

import pytest

from karat.core.errors import InputError, UsageError
from karat.core.types import Gold, Question, TestSet
from karat.testset.review import Review, mark_of, read_decisions, review_path

GOLD = (Gold(doc="a"),)


def questions(*changes):
    rows = [Question(f"q{n}", f"Question {n}?", (f"answer {n}", "other"), GOLD) for n in range(1, 4)]
    rows.append(Question("q4", "Question 4?", (), (), answerable=False))
    for number, row in changes:
        rows[number] = row
    return TestSet(rows, name="qa")


@pytest.fixture
def path(tmp_path):
    return review_path(tmp_path / "qa.jsonl")


def test_every_decision_is_in_the_file_at_once(path):
    review = Review.of(questions(), path)
    assert path.name == "qa.jsonl.review.json"
    assert not path.exists()
    one, two, three, four = review.testset
    review.decide(one, "keep")
    assert json.loads(path.read_text()) == {"decisions": {"q1": {"verdict": "keep", "of": mark_of(one)}}}
    review.decide(two, "drop")
    review.edit(three, text="  What\n is 3? ")
    review.edit(three, answer="three")
    assert read_decisions(path)["q3"].plain() == {
        "verdict": "keep",
        "of": mark_of(three),
        "question": "What is 3?",
        "answer": "three",
    }
    again = Review.of(questions(), path)
    assert again.decisions == review.decisions
    counts = again.counts
    assert (counts.questions, counts.kept, counts.edited, counts.dropped, counts.undecided) == (4, 2, 1, 1, 1)
    review.forget(two)
    assert list(read_decisions(path)) == ["q1", "q3"]
    assert four.id not in read_decisions(path)


def test_what_is_undecided_comes_in_order_and_begins_again(path):
    review = Review.of(questions(), path)
    review.decide(review.testset.questions[1], "keep")
    assert [review.undecided_after(n) for n in (-1, 0, 1, 2, 3)] == [0, 2, 2, 3, 0]
    for question in review.testset:
        review.decide(question, "keep")
    assert review.undecided_after(-1) is None


def test_applied(path):
    review = Review.of(questions(), path)
    one, two, three, four = review.testset
    review.decide(two, "drop")
    review.edit(three, text="What is 3?", answer="three")
    made = review.reviewed()
    assert made.ids == ("q1", "q3", "q4")
    assert made.questions[1] == Question("q3", "What is 3?", ("three", "other"), GOLD)
    assert (made.questions[0], made.questions[2]) == (one, four)
    for question in review.testset:
        review.decide(question, "drop")
    with pytest.raises(UsageError, match="nothing would be left"):
        review.reviewed()


def test_an_edit_back_to_what_stood_is_none(path):
    review = Review.of(questions(), path)
    one = review.testset.questions[0]
    review.edit(one, text="Else?", answer="else")
    review.edit(one, text="Question 1?", answer="answer 1")
    assert read_decisions(path)["q1"].plain() == {"verdict": "keep", "of": mark_of(one)}


def test_a_dropped_question_that_is_edited_is_kept(path):
    review = Review.of(questions(), path)
    one = review.testset.questions[0]
    review.edit(one, text="Else?")
    review.decide(one, "drop")
    assert review.decisions["q1"].question == "Else?"
    assert "q1" not in review.reviewed().ids
    review.edit(one, answer="x")
    assert review.reviewed().questions[0].text == "Else?"


@pytest.mark.parametrize(
    ("number", "edit", "said"),
    [
        (0, {"text": " \n"}, "cannot be empty"),
        (0, {"answer": ""}, "cannot be empty"),
        (3, {"answer": "x"}, "unanswerable"),
    ],
)
def test_an_edit_that_cannot_be_is_refused_and_leaves_nothing(path, number, edit, said):
    review = Review.of(questions(), path)
    with pytest.raises(UsageError, match=said):
        review.edit(review.testset.questions[number], **edit)
    assert not path.exists()


def test_decisions_about_another_text_do_not_count(path):
    review = Review.of(questions(), path)
    for question in review.testset.questions[:3]:
        review.decide(question, "keep")
    changed = Question("q2", "Quite another?", ("answer 2",), GOLD)
    again = Review.of(questions((1, changed)), path)
    assert sorted(again.decisions) == ["q1", "q3"]
    assert again.outdated == ("q2",)
    fewer = Review.of(TestSet(questions().questions[:1]), path)
    assert (sorted(fewer.decisions), fewer.outdated) == (["q1"], ())


def test_killed_between_writing_the_set_and_the_decisions(path):
    """The edit is in the test set already: it is decided, and not edited again."""
    review = Review.of(questions(), path)
    review.edit(review.testset.questions[0], text="Else?", answer="else")
    again = Review.of(review.reviewed(), path)
    assert again.outdated == ()
    assert again.decisions["q1"].plain() == {"verdict": "keep", "of": mark_of(again.testset.questions[0])}


def test_two_at_once_lose_nothing(path):
    one, other = Review.of(questions(), path), Review.of(questions(), path)
    one.decide(one.testset.questions[0], "keep")
    other.decide(other.testset.questions[1], "drop")
    one.decide(one.testset.questions[2], "keep")
    assert {qid: d.verdict for qid, d in read_decisions(path).items()} == {"q1": "keep", "q2": "drop", "q3": "keep"}


@pytest.mark.parametrize(
    "text",
    [
        "", "[]", "{}", '{"decisions": []}', '{"decisions": {"q1": {"verdict": "maybe", "of": "x"}}}',
        '{"decisions": {"q1": {"verdict": "keep", "of": "x", "question": 7}}}', "[" * 100_000,
    ],
)  # fmt: skip
def test_a_damaged_file_is_an_error_and_is_not_overwritten(path, text):
    path.write_text(text)
    with pytest.raises(InputError, match=r"qa\.jsonl\.review\.json: the decisions of the review cannot be read"):
        Review.of(questions(), path)
    assert path.read_text() == text


def test_ids_that_stand_twice_are_refused(path):
    with pytest.raises(UsageError, match="twice"):
        Review.of(TestSet([Question("q", "a?"), Question("q", "b?")]), path)
