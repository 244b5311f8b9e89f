"""What users do, on a cluster of two nodes: the same files as on this machine alone."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from many_shards import files_of
from shouted import wait_for

import karat
from karat.experiment import blocks
from karat.systems import index_build, retrieval

pytestmark = [
    pytest.mark.ray,
    pytest.mark.xdist_group("ray"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),  # Ray leaves streams of nodes open
]
DEMO = Path(karat.__file__).parent / "experiment" / "_demo"
TIMED = ("retrieval_time_ms", "seconds", "total_time_ms")
SMALL = {(index_build, "PIECE_BYTES"): 4_000, (blocks, "ANSWERED"): 64, (blocks, "SCORED"): 32, (blocks, "JUDGED"): 64,
         (retrieval, "BATCH"): 40}  # fmt: skip
"""What a shard holds, so that the demo has many."""
MEASURES = ("Faithfulness(by=claims)", "Faithfulness(by=heuristic)", "AnswerSimilarity", "TokenF1")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("walk")
    shutil.copytree(DEMO / "docs", place / "docs")
    (place / "docs" / "broken.pdf").write_bytes(b"%PDF-1.7 and no more")
    return place


@pytest.fixture(autouse=True)
def small(monkeypatch):
    for (module, name), value in SMALL.items():
        monkeypatch.setattr(module, name, value)


@pytest.fixture
def ray(cluster):
    return {"by": "ray", "address": cluster.address}


def files(folder):
    return {name: content for name, content in files_of(folder).items() if not re.match(r"logs/|\.lock$", name)}


def indexed(folder, name, pool):
    return karat.index(folder / "docs", folder / name, chunk="tokens:60:10", pool=pool)


def test_an_index_has_the_same_bytes_and_an_unreadable_document_is_named(folder, ray):
    here, there = indexed(folder, "here.index", "local"), indexed(folder, "there.index", ray)
    assert len(there.about["shards"]["chunks"]) > 3
    assert files(folder / "there.index") == files(folder / "here.index")
    assert [Path(problem.place).name for problem in there.problems if problem.fatal] == ["broken.pdf"]
    assert there.problems == here.problems


def test_an_index_has_the_same_bytes_where_a_node_goes_and_another_comes(folder, own_cluster):
    indexed(folder, "here.index", "local")
    (node,), logs = own_cluster.nodes, folder / "moved.index" / "logs"
    pool = {"by": "ray", "address": own_cluster.address}
    thread = threading.Thread(target=indexed, args=(folder, "moved.index", pool))
    thread.start()
    at_work = re.compile(rf"reading .*\(node {node.node_id[:12]}, process \d+\)\n$")  # and nothing more is said yet
    wait_for(lambda: any(at_work.search(log.read_text()) for log in logs.glob("*.log")))
    own_cluster.remove(node)
    own_cluster.add(1)
    thread.join(300)
    assert files(folder / "moved.index") == files(folder / "here.index")
    assert len({re.search(r"\(node (\w+)", log.read_text())[1] for log in logs.glob("*.log")}) >= 2


def keys(folder, name, pool):
    return {
        "name": name, "index": "here.index", "testset": str(DEMO / "questions.jsonl"), "runs_dir": str(folder / name),
        "systems": ["balanced", "pure_dense", "pure_sparse"], "answer": {"by": "extractive"},
        "judge": list(MEASURES[:2]), "claims": ["lexical"], "pool": pool,
    }  # fmt: skip


def rows_of(run):
    rows = pl.read_parquet(run / "rows.parquet")
    return rows.drop([name for name in rows.columns if name in TIMED])


@pytest.fixture
def ran(folder, monkeypatch):
    """Makes a run by a pool; one of the same name goes on with the journal of the one before."""
    if not (folder / "here.index").exists():
        indexed(folder, "here.index", "local")

    def run(name, pool):
        monkeypatch.chdir(folder)
        path = folder / f"{name}.yaml"
        path.write_text(json.dumps(keys(folder, name, pool)))
        return karat.run(path).folder.path

    return run


def logged(runs):
    """What was done, where and how often it was begun and ended: (label, shard) and the two counts."""
    found = {}
    for log in (runs / "logs").iterdir():
        text = log.read_text()
        what = re.search(r"^\S+ (.*) on \S+ \(node", text, re.M)[1]
        found[what] = (len(re.findall(r"\(node \w+, process \d+\)$", text, re.M)), text.count("done in"))
    return found


def test_a_run_finds_answers_and_judges_the_same(folder, ray, ran):
    here, there = ran("here", {"by": "local", "jobs": 1}), ran("there", ray)
    ours, theirs = rows_of(there), rows_of(here)
    assert ours.equals(theirs)
    assert len(ours) > 400
    assert (there / "claims.parquet").read_bytes() == (here / "claims.parquet").read_bytes()
    done = " ".join(logged(folder / "there"))
    for label in ("embedding questions", "searching by dense", "of owner 2", "ranking gold by bm25", "answering by",
                  "splitting into claims", "judging claims", "computing measures"):  # fmt: skip
        assert label in done


def test_a_run_is_judged_the_same_later(folder, ray, ran):
    runs = [(ran("here", {"by": "local", "jobs": 1}), None), (ran("there", ray), ray)]
    judged = [karat.judge(run, ["ClaimF1", *MEASURES], claims="lexical", pool=pool) for run, pool in runs]
    ours, theirs = (one.study.evaluation.scores for one in judged)
    assert {"ClaimF1", "TokenF1"} <= {measure.name for measure in ours.measures}
    assert np.array_equal(ours.values, theirs.values, equal_nan=True)
    assert rows_of(runs[0][0]).equals(rows_of(runs[1][0]))


def test_results_are_scored_the_same(folder, ray, ran):
    answers = ran("here", {"by": "local", "jobs": 1}) / "answers.jsonl"
    asked = {"measures": MEASURES, "claims": "lexical"}
    scored = [karat.score(DEMO / "questions.jsonl", answers, **asked, pool=pool) for pool in (ray, None)]
    ours, theirs = (one.evaluation.scores for one in scored)
    assert np.isfinite(ours.values).any()
    assert np.array_equal(ours.values, theirs.values, equal_nan=True)


def test_a_sweep_is_the_same_to_the_last_digit(folder, ray, monkeypatch):
    monkeypatch.chdir(folder)
    grid = {"k": [5], "alpha": [0.2, 0.5, 0.8]}
    swept = [karat.sweep(DEMO / "questions.jsonl", folder / "here.index", grid, pool=pool) for pool in (ray, "local")]
    ours, theirs = (one.scores for one in swept)
    assert ours.systems == theirs.systems
    assert np.array_equal(ours.values, theirs.values, equal_nan=True)


def test_an_owner_of_an_index_that_is_killed_is_replaced(folder, ray, ran):
    expected = rows_of(ran("here", {"by": "local", "jobs": 1}))
    killed, ended = [], threading.Event()

    def kill():
        while not killed and not ended.wait(0.01):
            for log in (folder / "killed" / "logs").glob("*.log"):
                begun = re.search(r"searching by dense: .* of owner 1 on .*process (\d+)\)\n$", log.read_text())
                if begun and not killed:  # it has begun, and nothing else is said of it
                    os.kill(int(begun[1]), signal.SIGKILL)
                    killed.append(log)

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        run = ran("killed", ray)
    finally:
        ended.set()
        thread.join()
    assert rows_of(run).equals(expected)
    assert len(re.findall(r"\(node \w+, process \d+\)$", killed[0].read_text(), re.M)) == 2
    assert killed[0].read_text().count("done in") == 1


COMMAND = """
from importlib import import_module
import sys
from karat.cli.main import main
for module, name, value in {small}:
    setattr(import_module(module), name, value)
main()
"""


def test_ctrl_c_leaves_a_run_that_the_same_command_goes_on_with(folder, ray, ran, cluster):
    expected = rows_of(ran("here", {"by": "local", "jobs": 1}))
    (folder / "karat.yaml").write_text(json.dumps(keys(folder, "stopped", {"by": "local"})))
    program = COMMAND.format(small=[(module.__name__, name, value) for (module, name), value in SMALL.items()])
    command = [sys.executable, "-c", program, "run", "--pool", "ray", "--ray-address", cluster.address]
    runs = folder / "stopped"
    first = subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True, start_new_session=True)
    wait_for(lambda: any("answering" in log.read_text() for log in runs.glob("logs/*.log")), 120)
    begun = time.monotonic()
    os.killpg(first.pid, signal.SIGINT)  # as a terminal does: to all of the group
    said = first.communicate(timeout=60)[1]
    assert first.returncode == 130
    assert said.splitlines()[-1] == "karat: interrupted. The same command goes on from there."
    assert "Traceback" not in said
    assert time.monotonic() - begun < 60
    before = {what: done for what, (_, done) in logged(runs).items()}
    assert any(before.values())
    named = {**os.environ, "RAY_ADDRESS": cluster.address}  # as the jobs of a cluster have it
    second = subprocess.run(
        command[:-2], cwd=folder, env=named, capture_output=True, text=True, check=False, timeout=300
    )
    assert second.returncode == 5, second.stderr  # broken.pdf
    assert rows_of(next(runs.glob("*-stopped-*"))).equals(expected)
    assert {what for what, (_, done) in logged(runs).items() if done != 1} == set()  # nothing is done twice
    assert not list(runs.glob("*-stopped-*/blocks")) + list(runs.glob("*-stopped-*/searches"))
