"""What users do, on a cluster of two nodes: the same files as on this machine alone."""

import shutil
from pathlib import Path

import polars as pl
import pytest

import karat
from karat.systems import index_build

pytestmark = [
    pytest.mark.ray,
    pytest.mark.xdist_group("ray"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),  # Ray leaves streams of nodes open
]
DEMO = Path(__file__).parents[2] / "demo"
TIMED = ("retrieval_time_ms", "seconds", "total_time_ms")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("walk")
    shutil.copytree(DEMO / "docs", place / "docs")
    (place / "docs" / "broken.pdf").write_bytes(b"%PDF-1.7 and no more")
    return place


@pytest.fixture
def ray(cluster, monkeypatch):
    monkeypatch.setattr(index_build, "PIECE_BYTES", 4_000)
    return {"by": "ray", "address": cluster.address}


def files(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "logs" not in path.relative_to(folder).parts and path.name != ".lock"
    }


def indexed(folder, name, pool):
    return karat.index(folder / "docs", folder / name, chunk="tokens:60:10", pool=pool)


def test_an_index_has_the_same_bytes_and_an_unreadable_document_is_named(folder, ray):
    here, there = indexed(folder, "here.index", "local"), indexed(folder, "there.index", ray)
    assert len(there.about["shards"]["chunks"]) > 3
    assert files(folder / "there.index") == files(folder / "here.index")
    assert [problem.path for problem in there.problems if problem.fatal] == ["broken.pdf"]
    assert there.problems == here.problems


def ran(folder, name, pool, monkeypatch):
    monkeypatch.chdir(folder)
    keys = {
        "name": name, "index": "here.index", "testset": str(DEMO / "questions.jsonl"), "runs_dir": str(folder / name),
        "systems": ["balanced", "pure_dense", "pure_sparse"], "answer": {"by": "extractive"},
        "judge": ["Faithfulness(by=heuristic)"], "claims": ["lexical"], "pool": pool,
    }  # fmt: skip
    import json

    (folder / f"{name}.yaml").write_text(json.dumps(keys))
    finished = karat.run(folder / f"{name}.yaml")
    rows = pl.read_parquet(finished.path / "rows.parquet")
    return rows.drop([name for name in rows.columns if name in TIMED])


def test_a_run_finds_answers_and_judges_the_same(folder, ray, monkeypatch):
    here = ran(folder, "here", {"by": "local", "jobs": 1}, monkeypatch)
    there = ran(folder, "there", ray, monkeypatch)
    assert there.equals(here)
    assert len(there) > 400


def test_a_sweep_is_the_same_to_the_last_digit(folder, ray):
    swept = [
        karat.sweep(DEMO / "questions.jsonl", folder / "here.index", k=(5,), alpha=(0.2, 0.5, 0.8), pool=pool)
        for pool in (ray, "local")
    ]
    assert swept[0].to_polars().equals(swept[1].to_polars())
