"""Live: how far a run is, and what its journal holds by now."""

import json
import time
from types import SimpleNamespace

import numpy as np
import pytest
from viewed import Browser

from karat.answer import AnswererSettings, answerer_named
from karat.core.models import Models
from karat.core.run import Run
from karat.core.types import Question, TestSet
from karat.experiment.answering import answer_all
from karat.experiment.progress_file import PROGRESS, progress_written
from karat.experiment.store import STOPPED, new_run
from karat.experiment.study import StudySystem
from karat.web.live import JournalTail


@pytest.fixture
def running(tmp_path):
    run = new_run(tmp_path, "running", {"karat": "0"})
    with run.held():
        yield run


def test_a_running_run_says_how_far_it_is(running, tmp_path):
    (running.path / PROGRESS).write_text(
        json.dumps({"what": "searching", "done": 25, "total": 100, "begun": time.time() - 10})
    )
    browser = Browser(tmp_path)
    state = browser.json(f"/api/run/{running.id}/progress")
    assert 25 <= state.pop("seconds_left") <= 40
    assert state == {"state": "running", "what": "searching", "done": 25, "total": 100, "cost_usd": None, "rows": 0}
    assert browser.json("/api/runs")["runs"][0]["progress"]["what"] == "searching"
    page = browser.get(f"/run/{running.id}")
    assert "searching: 25 of 100" in page.text
    assert '<meta http-equiv="refresh" content="2">' in page.text


def test_a_running_run_has_no_systems_yet(running, tmp_path):
    facts = Browser(tmp_path).json(f"/api/run/{running.id}")
    assert (facts["state"], facts["systems"], facts["measures"], facts["has"]["hits"]) == ("running", [], [], False)


def test_a_run_that_says_nothing_is_running_all_the_same(running, tmp_path):
    state = Browser(tmp_path).json(f"/api/run/{running.id}/progress")
    unknown = dict.fromkeys(("what", "done", "total", "seconds_left", "cost_usd"))
    assert state == {"state": "running", **unknown, "rows": 0}


def test_answers_come_as_the_journal_grows(running, tmp_path):
    testset = TestSet([Question(f"q{n}", f"Who cooks {n}?") for n in range(2)])
    run = Run(
        "one", question_ids=testset.ids, offsets=np.arange(3), _docs=["d0", "d1"], _scores=None, order="given",
        fields={"text": ["Ann cooks 0.", "Ben cooks 1."]},
    )  # fmt: skip
    systems = [StudySystem(configuration=SimpleNamespace(name=name), run=run) for name in ("one", "two")]
    with running.journal() as journal:
        answer_all(systems, testset, answerer_named(AnswererSettings(), Models()), 1, journal=journal)
    rows = Browser(tmp_path).json(f"/api/run/{running.id}/rows")["rows"]
    assert [(row["id"], row["status"]) for row in rows] == [(f"q{n}", {"one": "ok", "two": "ok"}) for n in range(2)]


def test_rows_come_as_the_journal_grows(running, tmp_path):
    browser = Browser(tmp_path)
    rows = f"/api/run/{running.id}/rows"
    assert browser.json(rows)["total"] == 0
    with running.journal() as journal:
        journal.add(
            [{"system": "one", "row": {"id": "q1", "hits": ["c1"]}}, {"index": "x", "leg": "bm25", "questions": [0]}]
        )
        assert [row["id"] for row in browser.json(rows)["rows"]] == ["q1"]
        journal.add(
            [{"system": "two", "row": {"id": "q1", "status": "failed"}}, {"system": "one", "row": {"id": "q2"}}]
        )
        page = browser.json(rows)
    assert page["systems"] == ["one", "two"]
    assert [(row["id"], row["status"], row["scores"]) for row in page["rows"]] == [
        ("q1", {"one": "ok", "two": "failed"}, {}), ("q2", {"one": "ok"}, {}),
    ]  # fmt: skip
    assert browser.json(f"/api/run/{running.id}/progress")["rows"] == 2
    assert "2 questions so far" in browser.get(f"/run/{running.id}").text
    running.update(status=STOPPED)
    stopped = Browser(tmp_path).get(f"/run/{running.id}/questions")
    assert (stopped.status, "The same command goes on from there" in stopped.text) == (200, True)


def test_a_tail_reads_each_line_once_and_waits_for_the_rest_of_one(running):
    with running.journal() as journal:
        journal.add([{"system": "one", "row": {"id": "q1"}}])
        journal.add([{"system": "one", "row": {"id": "q2"}}])
    path = running.path / "journal.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole[:-5])
    tail = JournalTail(running.path)
    tail.read_on()
    assert list(tail.rows) == ["q1"]
    path.write_bytes(whole + b"no JSON\n")
    tail.read_on()
    tail.read_on()
    assert (list(tail.rows), tail.records) == (["q1", "q2"], 3)
    path.write_bytes(b"")
    tail.read_on()
    assert tail.rows == {}


def test_a_run_writes_its_progress_while_it_works_and_takes_it_away(tmp_path):
    steps = []
    with progress_written(tmp_path, lambda *step: steps.append(step)) as say:
        say("reading", 1, 4)
        held = json.loads((tmp_path / PROGRESS).read_text())
        say("reading", 2, 4)
        assert json.loads((tmp_path / PROGRESS).read_text()) == held  # not more than once a second
    assert {name: held[name] for name in ("what", "done", "total")} == {"what": "reading", "done": 1, "total": 4}
    assert steps == [("reading", 1, 4), ("reading", 2, 4)]
    assert list(tmp_path.iterdir()) == []
