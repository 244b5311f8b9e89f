"""labels.jsonl: what is appended, read back, taken back, torn off and refused."""

import json
import os
import threading

import pytest

from karat.core.errors import InputError
from karat.experiment.calibrate import calibrate
from karat.files import append_mark, are_marks, as_labels, mark_of, read_marks
from karat.results.marks import LABELS_FILE, MarkedHit


def mark(**fields):
    given = {"kind": "answer", "question": "q1", "system": "one", "value": "right", "by": "ann"}
    if fields.get("kind", "answer") != "answer":
        given = {name: given[name] for name in ("question", "by")}
    return mark_of({**given, **fields})


def hit(id_, grade, **fields):
    return mark(kind="hit", hit={"id": id_}, grade=grade, **fields)


def append(folder, *marks):
    return [append_mark(folder, one) for one in marks]


def standing(folder):
    return [(one.question, one.by, one.verdict) for one in read_marks(folder / LABELS_FILE).standing]


def test_what_is_appended_is_read_back(tmp_path):
    given = hit("c1", 2, system="two", note="über \u2028 \n", reasons=["a"], testset="d", digest="e")
    (stored,) = append(tmp_path, given)
    (read,) = read_marks(tmp_path / LABELS_FILE).every
    assert read == stored
    assert (read.hit, read.grade, read.note, read.by) == (MarkedHit(id="c1"), 2, "über \u2028 \n", "ann")
    assert len(read.id) == 16
    assert read.at.endswith("+00:00")
    assert oct((tmp_path / LABELS_FILE).stat().st_mode)[-3:] == "600"


def test_the_latest_of_each_person_on_each_thing_holds(tmp_path):
    append(
        tmp_path, mark(), mark(by="ben", value="wrong"), mark(value="partly"), mark(system="two"), hit("c1", 1),
        hit("c1", 0), hit("c2", 3),
    )  # fmt: skip
    assert standing(tmp_path) == [
        ("q1", "ben", "wrong"), ("q1", "ann", "partly"), ("q1", "ann", "right"), ("q1", "ann", "not gold"),
        ("q1", "ann", "gold 3"),
    ]  # fmt: skip
    marks = read_marks(tmp_path / LABELS_FILE)
    assert marks.counted == "5 labels by 2 people"
    assert [(one.kind, one.n, one.same) for one in marks.agreement] == [("answer", 1, 0)]


def test_what_is_taken_back_makes_what_was_said_before_stand_again(tmp_path):
    first, second = append(tmp_path, mark(), mark(value="wrong"))
    append(tmp_path, mark(undoes=second.id, value=None))
    assert standing(tmp_path) == [("q1", "ann", "right")]
    append(tmp_path, mark(undoes=first.id, value=None))
    assert standing(tmp_path) == []


def test_a_torn_last_line_is_left_out_and_the_next_label_takes_its_place(tmp_path):
    append(tmp_path, mark(), mark(question="q2"))
    path = tmp_path / LABELS_FILE
    path.write_bytes(path.read_bytes()[:-9])
    marks = read_marks(path)
    assert (len(marks.every), marks.torn) == (1, True)
    append(tmp_path, mark(question="q3"))
    marks = read_marks(path)
    assert ([one.question for one in marks.every], marks.torn) == (["q1", "q3"], False)


def test_a_whole_last_line_without_its_end_is_kept(tmp_path):
    path = tmp_path / LABELS_FILE
    path.write_text(json.dumps({"kind": "question", "question": "q9", "value": "bad", "by": "eve", "at": ""}))
    append(tmp_path, mark())
    assert standing(tmp_path) == [("q9", "eve", "bad"), ("q1", "ann", "right")]


@pytest.mark.parametrize("before", [0, 1, 3])
def test_a_long_torn_line_is_read_in_few_pieces(tmp_path, monkeypatch, before):
    append(tmp_path, *[mark(question=f"q{n}") for n in range(before)])
    path, pread, pieces = tmp_path / LABELS_FILE, os.pread, []
    with path.open("ab") as file:
        file.write(b"x" * 1_000_000)
    monkeypatch.setattr(os, "pread", lambda *place: pieces.append(place) or pread(*place))
    append(tmp_path, mark(question="next"))
    assert [one.question for one in read_marks(path).every] == [*(f"q{n}" for n in range(before)), "next"]
    assert len(pieces) < 10


def test_a_long_whole_last_line_without_its_end_is_kept(tmp_path):
    append(tmp_path, mark())
    long = {"kind": "claim", "question": "q9", "system": "s", "claim": "c" * 300_000, "value": "supported", "by": "eve"}
    with (tmp_path / LABELS_FILE).open("a") as file:
        file.write(json.dumps(long))
    append(tmp_path, mark(question="q2"))
    assert [question for question, *_ in standing(tmp_path)] == ["q1", "q9", "q2"]


def test_a_damaged_line_is_refused_by_its_number(tmp_path):
    append(tmp_path, mark(), mark(question="q2"))
    path = tmp_path / LABELS_FILE
    path.write_bytes(path.read_bytes().replace(b'"q1"', b'"q7"'))
    with pytest.raises(InputError, match="line 1") as caught:
        read_marks(path)
    assert "not what was written" in str(caught.value)


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"value": "great"}, "none of right, partly, wrong"),
        ({"by": ""}, "needs its by"),
        ({"kind": "hit", "grade": 1}, "must say which"),
        ({"kind": "hit", "hit": {"id": "c"}, "grade": -1}, "no whole number from 0"),
        ({"kind": "hit", "hit": {"id": "c"}, "grade": True}, "no whole number from 0"),
        ({"kind": "other"}, "none of hit"),
        ({"path": "/etc/passwd"}, "no field 'path'"),
        ({"note": 7}, "is no text"),
        ({"reasons": "bad"}, "no list"),
    ],
)
def test_what_is_no_label_is_refused(fields, why):
    with pytest.raises(ValueError, match=why):
        mark(**fields)


def test_a_folder_that_cannot_be_written_is_an_error(tmp_path):
    (tmp_path / LABELS_FILE).mkdir()
    with pytest.raises(InputError, match="label cannot be written"):
        append(tmp_path, mark())


def test_a_disk_that_is_full_leaves_no_half_line(tmp_path, monkeypatch):
    append(tmp_path, mark())
    before = (tmp_path / LABELS_FILE).read_bytes()

    write = os.write

    def half(file, line):
        return write(file, line[:20])

    monkeypatch.setattr("karat.files._marks.os.write", half)
    with pytest.raises(InputError, match="No space"):
        append(tmp_path, mark())
    assert (tmp_path / LABELS_FILE).read_bytes() == before


def test_many_writers_lose_nothing(tmp_path):
    def work(name):
        append(tmp_path, *(mark(question=f"q{n}", by=name) for n in range(25)))

    threads = [threading.Thread(target=work, args=(name,)) for name in ("ann", "ben", "eve")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(standing(tmp_path)) == 75


def test_labels_of_answers_are_read_by_the_reader_of_labels(tmp_path):
    append(tmp_path, mark(), mark(by="ben", value="partly"), mark(question="q2", value="wrong"), hit("c1", 1))
    path = tmp_path / LABELS_FILE
    assert are_marks(path)
    labels = as_labels(path, measure="Correctness")
    assert [(one.question, one.system, one.value, one.rater) for one in labels.rows] == [
        ("q1", "one", 1.0, "ann"), ("q1", "one", 0.5, "ben"), ("q2", "one", 0.0, "ann"),
    ]  # fmt: skip
    assert {one.measure for one in labels.rows} == {"Correctness"}
    assert labels.taken.notes[1] == "1 label of hits, claims or questions left aside"


def test_a_file_without_labels_of_answers_is_refused(tmp_path):
    append(tmp_path, hit("c1", 1))
    with pytest.raises(InputError, match="no answer is labelled"):
        as_labels(tmp_path / LABELS_FILE)


def test_a_judge_is_calibrated_by_labels_of_the_browser(tmp_path):
    from viewed_runs import made_study

    study = made_study()
    append(
        tmp_path, *(mark(question=f"q{n}", system="hybrid", value=("wrong", "right")[n > 20]) for n in (1, 2, 38, 39))
    )
    found = calibrate(study, tmp_path / LABELS_FILE)
    (one,) = found.measures
    assert (one.measure, one.n_items, one.n_scored) == ("Correctness", 4, 4)
    (other,) = calibrate(study, tmp_path / LABELS_FILE, measures=["SentenceSupport"]).measures
    assert other.measure == "SentenceSupport"
