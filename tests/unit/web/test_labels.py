"""Labels by the API: what is stored, refused and taken back, and what is worth labelling."""

import errno
import json
from dataclasses import replace
from urllib.parse import quote

import pytest
from viewed import QUESTIONS, Browser, run_with, small_study

from karat.core.docs import Chunk
from karat.core.text.wellformed import MARK
from karat.core.types import TestSet, Turn
from karat.files import read_marks
from karat.results.marks import LABELS_FILE
from karat.results.study import StudyHit
from karat.web.queue import queue_of

ANSWER = {"kind": "answer", "question": "q2", "system": "one", "value": "partly", "by": "ann"}
HIT = {"kind": "hit", "question": "q1", "system": "one", "hit": {"id": "c1"}, "grade": 0, "by": "ann"}


@pytest.fixture
def own(tmp_path):
    run_with(tmp_path, small_study(), "small")
    (path,) = tmp_path.iterdir()
    return Browser(tmp_path), path


def post(browser, path, body, part="labels"):
    return browser.post(f"/api/run/{path.name}/{part}", json.dumps(body).encode())


def test_a_label_is_stored_with_what_is_known_of_its_hit(own):
    browser, path = own
    reply = post(browser, path, HIT)
    assert reply.status == 200, reply.text
    assert reply.json["label"]["says"] == "not gold"
    (mark,) = read_marks(path / LABELS_FILE).standing
    assert (mark.hit.id, mark.hit.doc, mark.hit.quote) == ("c1", "d1", "Here the boat lies in the harbour.")
    assert (mark.testset, len(mark.digest)) == ("d1", 16)
    assert post(browser, path, {**ANSWER, "by": " be\u202en\x00 "}).json["people"] == ["ann", "be n"]
    assert browser.json(f"/api/run/{path.name}/labels?question=q2")["total"] == 1
    assert browser.json(f"/api/run/{path.name}/labels")["counted"] == "2 labels by 2 people"
    (row,) = browser.json(f"/api/run/{path.name}/rows?labelled=yes&text=boat")["rows"]
    assert (row["id"], row["labels"]) == ("q1", 1)
    assert "not gold" in browser.get(f"/run/{path.name}/labels").text


@pytest.mark.parametrize(
    ("body", "status", "why"),
    [
        ({**ANSWER, "by": " "}, 400, "say who labels"),
        ({**ANSWER, "by": "x" * 81}, 400, "say who labels"),
        ({**ANSWER, "value": "great"}, 400, "none of right"),
        ({**ANSWER, "system": "three"}, 400, "no system"),
        ({**ANSWER, "question": "q9"}, 400, "no question"),
        ({**ANSWER, "question": "q1"}, 404, "gave no answer"),
        ({**HIT, "hit": {"id": "../../c9"}}, 404, "no system has the hit"),
        ({**ANSWER, "kind": "claim", "claim": "the cook sings", "value": "supported"}, 404, "no claim"),
        ({**ANSWER, "undoes": "x"}, 400, "no parameter"),
        ({**ANSWER, "nots": "x"}, 400, "'nots'. Did you mean note?"),
        ([], 400, "object of JSON"),
    ],
)
def test_what_the_run_does_not_hold_is_refused_and_not_stored(own, body, status, why):
    browser, path = own
    reply = post(browser, path, body)
    assert (reply.status, why in reply.text) == (status, True), reply.text
    assert not (path / LABELS_FILE).exists()


def test_a_question_with_a_very_long_id_is_opened_and_labelled(tmp_path):
    long = "\u0628" * 10_000
    questions = [replace(question, id=long) if question.id == "q2" else question for question in QUESTIONS]
    run = run_with(tmp_path, small_study(testset=TestSet(questions, name="qa"), answers={}))
    browser = Browser(tmp_path)
    for place, name in (("question", "id"), ("questions", "open")):
        assert browser.get(f"/run/{run.id}/{place}?{name}={quote(long)}").status in (200, 202)
    assert post(browser, run.path, {"kind": "question", "question": long, "value": "bad", "by": "ann"}).status == 200
    assert browser.json(f"/api/run/{run.id}/labels?question={quote(long)}")["total"] == 1


def test_one_takes_back_what_one_said_oneself(own):
    browser, path = own
    id_ = post(browser, path, ANSWER).json["label"]["id"]
    assert post(browser, path, {"id": id_, "by": "ben"}, "labels/undo").status == 400
    assert post(browser, path, {"id": id_, "by": "ann"}, "labels/undo").json["labels"] == []
    assert post(browser, path, {"id": id_, "by": "ann"}, "labels/undo").status == 404
    assert len(read_marks(path / LABELS_FILE).every) == 2  # nothing is erased


def test_a_damaged_file_is_said_and_not_written_to(own):
    browser, path = own
    (path / LABELS_FILE).write_text("what\n")
    reply = post(browser, path, ANSWER)
    assert (reply.status, "line 1" in reply.text) == (409, True)
    assert (path / LABELS_FILE).read_text() == "what\n"
    assert "it is no JSON" in browser.get(f"/run/{path.name}/labels").text
    assert browser.json(f"/api/run/{path.name}/rows")["total"] == 4


def test_half_a_character_in_a_label_is_shown_as_a_mark(own):
    browser, path = own
    label = {"id": "a", "kind": "question", "question": "q1\ud800", "value": "bad", "by": "ann", "at": "2026"}
    (path / LABELS_FILE).write_text(json.dumps(label) + "\n")
    page = browser.get(f"/run/{path.name}/labels")
    assert (page.status, f"question?id=q1{quote(MARK)}" in page.text) == (200, True)


def test_a_link_to_another_file_is_not_followed(own, tmp_path):
    browser, path = own
    other = tmp_path / "other.txt"
    other.write_text("mine\n")
    (path / LABELS_FILE).symlink_to(other)
    assert post(browser, path, ANSWER).status == 409
    assert other.read_text() == "mine\n"


def test_labels_need_the_token_and_the_origin(own):
    browser, path = own
    target, body = f"/api/run/{path.name}/labels", json.dumps(ANSWER).encode()
    assert browser.post(target, body, token=False).status == 401
    assert browser.ask("POST", target, body=body, headers=[("content-type", "application/json")]).status == 403
    assert not (path / LABELS_FILE).exists()


def test_the_queue_has_reasons_and_leaves_out_what_one_labelled(own):
    browser, path = own
    while (queue := browser.json(f"/api/run/{path.name}/queue?by=ann"))["waiting"]:
        pass
    assert all(item["why"] for item in queue["items"])
    item = next(item for item in queue["items"] if item["kind"] == "question")
    given = {"kind": "question", "question": item["question"], "value": "bad", "by": "ann"}
    assert post(browser, path, given).status == 200
    assert browser.json(f"/api/run/{path.name}/queue?by=ann")["total"] == queue["total"] - 1
    assert browser.json(f"/api/run/{path.name}/queue?by=ben")["total"] == queue["total"]


def test_what_is_worth_labelling():
    study = small_study()
    high = StudyHit(2, 0.5, Chunk("c7", "d7", "The boat is red."))
    gold = StudyHit(1, 0.7, Chunk("c1", "d1", "In the harbour."), holds=("the boat",))
    scores = study.evaluation.scores
    details = {(0, 1, 0): {"repeats": (0.0, 1.0, 1.0)}, (1, 1, 0): {"repeats": (1.0, 1.0)}}
    study = replace(
        study, hits={"one": {"q1": (gold, high)}, "two": {"q1": (gold, high)}},
        evaluation=replace(study.evaluation, scores=replace(scores, details=details)),
    )  # fmt: skip
    items = queue_of(study)
    first, second = items[:2]
    assert (first["kind"], first["question"], first["system"], first["answer"]) == (
        "answer",
        "q2",
        "one",
        "the cook does",
    )
    assert first["why"] == "the judge of Recall@5 disagrees with itself: .00 to 1.00"
    assert (second["kind"], second["hit"]["id"]) == ("hit", "c7")
    assert second["why"] == "2 systems rank it among the first 5 (best #2), and it holds no gold"
    assert [item["hit"]["id"] for item in items if item["kind"] == "hit"] == ["c7"]


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EACCES])
def test_a_label_that_cannot_be_written_says_what_to_do_in_a_browser(own, monkeypatch, number):
    def refuse(*given):
        raise OSError(number, "nothing can be written")

    browser, path = own
    monkeypatch.setattr("karat.files._marks._append", refuse)
    reply = post(browser, path, HIT)
    assert reply.json["error"].endswith("the label cannot be written: nothing can be written")
    assert reply.json["remedy"] == "Make room, or allow writing there, and try again."


def test_the_queue_has_the_turns_before_a_question():
    study = small_study()
    hit = StudyHit(1, 0.5, Chunk("c7", "d7", "Nothing."))
    turns = tuple(Turn(f"question {n}", f"answer {n}" if n else None) for n in range(8))
    questions = (replace(QUESTIONS[0], history=turns), *QUESTIONS[1:])
    evaluation = replace(study.evaluation, testset=TestSet(questions, name="qa"))
    found = {"q1": (hit,)}
    items = queue_of(replace(study, evaluation=evaluation, hits={"one": found, "two": found}))
    (item,) = (item for item in items if item["hit"])
    assert item["earlier"] == 2
    assert item["history"][0] == {"question": "question 2", "answer": "answer 2"}
    assert len(item["history"]) == 6
