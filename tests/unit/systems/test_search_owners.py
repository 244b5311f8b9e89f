"""Searches by owners of shards: the same hits and ranks as by the whole index, on a cluster that is none."""

import json
from contextlib import suppress

import numpy as np
import polars as pl
import pytest
from fake_cluster import FakeCluster
from many_shards import NUMBERS, PIECE, WORDS, line, lines

import karat
from karat.core.errors import KaratError, UsageError
from karat.core.types import Gold, Question, TestSet
from karat.match import Exclusions
from karat.models import EMBEDDERS, EmbedderSettings, Encoder, same_embedder
from karat.pool import LocalPool, PoolSettings
from karat.retrieve.engines.dense import DenseEngine
from karat.retrieve.rewrite import Rewritten
from karat.systems import index_build, retrieval, search_stage
from karat.systems.engines import Engines
from karat.systems.retrieval import Memory, Retrieval
from karat.systems.search_stage import SearchPool, balanced
from karat.systems.settings import SystemSettings

QUESTIONS = [f"{WORDS[n % 10]} {WORDS[n * 3 % 10]} item{n * 7}" for n in range(24)] + ["", "granite granite petrel"]
EQUAL = [line(300 + n, "lantern harbour signal engine ladder") for n in range(20)]  # whose scores tie


def built(place, **more):
    (place / "docs.jsonl").write_text(lines(NUMBERS) + "".join(EQUAL))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(index_build, "PIECE_BYTES", PIECE)
        return karat.index(place / "docs.jsonl", place / "i", **{"pool": LocalPool(1), "chunk": "whole", **more})


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    index = built(tmp_path_factory.mktemp("owned"))
    assert len(index.shard_rows("bm25")) >= 7
    return index


@pytest.fixture(scope="module")
def graphs(tmp_path_factory):
    settings = {"dense": {"ann": "hnsw", "ef_search": 20}}
    return built(tmp_path_factory.mktemp("graphs"), engines="dense", settings=settings)


@pytest.fixture(autouse=True)
def small(monkeypatch):
    for name, value in (("TIMED", 3), ("BATCH", 5)):
        monkeypatch.setattr(retrieval, name, value)
    monkeypatch.setattr(search_stage, "TOGETHER", 4)


def searched(index, pool, settings, **more):
    found = Retrieval(Engines(karat.Index.open(index.path)), QUESTIONS, timed=True, pool=pool, **more)
    return found.of(settings, 12)


def assert_same(ours, theirs):
    for column in ("offsets", "rows", "scores"):
        assert getattr(ours, column).dtype == getattr(theirs, column).dtype
        assert getattr(ours, column).tobytes() == getattr(theirs, column).tobytes()


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 2, 3, 7])
@pytest.mark.parametrize("engine", ["bm25", "dense"])
def test_owners_find_what_the_whole_index_finds(index, tmp_path, engine, jobs):
    cluster, settings = FakeCluster(jobs), SystemSettings(engine)
    ours = searched(index, SearchPool(tmp_path / "s", cluster), settings)
    assert_same(ours.ranked, searched(index, None, settings).ranked)
    assert {shard.owner for shard in cluster.done["SearchBlock"]} == set(range(jobs))
    assert len(cluster.done.get("EmbedQueries", ())) == (6 if engine == "dense" else 0)  # once, for all owners
    assert not (tmp_path / "s").exists()
    assert ours.total_seconds == [None] * len(QUESTIONS)


@pytest.mark.slow
def test_owners_search_their_own_graphs(graphs, tmp_path):
    settings = SystemSettings("dense")
    ours = searched(graphs, SearchPool(tmp_path / "s", FakeCluster()), settings)
    assert_same(ours.ranked, searched(graphs, None, settings).ranked)


def test_phrasings_are_fused_after_owners_are_merged(index, tmp_path):
    engines, pool = Engines(index), SearchPool(tmp_path / "s", FakeCluster())
    block = [Rewritten("", tuple(QUESTIONS[n : n + n % 4])) for n in range(12)]
    for engine in ("bm25", "dense"):
        ((_, ours),) = pool.search(index, engine, 9, {0: block})
        assert_same(ours, engines.search(engine, block, 9))


def test_owners_search_past_what_a_question_excludes(index, tmp_path):
    ids = index.chunks.ids[:40:3]
    asked = [Question(f"q{n}", text, excluded=tuple(ids)) for n, text in enumerate(QUESTIONS)]
    excluded, settings = Exclusions(TestSet(asked)), SystemSettings("bm25")
    assert excluded
    ours = searched(index, SearchPool(tmp_path / "s", FakeCluster()), settings, excluded=excluded)
    assert_same(ours.ranked, searched(index, None, settings, excluded=excluded).ranked)


@pytest.mark.parametrize("engine", ["bm25", "dense"])
def test_ranks_are_summed_over_owners(index, tmp_path, engine):
    settings, numbers = SystemSettings(engine), [*range(len(QUESTIONS)), 3, 5]
    rows = [np.unique(np.random.default_rng(n).integers(0, len(index.chunks), n % 4)) for n in numbers]
    pool, steps = SearchPool(tmp_path / "s", FakeCluster(jobs=4)), []
    there = Retrieval(Engines(index), QUESTIONS, pool=pool, progress=lambda *step: steps.append(step))
    here = Retrieval(Engines(index), QUESTIONS)
    ranks = there.ranks_of(settings)(engine, numbers, rows)
    assert ranks.tolist() == here.ranks_of(settings)(engine, numbers, rows).tolist()
    assert ranks.max() > 20
    for label in (f"finding gold by {engine}", f"ranking gold by {engine}"):
        assert [(done, total) for what, done, total in steps if what == label][-1] == (len(QUESTIONS), len(QUESTIONS))
    assert not (tmp_path / "s").exists()
    assert there.ranks_of(settings)(engine, [], []).tolist() == []


def test_the_process_that_leads_opens_no_engine(index, tmp_path, monkeypatch):
    monkeypatch.setattr(karat.Index, "engine", lambda *given: pytest.fail("the whole engine was opened"))
    for engine in ("bm25", "dense"):
        assert len(searched(index, SearchPool(tmp_path / "s", FakeCluster()), SystemSettings(engine)).ranked.rows)


@pytest.mark.parametrize("timed", [True, False])
def test_progress_counts_each_question_once_however_many_owners_search_it(index, tmp_path, timed):
    steps = []
    pool, say = SearchPool(tmp_path / "s", FakeCluster(jobs=4)), lambda *step: steps.append(step)
    found = Retrieval(Engines(index), QUESTIONS, timed=timed, pool=pool, progress=say)
    found.of(SystemSettings("bm25"), 12)
    searching = [(done, total) for what, done, total in steps if what == "searching by bm25" and total > 1]
    assert len(searching) >= 4
    assert {total for _, total in searching} == {len(QUESTIONS)}
    assert [done for done, _ in searching] == sorted(done for done, _ in searching)
    assert searching[-1][0] == len(QUESTIONS)


def test_an_index_of_one_shard_is_searched_by_plain_tasks(tmp_path):
    (tmp_path / "docs.jsonl").write_text(lines(range(30)))
    index, cluster = karat.index(tmp_path / "docs.jsonl", tmp_path / "i", chunk="whole"), FakeCluster()
    for engine in ("bm25", "dense"):
        ours = searched(index, SearchPool(tmp_path / "s", cluster), SystemSettings(engine))
        assert_same(ours.ranked, searched(index, None, SystemSettings(engine)).ranked)
    assert {shard.owner for shard in cluster.done["SearchBlock"]} == {None}


class Kept(Memory):
    """What legs returned, by the questions that were searched together."""

    def __init__(self):
        self.known = {}

    def recall(self, leg, questions):
        return self.known.get((leg, tuple(questions)))

    def keep(self, leg, questions, ranked, seconds):
        self.known[leg, tuple(questions)] = ranked, seconds


@pytest.mark.parametrize("first", ["cluster", "local"])
@pytest.mark.parametrize("engine", ["bm25", "dense"])
def test_a_search_that_stopped_goes_on_by_the_other_pool(index, tmp_path, engine, first):
    settings, cluster = SystemSettings(engine), FakeCluster()
    pools = [SearchPool(tmp_path / "s", cluster), None]
    pools.reverse() if first == "local" else None
    memory, kept = Kept(), []

    def stop(what, done, total):
        if done > 20 and what.startswith("searching"):
            raise KeyboardInterrupt

    with suppress(KeyboardInterrupt):
        searched(index, pools[0], settings, memory=memory, progress=stop)
    kept = dict(memory.known)
    assert 0 < len(kept) < 8
    cluster.done.clear()
    ours = searched(index, pools[1], settings, memory=memory)
    assert_same(ours.ranked, searched(index, None, settings).ranked)
    assert all(memory.known[key] is value for key, value in kept.items())
    alone = [key for key in memory.known if len(key[1]) == 1 and (first == "local" or key not in kept)]
    assert sum(seconds is not None for seconds in ours.total_seconds) == len(alone)


def test_what_an_earlier_run_found_is_not_sent_to_a_cluster(index, tmp_path):
    settings, cluster = SystemSettings("bm25"), FakeCluster()
    theirs = searched(index, None, settings).ranked

    class Earlier(Memory):
        def earlier(self, leg, questions):
            return list(questions), theirs.take(np.array(questions))

    assert_same(searched(index, SearchPool(tmp_path / "s", cluster), settings, memory=Earlier()).ranked, theirs)
    assert {shard.rows for shard in cluster.done["SearchBlock"]} == {3}  # those that are timed elsewhere


@pytest.mark.slow
def test_an_endpoint_is_asked_by_the_process_that_leads(tmp_path, monkeypatch):
    asked = []

    def make(settings):
        def encode(texts):
            asked.append(len(texts))
            return np.array([[len(text), text.count("a"), text.count("e") + 1] for text in texts], np.float32)

        return Encoder(settings, version[0], encode)

    version = ["1"]
    monkeypatch.setitem(EMBEDDERS._loaded, "counted", make)
    embedder = EmbedderSettings("counted", base_url="https://embed.example/v1")
    cluster = FakeCluster()
    index = built(tmp_path, engines="dense", embedder=embedder, pool=cluster)
    assert set(cluster.done) == {"ReadAndChunk"}  # nor is it asked by workers that build
    cluster.done.clear()
    pool = SearchPool(tmp_path / "s", cluster)
    theirs = searched(index, None, SystemSettings("dense"))
    asked.clear()
    assert_same(searched(index, pool, SystemSettings("dense")).ranked, theirs.ranked)
    assert set(cluster.done) == {"SearchBlock"}
    assert sum(asked) == len(QUESTIONS) - 1  # one is empty
    version[0] = "2"
    with pytest.raises(KaratError, match="put the same model on every machine"):
        searched(index, pool, SystemSettings("dense"))


def test_a_worker_needs_the_same_model():
    settings = EmbedderSettings()
    assert same_embedder(
        settings, same_embedder(settings, EMBEDDERS.get("wordllama")(settings).fingerprint).fingerprint
    )
    with pytest.raises(KaratError, match="'another' is needed"):
        same_embedder(settings, "another")


@pytest.mark.parametrize("rows", [[5], [1, 1], [0, 0, 9, 0], [4, 1, 1, 1, 1], [1] * 20, [9, 1, 1, 9, 1]])
def test_groups_are_neighbours_and_none_is_empty(rows):
    for groups in range(1, len(rows) + 1):
        made = balanced(rows, groups)
        assert len(made) == groups
        assert all(made)
        assert [number for group in made for number in group] == list(range(len(rows)))
    assert list(map(len, balanced([1] * 20, 4))) == [5] * 4


def test_shards_are_embedded_by_the_model_of_the_process_that_leads(tmp_path, monkeypatch):
    (tmp_path / "docs.jsonl").write_text(lines(range(30)))
    made = EMBEDDERS.get("wordllama")
    monkeypatch.setitem(EMBEDDERS._loaded, "wordllama", lambda settings: made(settings))
    cluster = FakeCluster()
    karat.index(tmp_path / "docs.jsonl", tmp_path / "i", pool=cluster)
    assert set(cluster.done) == {"ReadAndChunk", "BuildShard"}
    monkeypatch.setattr(DenseEngine, "fingerprint_now", lambda settings: "another")
    with pytest.raises(KaratError, match="'another' is needed"):
        karat.index(tmp_path / "docs.jsonl", tmp_path / "j", engines="dense", pool=cluster)


class ManyJobs:
    """A local pool of two jobs that starts no process."""

    jobs, is_cluster = 2, False

    def map(self, task, shards, *given, **more):
        self.tasks = task
        return LocalPool(1).map(task, shards, *given, **more)


@pytest.mark.parametrize("pool", [FakeCluster(), ManyJobs()])
def test_a_sweep_by_a_pool_is_that_of_one_process(index, tmp_path, monkeypatch, pool):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(search_stage, "PAYS", -1.0)
    asked = [Question(f"q{n}", text, gold=(Gold(chunk=f"p{n * 7919 % 1000:04d}"),)) for n, text in enumerate(QUESTIONS)]
    testset, grid = (
        TestSet([one for one in asked if one.text]),
        {"alpha": "0:1:0.25", "k": "3,10", "fusion": "weighted,rrf"},
    )
    opened = karat.Index.open(index.path)
    theirs, ours = (karat.sweep(testset, opened, grid, measures="nDCG@5", **how) for how in ({}, {"pool": pool}))
    assert ours.scores.systems == theirs.scores.systems
    assert ours.scores.values.tobytes() == theirs.scores.values.tobytes()
    assert getattr(pool, "done", None) or pool.tasks.name.endswith(":SearchBlock")
    with pytest.raises(UsageError, match="there is no pool 'rai'"):
        karat.sweep(testset, opened, grid, pool="rai")


@pytest.mark.slow
def test_a_run_on_a_cluster_knows_no_seconds_and_is_shown_as_ever(index, tmp_path, monkeypatch):
    asked = [
        json.dumps({"id": f"q{n}", "question": text, "gold": [{"id": f"p{n * 7919 % 1000:04d}"}]})
        for n, text in enumerate(QUESTIONS)
        if text
    ]
    (tmp_path / "qa.jsonl").write_text("\n".join(asked))
    (tmp_path / "karat.yaml").write_text(
        f"index: {index.path}\ntestset: qa.jsonl\nsystems: [pure_dense, pure_sparse, balanced]\nanswer: extractive\n"
        "pool: {by: ray, jobs: 3}\noutputs: [markdown, csv]\n"
    )
    cluster = FakeCluster()
    monkeypatch.setattr(PoolSettings, "open", lambda settings, logs=None: cluster)
    there = karat.run(tmp_path / "karat.yaml", runs_dir=tmp_path / "there")
    assert {"EmbedQueries", "SearchBlock", "CountAbove"} == set(cluster.done)

    def stop(what, done, total):
        if what == "searching by dense" and done > 7:
            raise KeyboardInterrupt

    with suppress(KeyboardInterrupt):
        karat.run(tmp_path / "karat.yaml", runs_dir=tmp_path / "here", say=stop)
    monkeypatch.setattr(PoolSettings, "open", lambda settings, logs=None: LocalPool(1))
    (tmp_path / "local.yaml").write_text((tmp_path / "karat.yaml").read_text().replace("{by: ray", "{by: local"))
    here = karat.run(tmp_path / "local.yaml", runs_dir=tmp_path / "here")  # goes on
    assert here.study.timed == dict.fromkeys(("pure_dense", "pure_sparse", "balanced"), 3)
    assert there.study.seconds == {}
    assert [note.text for note in there.study.evaluation.notes if "econds" in note.text] == [
        "Seconds of retrieval are unknown: they are measured by the local pool alone."
    ]
    ours, theirs = (
        pl.read_parquet(next(iter((tmp_path / name).glob("*-experiment-*"))) / "rows.parquet")
        for name in ("there", "here")
    )
    assert ours.equals(theirs)
    assert there.study.failures == here.study.failures
    times = pl.read_parquet(there.folder.path / "times.parquet")
    assert times["seconds"].null_count() == len(times)
    assert "retrieval_time_ms" not in pl.read_csv(there.folder.path / "rows.csv").columns
    with pytest.raises(UsageError, match="fewer than two systems have both Recall@5 and seconds"):
        there.study.pareto()
    gate = karat.gate(there.folder.path, rules=["p95_seconds <= 1"])
    assert gate.verdicts[0].reason == "p95_seconds is not known of 25 of 25 questions, and what is not known is not 0"
