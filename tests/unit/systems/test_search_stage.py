"""Searches by processes: the same hits as in a plain loop, whatever the number of jobs, and whoever is killed."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import karat
from karat.core.errors import KaratError
from karat.pool import LocalPool
from karat.retrieve.rewrite import Rewritten
from karat.systems import retrieval as searching
from karat.systems import search_stage
from karat.systems.engines import Engines
from karat.systems.retrieval import Retrieval
from karat.systems.search_stage import SearchBlock, SearchPool
from karat.systems.settings import SystemSettings

WORDS = ("amber", "basin", "cedar", "delta", "ember", "fjord", "grove", "heron", "inlet", "jetty", "kelp", "larch")


def text(number):
    return " ".join(WORDS[(number * step) % len(WORDS)] for step in (1, 3, 5, 7, 11)) + f" {number % 9}"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    home = tmp_path_factory.mktemp("searched")
    rows = [json.dumps({"id": f"d{n:02}", "text": text(n)}) for n in range(40)]
    (home / "docs.jsonl").write_text("\n".join(rows))
    asked = [json.dumps({"id": f"q{n}", "question": text(3 * n), "gold": [{"id": f"d{n:02}"}]}) for n in range(30)]
    (home / "qa.jsonl").write_text("\n".join(asked))
    karat.index(home / "docs.jsonl", home / "i", chunk="whole")
    (home / "karat.yaml").write_text(
        "name: searched\nindex: i\ntestset: qa.jsonl\nsystems: [pure_dense, pure_sparse, balanced]\n"
        "outputs: [csv]\nmeasures: [Recall@3]\n"
    )
    return home


@pytest.fixture
def small(monkeypatch):
    """Blocks of a few questions, and processes for the least of them."""
    for name, value in (("TIMED", 3), ("BATCH", 5)):
        monkeypatch.setattr(searching, name, value)
    monkeypatch.setattr(search_stage, "PAYS", -1.0)


@pytest.mark.parametrize(
    ("engine", "rewrite"),
    [
        ("bm25", ("spell",)),
        ("dense", ()),
        pytest.param("bm25", (), marks=pytest.mark.slow),
        pytest.param("dense", ("spell",), marks=pytest.mark.slow),
    ],
)
def test_processes_find_what_a_plain_loop_finds(folder, tmp_path, small, monkeypatch, engine, rewrite):
    index = karat.Index.open(folder / "i")
    questions = [text(n) for n in range(25)]
    found, started = [], []
    mapped = LocalPool.map
    monkeypatch.setattr(LocalPool, "map", lambda *given: (started.append("map"), mapped(*given))[1])
    for pool in (None, SearchPool(tmp_path / "one", LocalPool(1)), SearchPool(tmp_path / "two", LocalPool(2))):
        retrieval = Retrieval(Engines(index), questions, timed=True, pool=pool)
        found.append(retrieval.of(SystemSettings(engine, rewrite=rewrite), 5).ranked)
    for other in found[1:]:
        for column in ("offsets", "rows", "scores"):
            assert np.array_equal(getattr(found[0], column), getattr(other, column))
    assert started == ["map"]  # one job is the plain loop
    assert not (tmp_path / "two").exists()


def test_a_small_run_and_an_endpoint_start_no_process(folder, tmp_path):
    index, pool = karat.Index.open(folder / "i"), SearchPool(tmp_path / "s", LocalPool(2))
    assert pool.pays(index, "dense", search_stage.PAYS + 1)
    assert not pool.pays(index, "dense", search_stage.PAYS)
    assert not pool.pays(index, "faiss:there", 1e9)
    assert not pool.pays(index, "dense", float("nan"))
    assert not SearchPool(tmp_path / "s", LocalPool(1)).pays(index, "dense", 1e9)
    index.about["settings"]["engines"]["dense"]["embedder"] |= {"name": "openai", "target": "small"}
    assert not pool.pays(index, "bm25", 1e9)


def test_an_index_that_is_built_again_meanwhile_is_not_searched(folder, tmp_path):
    settings = {"index": str(folder / "i"), "generation": "another", "leg": "bm25", "groups": [], "depth": 3}
    with pytest.raises(KaratError, match="was built again while it was searched"):
        SearchBlock(settings, lambda *step: None)


def test_a_question_without_a_query_finds_nothing(folder, tmp_path):
    index = karat.Index.open(folder / "i")
    pool, block = (
        SearchPool(tmp_path, LocalPool(1)),
        [Rewritten("", one) for one in (("amber",), (), ("cedar \ud800",))],
    )
    ((number, ranked),) = pool.search(index, "bm25", 3, {7: block})
    assert number == 7
    assert np.diff(ranked.offsets).tolist() == [3, 0, 3]
    assert [len(ranked) for _, ranked in pool.search(index, "dense", 3, {0: []})] == [0]


KILLED = """
import os, signal, sys
import karat
from karat.systems import retrieval, search_stage
retrieval.TIMED, retrieval.BATCH, search_stage.PAYS = 3, 5, -1.0
stop, whom, seen = int(sys.argv[3]), sys.argv[4], 0

def say(what, done, total):
    global seen
    seen += what.startswith("searching")
    if seen == stop and whom == "all":
        os.kill(os.getpid(), signal.SIGKILL)
    if seen == stop and whom == "workers":
        seen += 1
        for task in os.listdir("/proc/self/task"):
            for pid in open(f"/proc/self/task/{task}/children").read().split():
                os.kill(int(pid), signal.SIGKILL)

karat.run(sys.argv[1], runs_dir=sys.argv[2], say=say)
"""


def spec_for(folder, jobs):
    spec = folder / f"jobs{jobs}.yaml"
    spec.write_text((folder / "karat.yaml").read_text() + f"pool: {{jobs: {jobs}}}\n")
    return spec


def killed(folder, runs, stop, whom="all"):
    words = [sys.executable, "-c", KILLED, spec_for(folder, 2), runs, stop, whom]
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)


def undisturbed(folder, runs, jobs=2):
    """Run, or go on with what was killed, in this process; in how many steps of searching."""
    steps = []
    karat.run(spec_for(folder, jobs), runs_dir=runs, say=lambda what, *of: steps.append(what.startswith("searching")))
    return sum(steps)


def rows(runs):
    (run,) = Path(runs).glob("*-searched-*")
    assert not (run / "searches").exists()
    return (run / "rows.parquet").read_bytes(), (run / "comparisons.csv").read_bytes()


@pytest.mark.slow
def test_a_run_that_is_killed_while_processes_search_ends_in_the_same_bytes(folder, tmp_path, small):
    steps = undisturbed(folder, tmp_path / "calm")
    undisturbed(folder, tmp_path / "one", jobs=1)
    assert rows(tmp_path / "one") == rows(tmp_path / "calm")
    for stop in (5, steps - 3):
        runs = tmp_path / f"killed{stop}"
        assert killed(folder, runs, stop).returncode == -signal.SIGKILL
        undisturbed(folder, runs)
        assert rows(runs) == rows(tmp_path / "calm"), f"killed at step {stop} of {steps}"


@pytest.mark.slow
def test_a_process_that_is_killed_is_replaced(folder, tmp_path):
    ended = killed(folder, tmp_path / "runs", 5, "workers")
    assert ended.returncode == 0, ended.stderr
    (run,) = (tmp_path / "runs").glob("*-searched-*")
    assert len(pl.read_parquet(run / "rows.parquet")) == 90
