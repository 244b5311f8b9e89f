"""A review in a file: what goes out comes back, edits and verdicts are applied, and nothing is guessed."""

import csv
from dataclasses import replace

import pytest

from karat.core.errors import InputError, UsageError
from karat.core.types import Gold, Nugget, Question, TestSet
from karat.experiment.review import apply_review, digest_of, export_review
from karat.files import read_testset, write

QUESTIONS = [
    Question("q1", "How long?", answers=("four hours", "4 h"), gold=(Gold(doc="a", quote="lasts four hours"),)),
    Question("=q2", "=1+1 is\n what?", answers=("-x",), gold=(Gold(doc="b"),)),
    Question("q3", "Who?", answers=(), gold=(), answerable=False),
]


@pytest.fixture
def qa(tmp_path):
    write(TestSet(QUESTIONS), tmp_path / "qa.jsonl")
    return tmp_path / "qa.jsonl"


@pytest.fixture
def reviewed(qa):
    """Exports a review, changes cells of its rows, and applies it."""

    def run(*changes, **given):
        path = qa.with_name("r.csv")
        if not path.exists():
            export_review(qa, output=path)
        with path.open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        for number, cells in changes:
            rows[number] |= cells
        with path.open("w", newline="", encoding="utf-8") as file:
            out = csv.DictWriter(file, rows[0])
            out.writeheader()
            out.writerows(rows)
        return apply_review(qa, path, **given)

    return run


def test_what_goes_out(qa):
    path, questions = export_review(qa)
    assert (path.name, questions.ids) == ("qa.jsonl.review.csv", ("q1", "=q2", "q3"))
    with path.open(newline="", encoding="utf-8") as file:
        first, second, _ = csv.DictReader(file)
    assert (first["verdict"], first["question"], first["answer"]) == ("", "How long?", "four hours")
    assert (first["quotes"], first["digest"]) == ("lasts four hours", digest_of(QUESTIONS[0]))
    assert (second["id"], second["answer"]) == ("'=q2", "'-x")
    with pytest.raises(UsageError, match="exists, and nothing is overwritten"):
        export_review(qa)


def test_nothing_decided_is_no_edit_though_cells_were_escaped(reviewed):
    with pytest.raises(UsageError, match="decides nothing"):
        reviewed()


def test_keep_edit_and_drop(qa, reviewed):
    before = qa.read_bytes()
    done = reviewed((0, {"verdict": "Keep", "answer": "  4\nhours "}), (1, {"verdict": "drop"}))
    assert (done.kept, done.edited, done.dropped, done.undecided) == (1, 1, 1, 1)
    assert (done.path, done.original.read_bytes()) == (qa, before)
    first, last = read_testset(qa)[0]
    assert first.answers == ("4 hours", "4 h")
    assert (first.gold, last) == (QUESTIONS[0].gold, QUESTIONS[2])


def test_an_edit_without_a_verdict_keeps_the_question(reviewed):
    done = reviewed((1, {"question": "'=1+2 is what?"}))
    assert (done.kept, done.edited, done.dropped, done.undecided) == (1, 1, 0, 2)
    assert [q.text for q in done.testset] == ["How long?", "=1+2 is what?", "Who?"]


def test_nuggets_are_edited_line_by_line(qa, reviewed):
    write(TestSet([replace(QUESTIONS[0], nuggets=(Nugget("It is\nlong."), Nugget("It is old.", False)))]), qa)
    with pytest.raises(UsageError, match="decides nothing"):
        reviewed((0, {"nuggets": " vital: It is  long.\r\n\r\nokay: It is old.\n"}))
    done = reviewed((0, {"nuggets": "okay: It is old.\nVital: It lasts: four hours."}))
    assert done.testset["q1"].nuggets == (Nugget("It is old.", False), Nugget("It lasts: four hours."))
    cleared = [
        question.nuggets for question in reviewed((0, {"nuggets": "", "digest": digest_of(done.testset["q1"])})).testset
    ]
    assert cleared == [()]


def test_elsewhere_the_test_set_stays(qa, reviewed):
    before = qa.read_bytes()
    done = reviewed((0, {"verdict": "drop"}), output=qa.with_name("new.jsonl"))
    assert (done.original, qa.read_bytes(), len(read_testset(done.path)[0])) == (None, before, 2)
    with pytest.raises(UsageError, match=r"new\.jsonl exists"):
        reviewed(output=qa.with_name("new.jsonl"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ((0, {"verdict": "maybe"}), "r.csv line 2.*'maybe' is no verdict"),
        ((0, {"id": "q9"}), "'q9' is not in the test set"),
        ((2, {"id": "q1"}), "'q1' is listed twice"),
        ((0, {"verdict": "keep", "digest": "x"}), "'q1' was changed after the export"),
        ((0, {"question": " "}), "an edited text is empty"),
        ((0, {"answer": ""}), "an edited text is empty"),
        ((2, {"answer": "me"}), "an unanswerable question has no answer"),
        ((0, {"nuggets": "It is long."}), "line 2.*'It is long.' is no nugget"),
        ((0, {"nuggets": "vital:"}), "'vital:' is no nugget"),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_is_written(qa, reviewed, change, problem):
    before = qa.read_bytes()
    with pytest.raises(InputError, match=problem):
        reviewed(change)
    assert qa.read_bytes() == before
    assert not list(qa.parent.glob("*.original"))


def test_a_file_that_is_no_review_and_a_review_that_leaves_nothing(qa, reviewed):
    other = qa.with_name("x.csv")
    other.write_text("id,verdict\nq1,keep\n")
    with pytest.raises(InputError, match="has no column question, answer, digest"):
        apply_review(qa, other)
    with pytest.raises(UsageError, match="every question is dropped"):
        reviewed(*((n, {"verdict": "drop"}) for n in range(3)))
