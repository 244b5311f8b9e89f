"""Tuning: figures are those of a sweep, the index must be the run's, a setting goes to the run's karat.yaml alone."""

import json
import shutil
import time
from urllib.parse import urlencode

import numpy as np
import polars as pl
import pytest
from tuned_runs import SPEC, write_tunable
from viewed import Browser, run_with, small_study

from karat.experiment.run import run as run_spec
from karat.experiment.sweep import sweep
from karat.results.serial import load_study


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tuned")
    write_tunable(folder)
    run_spec(folder / "karat.yaml")
    return folder


@pytest.fixture(scope="module")
def run(folder):
    (path,) = [path for path in (folder / "runs").iterdir() if (path / "manifest.json").is_file()]
    return path


@pytest.fixture(scope="module")
def browser(folder, run):
    browser = Browser(folder / "runs")
    opened(browser, run.name)
    return browser


def index_in(folder):
    (head,) = (folder / "runs" / "indexes").glob("*/index.json")
    return head.parent


def opened(browser, run):
    for _ in range(600):
        state = browser.json(f"/api/run/{run}/tune/state")
        if state["state"] == "ready":
            return state
        assert 0 <= state["done"] <= state["total"]
        time.sleep(0.02)
    raise AssertionError(state)


def tuned(browser, run, part="tune", **values):
    return browser.json(f"/api/run/{run.name}/{part}?{urlencode(values)}")


@pytest.fixture
def written(folder):
    """karat.yaml, put back afterwards."""
    yield folder / "karat.yaml"
    (folder / "karat.yaml").write_text(SPEC, "utf-8")


@pytest.mark.parametrize(
    "setting",
    [
        {"alpha": "0.35", "k": "3"},
        {"alpha": "0", "k": "5"},
        {"alpha": "1", "k": "1"},
        {"alpha": "0.5", "k": "5", "normalise": "zscore", "depth": "10"},
        {"alpha": "0.123456", "k": "3", "normalise": "minmax", "depth": "200"},
        {"fusion": "rrf", "rrf_k": "7", "k": "3"},
        {"fusion": "combmnz", "k": "5", "depth": "20"},
    ],
)
def test_tuned_values_are_those_of_a_sweep_to_the_last_digit(browser, run, folder, setting):
    index = index_in(folder)
    measures = [f"{name}@{setting['k']}" for name in ("Precision", "Recall", "F1", "Hit", "MRR", "nDCG")]
    swept = sweep(folder / "qa.jsonl", index, setting, measures=measures, main="Recall")
    means = {s.measure: (s.mean, s.low, s.high, s.n) for s in swept.evaluation().summaries}
    quick = {one["name"]: (one["mean"], one["n"]) for one in tuned(browser, run, **setting)["measures"]}
    slow = tuned(browser, run, "tune/curve", **setting)["measures"]
    assert quick == {name: (mean, n) for name, (mean, _, _, n) in means.items()}
    assert {one["name"]: (one["mean"], one["low"], one["high"], one["n"]) for one in slow} == means


def test_the_curve_is_the_choice_of_a_sweep(browser, run, folder):
    index = index_in(folder)
    swept = sweep(folder / "qa.jsonl", index, {"alpha": "0:1:0.05", "k": 3}, measures="Recall@3", main="Recall")
    choice = swept.choice(k=3)
    found = tuned(browser, run, "tune/curve", alpha=0.3, k=3)
    cells = {cell.system: (cell.mean, cell.low, cell.high) for cell in choice.cells}
    assert {one["name"]: (one["mean"], one["low"], one["high"]) for one in found["curve"]} == cells
    assert [one["name"] for one in found["curve"] if one["best"]] == [choice.best.system]
    assert {one["name"] for one in found["curve"] if one["same"] and not one["best"]} == {p.a for p in choice.equals}
    assert [one["alpha"] for one in found["curve"] if one["chosen"]] == [0.3]
    assert (found["choice"]["optimism"], found["choice"]["expected"]) == (choice.optimism, choice.cross_validated)
    assert found["choice"]["flat"] is (not choice.beaten)


def test_an_alpha_between_joins_the_curve(browser, run):
    curve = tuned(browser, run, "tune/curve", alpha=0.33, k=3)["curve"]
    assert len(curve) == 22
    assert [one["alpha"] for one in curve if one["chosen"]] == [0.33]


def test_a_setting_equal_to_the_baseline_wins_and_loses_nothing(browser, run):
    found = tuned(browser, run, system="mine", baseline="mine", k=3)
    assert found["name"] == "hybrid alpha=0.8"
    assert (found["against"]["won"], found["against"]["lost"], found["against"]["n"]) == (0, 0, 40)
    assert all(one["mean"] == one["baseline"] for one in found["measures"])


def test_questions_won_and_lost_are_counted_by_question(browser, run, folder):
    scores = load_study(run).evaluation.scores
    s = list(scores.systems).index("balanced")
    m = [measure.name for measure in scores.measures].index("Recall@3")
    index = index_in(folder)
    swept = sweep(folder / "qa.jsonl", index, {"alpha": "1", "k": 3}, measures="Recall@3", main="Recall")
    gap = swept.scores.values[0, :, 0] - scores.values[s, :, m]
    found = tuned(browser, run, alpha=1, k=3, baseline="balanced")["against"]
    assert (found["won"], found["lost"]) == (int((gap > 0).sum()), int((gap < 0).sum()))
    assert found["won"] + found["lost"] > 0
    lost = {f"q{n}" for n in np.flatnonzero(gap < 0)}
    assert {one["id"] for one in found["lost_questions"]} == lost


def test_with_gaps_in_the_values_all_is_as_in_a_sweep_and_the_difference_is_of_the_questions_of_both(tmp_path):
    write_tunable(tmp_path)
    asked = [json.loads(line) for line in (tmp_path / "qa.jsonl").read_text().splitlines()]
    for n, one in enumerate(asked):
        one |= {"answerable": False, "gold": []} if n % 7 == 3 else {}
        one |= {"kind": None} if n >= 30 else {}
    (tmp_path / "qa.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in asked))
    run_spec(tmp_path / "karat.yaml")
    (path,) = [path for path in (tmp_path / "runs").iterdir() if (path / "manifest.json").is_file()]
    rows = pl.read_parquet(path / "rows.parquet")
    failed = (pl.col("system") == "mine") & pl.col("question_id").is_in(["q0", "q1", "q2"])
    rows = rows.with_columns(pl.when(~failed).then(pl.col("Recall@3")).alias("Recall@3"))
    rows.write_parquet(path / "rows.parquet")
    browser = Browser(tmp_path / "runs")
    opened(browser, path.name)
    found = tuned(browser, path, alpha=0, k=3, baseline="mine")
    measures = [one["name"] for one in found["measures"]]
    swept = sweep(tmp_path / "qa.jsonl", index_in(tmp_path), {"alpha": "0", "k": 3}, measures=measures, main="Recall")
    summaries = swept.evaluation(("kind",)).summaries
    means = {one["name"]: (one["mean"], one["n"]) for one in found["measures"]}
    assert means == {s.measure: (s.mean, s.n) for s in summaries if s.slice is None}
    kinds = {one["kind"]: (one["mean"], one["n"]) for one in found["kinds"]}
    assert kinds == {s.value: (s.mean, s.n) for s in summaries if s.slice and s.measure == "Recall@3"}
    assert list(kinds) == ["fact", "list", "(none)"]
    own = swept.scores.values[0, :, measures.index("Recall@3")]
    mine = rows.filter(pl.col("system") == "mine")["Recall@3"].fill_null(np.nan).to_numpy()
    recall = next(one for one in found["measures"] if one["name"] == "Recall@3")
    assert (recall["n"], recall["baseline_n"]) == (34, 31)
    assert recall["difference"] == pytest.approx(np.nanmean(own - mine))
    assert recall["difference"] != pytest.approx(recall["mean"] - recall["baseline"])


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("alpha=2", "alpha=2 is not between"),
        ("alpha=nan", "is no number"),
        ("alpha=0:1:0.1", "one value is tuned at a time"),
        ("depth=77", "take one of"),
        ("k=1000", "take 100 at most"),
        ("fusion=nothing", "nothing"),
        ("rewrite=expand:/etc/passwd", "there is no parameter 'rewrite'"),
        ("aplha=0.5", "Did you mean alpha?"),
        ("system=none", "no system of this run"),
        ("baseline=none", "this run has no system 'none'"),
        ("seq=x", "whole number"),
    ],
)
def test_what_cannot_be_set_is_refused(browser, run, query, words):
    reply = browser.get(f"/api/run/{run.name}/tune?{query}")
    assert reply.status == 400
    assert words in reply.json["error"]


def test_of_a_page_only_the_newest_request_is_answered(browser, run):
    address = f"/api/run/{run.name}/tune?page=p1&seq="
    assert browser.get(f"{address}5").status == 200
    assert browser.get(f"{address}4").status == 409
    assert browser.get(f"/api/run/{run.name}/tune?page=p2&seq=1").status == 200


def test_any_query_is_searched_by_all_engines(browser, run, folder):
    question = json.loads((folder / "qa.jsonl").read_text("utf-8").splitlines()[0])
    reply = browser.post(f"/api/run/{run.name}/search", json.dumps({"query": question["question"], "k": 80}).encode())
    assert reply.status == 400
    body = {"query": question["question"], "k": 50, "settings": {"alpha": "0.4"}}
    found = browser.post(f"/api/run/{run.name}/search", json.dumps(body).encode()).json
    assert [one["name"] for one in found["lists"]] == ["hybrid alpha=0.4", "dense", "bm25"]
    assert found["question"] == "q0"
    gold = {hit["id"] for one in found["lists"] for hit in one["hits"] if hit["gold"]}
    assert gold == {question["gold"][0]["doc"]}
    first = found["lists"][0]["hits"][0]
    assert sum(part["share"] for part in first["parts"]) == pytest.approx(first["score"])


@pytest.mark.parametrize("body", [b"[]", b"{", b'{"query": " "}', b'{"query": 3}', b'{"query": "a", "k": true}'])
def test_what_is_no_query_is_refused(browser, run, body):
    assert browser.post(f"/api/run/{run.name}/search", body).status == 400


def add(browser, run, name, mark=None, **settings):
    seen = tuned(browser, run, "yaml", **settings)
    body = {"name": name, "mark": mark or seen["mark"], "settings": settings}
    return browser.post(f"/api/run/{run.name}/yaml", json.dumps(body).encode())


def test_a_setting_is_added_to_the_runs_own_karat_yaml(browser, run, written):
    assert add(browser, run, "tuned: <b>\u00fc\u00f6", alpha=0.35, depth=50).status == 200
    text = written.read_text("utf-8")
    lines = '  - name: "tuned: <b>\u00fc\u00f6"\n    engine: hybrid\n    alpha: 0.35\n    depth: 50\n'
    assert text == SPEC.replace("    alpha: 0.8\n", f"    alpha: 0.8\n{lines}")


@pytest.mark.parametrize("name", ["mine", "balanced", "", " a", "a\nb", "a\u202e", "${HOME}", "x" * 81])
def test_a_name_that_is_taken_or_cannot_be_is_refused(browser, run, written, name):
    assert add(browser, run, name, alpha=0.35).status == 400
    assert written.read_text("utf-8") == SPEC


def test_a_file_that_was_changed_meanwhile_is_left_alone(browser, run, written):
    mark = tuned(browser, run, "yaml", alpha=0.35)["mark"]
    written.write_text(f"{SPEC}# later\n", "utf-8")
    reply = add(browser, run, "tuned", mark, alpha=0.35)
    assert reply.status == 409
    assert "changed meanwhile" in reply.json["error"]
    assert written.read_text("utf-8") == f"{SPEC}# later\n"


def test_without_the_runs_file_that_of_the_servers_folder_is_meant(browser, run, written, monkeypatch, tmp_path):
    written.unlink()
    monkeypatch.setattr(browser.app.state.view, "folder", tmp_path)
    seen = tuned(browser, run, "yaml", alpha=0.35)
    assert (seen["file"], seen["mark"]) == (str(tmp_path / "karat.yaml"), None)
    assert "karat init" in seen["remedy"]


def test_the_page_without_script_has_the_curve_of_a_sweep(browser, run):
    page = browser.get(f"/run/{run.name}/tune").text
    assert "<table" in page
    assert page.count("hybrid alpha=") >= 9


def test_a_run_whose_index_is_gone_or_built_again_says_what_to_do(folder, run, tmp_path):
    runs = tmp_path / "runs"
    shutil.copytree(run, runs / run.name)
    index = folder / "runs" / "indexes"
    index.rename(folder / "hidden")
    try:
        browser = Browser(runs)
        page = browser.get(f"/run/{run.name}/tune")
        assert page.status == 200
        assert "index is not there any more" in page.text
        assert browser.get(f"/api/run/{run.name}/tune/state").status == 409
    finally:
        (folder / "hidden").rename(index)
    shutil.copytree(index, runs / "indexes")
    manifest = json.loads((runs / run.name / "manifest.json").read_text("utf-8"))
    (head,) = (runs / "indexes").glob("*/index.json")
    assert manifest["inputs"]["indexes"][0]["generation"] in head.read_text("utf-8")


def test_a_run_without_an_index_says_so(tmp_path):
    run = run_with(tmp_path, small_study())
    page = Browser(tmp_path).get(f"/run/{run.id}/tune")
    assert page.status == 200
    assert "searched no index" in page.text
