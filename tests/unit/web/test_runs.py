"""Runs: what a list says of them, which are shown, and what is opened of each."""

import json
import os
import re
import shutil
import threading

import pytest
from viewed import Browser, run_with, small_study

from karat.core.errors import InputError
from karat.experiment.store import new_run, open_run
from karat.results.study import StudyAnswer
from karat.web import runs as runs_module
from karat.web.held import Held, Making
from karat.web.runs import View, disputed

NAME = "a<b>&\"'"


def test_a_run_in_the_list(browser, run):
    (one,) = browser.json("/api/runs")["runs"]
    manifest = json.loads((run / "manifest.json").read_text())
    assert one == {
        "id": run.name, "name": "small", "started": manifest["started"], "finished": None, "state": "done",
        "systems": 2, "questions": 4, "main": "Recall@5", "best": "one", "mean": 0.5, "low": 0.4, "high": 0.6,
        "cost_usd": None, "testset": "d1", "progress": None,
    }  # fmt: skip


def test_what_a_run_holds(browser, run):
    facts = browser.json(f"/api/run/{run.name}")
    assert (facts["systems"], facts["main"], facts["k"], facts["best"]) == (["one", "two"], "Recall@5", 5, "one")
    assert facts["measures"][1] == {
        "name": "MRR", "stage": "retrieval", "direction": "higher", "range": [0.0, 1.0], "unit": "",
    }  # fmt: skip
    assert facts["kinds"][0] == {"value": "factual", "n": 2}
    assert facts["tags"]["area"][0] == {"value": "sea", "n": 2}
    assert {"label": "below_k", "title": "below the cut-off"}.items() <= facts["failures"][4].items()
    assert facts["has"] == {"answers": True, "hits": True, "labels": False, "index": False, "steps": False}


def test_a_cost_is_a_sum_of_what_is_known_and_never_zero_for_nothing(tmp_path):
    known = {"one": {"q1": StudyAnswer("one", "q1", "x", cost_usd=0.25), "q2": StudyAnswer("one", "q2", "x")}}
    run_with(tmp_path, small_study(answers=known))
    run_with(tmp_path, small_study(answers={}))
    costs = [run["cost_usd"] for run in Browser(tmp_path).json("/api/runs")["runs"]]
    assert costs == [None, 0.25]


def test_the_latest_run_stands_first_and_trends_are_of_one_test_set(tmp_path):
    ids = [
        run_with(tmp_path, small_study(), name, digest=digest).id
        for name, digest in (("a", "x"), ("b", "y"), ("c", "x"))
    ]
    found = Browser(tmp_path).json("/api/runs")
    assert [run["id"] for run in found["runs"]] == ids[::-1]
    (trend,) = found["trends"]
    assert (trend["testset"], trend["main"], [one["id"] for one in trend["runs"]]) == (
        "x",
        "Recall@5",
        [ids[0], ids[2]],
    )


@pytest.mark.parametrize("change", [
    {"summary": 7}, {"summary": {"mean": "high", "systems": -1, "questions": True, "best": ["x"], "main": {}}},
    {"inputs": []}, {"inputs": {"testset": "x", "indexes": 7}}, {"name": 7, "started": {}, "finished": []},
    {"summary": {"mean": float("inf"), "low": float("nan")}}, {"summary": {"mean": 10**400, "questions": 10**400}},
    {"inputs": {"spec_file": "/" + "x" * 5_000, "indexes": [{"path": "x" * 5_000, "generation": "g"}]}},
])  # fmt: skip
def test_a_manifest_may_say_anything(tmp_path, change):
    run = run_with(tmp_path, small_study())
    manifest = {"karat": "0", "status": "done", **change}
    (run.path / "manifest.json").write_text(json.dumps(manifest))
    browser = Browser(tmp_path)
    (one,) = browser.json("/api/runs")["runs"]
    assert one["mean"] is None
    for page in ("/", f"/run/{run.id}/questions", f"/api/run/{run.id}", f"/api/run/{run.id}/rows", "/?text=x",
                 f"/run/{run.id}/tune"):  # fmt: skip
        assert browser.get(page).status == 200


def test_a_damaged_manifest_is_a_run_that_says_so(tmp_path):
    run = run_with(tmp_path, small_study())
    (run.path / "manifest.json").write_text("{")
    browser = Browser(tmp_path)
    assert browser.json("/api/runs")["runs"][0]["state"] == "damaged"
    page = browser.get(f"/run/{run.id}")
    assert (page.status, "manifest is damaged" in page.text) == (200, True)


def test_links_to_elsewhere_are_not_followed(tmp_path):
    outside = run_with(tmp_path / "outside", small_study())
    inside = run_with(tmp_path / "runs", small_study())
    (tmp_path / "runs" / outside.id).symlink_to(outside.path)
    browser = Browser(tmp_path / "runs")
    assert [run["id"] for run in browser.json("/api/runs")["runs"]] == [inside.id]
    assert browser.get(f"/run/{outside.id}").status == 404
    for name in ("rows.parquet", "study.json.gz", "times.parquet", "judgements.jsonl"):
        (inside.path / name).unlink(missing_ok=True)
        (inside.path / name).symlink_to(outside.path / name)
    assert browser.get(f"/api/run/{inside.id}/rows").status == 409
    assert browser.get(f"/api/run/{inside.id}/question?id=q1").status == 409
    (inside.path / "manifest.json").unlink()
    (inside.path / "manifest.json").symlink_to(outside.path / "manifest.json")
    assert Browser(tmp_path / "runs").json("/api/runs")["runs"] == []


@pytest.mark.parametrize("id_", ["..", ".", "", "manifest.json", "*", "a/../b", "%00", "runs", "LAST"])
def test_only_what_is_listed_has_a_name(runs_dir, id_):
    from karat.web.replies import NotHereError

    with pytest.raises(NotHereError):
        View(runs_dir).run(id_)


def test_runs_from_elsewhere_are_shown_where_they_are_named(tmp_path):
    outside = run_with(tmp_path / "outside", small_study(), NAME)
    browser = Browser(tmp_path / "none", named=[open_run(outside.path)])
    assert [run["id"] for run in browser.json("/api/runs")["runs"]] == [outside.id]
    assert browser.get(f"/api/run/{outside.id}/rows").status == 200


def test_a_study_is_read_once_by_a_thread(tmp_path, monkeypatch):
    from karat.results import serial

    run_with(tmp_path, small_study())
    read, whole, go = [], serial.load_study, threading.Event()

    def slowly(folder):
        read.append(threading.current_thread())
        go.wait(10)
        return whole(folder)

    monkeypatch.setattr("karat.web.runs.load_study", slowly)
    view = View(tmp_path)
    (run,) = view.runs()
    first = view.study_future(run)
    assert view.study_future(run) is first
    assert not first.done()
    assert view.table(run).n == 4  # meanwhile
    go.set()
    assert first.result(10).study.name == "made"
    assert len(read) == 1
    assert read[0] is not threading.main_thread()


def test_a_study_that_cannot_be_read_is_a_sentence(tmp_path):
    run = run_with(tmp_path, small_study())
    (run.path / "study.json.gz").write_bytes(b"x")
    browser = Browser(tmp_path)
    assert browser.get(f"/api/run/{run.id}/question?id=q1").status == 409
    page = browser.get(f"/run/{run.id}")
    assert (page.status, "cannot be read" in page.text) == (409, True)
    assert browser.get(f"/run/{run.id}/questions").status == 200


def test_a_study_that_is_too_large_is_left_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(runs_module, "LARGEST_STUDY", 10)
    run = run_with(tmp_path, small_study())
    browser = Browser(tmp_path)
    detail = browser.json(f"/api/run/{run.id}/question?id=q1")
    assert "karat show" in detail["note"]
    assert [hit["id"] for hit in detail["systems"][1]["hits"]] == ["c1", "c2"]
    assert (detail["gold"], detail["systems"][1]["answer"]["text"]) == (None, "in the HARBOUR")
    assert detail["systems"][0]["scores"]["MRR"] == {"value": 1.0, "status": "ok", "reason": None}
    page = browser.get(f"/run/{run.id}")
    assert (page.status, "the means of its rows, without intervals" in page.text) == (200, True)
    cells = re.findall(r"<td[^>]*>(.*?)</td>", page.text.partition(">two<")[2].partition("</tr>")[0], re.S)
    assert [re.sub(r"<[^>]+>", "", cell).strip() for cell in cells[:2]] == [".3667", "3"]
    assert browser.get(f"/run/{run.id}/question?id=q3").status == 200
    assert browser.get(f"/compare?run={run.id}&run=x").status == 404


def test_a_run_that_was_not_finished_has_no_rows_yet(tmp_path):
    run = new_run(tmp_path, "stopped", {"karat": "0"})
    browser = Browser(tmp_path)
    reply = browser.get(f"/api/run/{run.id}/rows")
    assert (reply.status, "was not finished" in reply.json["error"]) == (409, True)
    assert "goes on from there" in browser.get(f"/run/{run.id}").text


def test_judges_that_disagree_are_known_by_their_repeats(tmp_path):
    path = tmp_path / "judgements.jsonl"
    rows = [{"id": "q1", "repeats": [1, 0]}, {"id": "q2", "repeats": [1, 1]}, {"id": "q3", "repeats": ["a", 1]},
            {"id": 7, "repeats": [0, 1]}, {"id": "q4", "repeats": 7}]  # fmt: skip
    path.write_text("\n".join([*map(json.dumps, rows), '{"repeats": ', '["repeats"]']) + "\n")
    assert disputed(path) == {"q1"}
    assert disputed(None) == frozenset()


def test_judgements_in_one_endless_line_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(runs_module, "_LONGEST_LINE", 10)
    path = tmp_path / "judgements.jsonl"
    path.write_text("x" * 11)
    with pytest.raises(InputError, match="a line is too long"):
        disputed(path)


def test_what_is_held_keeps_to_its_room():
    held, made = Held(10), []

    def make(name, size):
        return lambda: (made.append(name) or name, size)

    for name, size in (("a", 6), ("b", 4), ("a", 6), ("c", 6), ("a", 6), ("b", 4)):
        assert held.get(name, make(name, size)) == name
    assert made == ["a", "b", "c", "a", "b"]  # c took the room of b and of a, and a that of c
    assert held.get("large", make("large", 99)) == "large"
    assert held.size == 99


def test_what_fails_is_tried_again():
    tries = []

    def make():
        tries.append(1)
        if len(tries) < 2:
            raise ValueError("no")
        return 7

    making = Making(2)
    with pytest.raises(ValueError, match="no"):
        making.get("x", make).result(10)
    assert making.get("x", make).result(10) == 7
    assert making.get("x", make).result(10) == 7
    assert len(tries) == 2


def test_folders_that_no_address_can_name_are_told_and_the_others_shown(tmp_path):
    made = run_with(tmp_path, small_study(), "good")
    for name in (b"bad\xff\xfe", b"back\\slash"):
        shutil.copytree(os.fsencode(made.path), os.fsencode(tmp_path) + b"/" + name)
    (tmp_path / "link").symlink_to(made.path)
    browser = Browser(tmp_path)
    assert [one["id"] for one in browser.json("/api/runs")["runs"]] == [made.id]
    page = browser.get("/")
    assert page.status == 200
    assert "3 folders of runs not shown" in page.text
    assert "bad\\udcff" in page.text
    assert browser.get("/run/back%5Cslash").status == 400


def test_a_trend_is_ordered_by_the_clock(tmp_path):
    for name, started in (("late", "2026-02-02"), ("early", "2026-01-01")):
        run_with(tmp_path, small_study(), name).update(started=started)
    (trend,) = Browser(tmp_path).json("/api/runs")["trends"]
    assert [one["name"] for one in trend["runs"]] == ["early", "late"]
