"""Dense search over shards, at lower precisions, and by graphs that are searched as hard as they need."""

import json

import numpy as np
import pytest

from karat.core.errors import InputError, KaratError, UsageError
from karat.models import EMBEDDERS, Encoder
from karat.retrieve import _precision, _recall
from karat.retrieve._engine import merged
from karat.retrieve.engines.dense import DenseEngine

SETTINGS = {"embedder": {"name": "spelled"}}


def quiet(*_):
    pass


@pytest.fixture(autouse=True)
def spelled(monkeypatch):
    """An embedder that makes "3 4" the vector (3, 4)."""

    def make(settings):
        return Encoder(settings, version[0], lambda texts: np.array([[float(n) for n in t.split()] for t in texts]))

    version = ["1"]
    monkeypatch.setitem(EMBEDDERS._loaded, "spelled", make)
    monkeypatch.setattr(_recall, "_words_of", lambda text: text)  # some of the numbers would be no vector
    return version


def numbers(count, dimension=16, seed=3):
    rng = np.random.default_rng(seed)
    return [" ".join(f"{n:.3f}" for n in row) for row in rng.standard_normal((count, dimension))]


@pytest.fixture(scope="module")
def texts():
    made = numbers(500)
    return [*made, *made[:60], "", "0 " * 16, *made[100:140]]  # copies across shards; two without a vector


def sharded(texts, place, shards, seed=0, **settings):
    completed = DenseEngine.completed({**SETTINGS, **settings}, {})
    owner = np.random.default_rng(seed).integers(0, shards, len(texts))
    orders = [np.flatnonzero(owner == shard) for shard in range(shards)]
    folders = [place / f"shard{shards}-{number}" for number in range(shards)]
    for folder, order in zip(folders, orders, strict=True):
        folder.mkdir(parents=True)
        DenseEngine.build_shard([texts[row] for row in order], completed, folder, quiet)
    joined = place / f"joined{shards}"
    joined.mkdir()
    facts = DenseEngine.join(folders, completed, joined, quiet)
    return DenseEngine.load_shards(joined, folders, orders), facts, (joined, folders, orders)


@pytest.mark.parametrize("precision", ["float32", "float16", "int8"])
def test_any_plan_finds_the_same(texts, tmp_path, precision, monkeypatch):
    monkeypatch.setattr(_precision, "_BLOCK", 16 * 37)
    monkeypatch.setattr(_precision, "_TAKEN", 16 * 100)
    whole, queries = DenseEngine.build(texts, {**SETTINGS, "precision": precision}, quiet), [*numbers(30, seed=5), ""]
    rows = np.array([3, 77, 505, 560])
    for shards in (1, 2, 7):
        engine, facts, _ = sharded(texts, tmp_path, shards, precision=precision)
        assert len(engine) == len(texts)
        assert engine.settings == whole.settings == facts["settings"]
        assert engine.without_vector == facts["without_vector"] == 2
        assert np.array_equal(engine.row_vectors, whole.row_vectors)
        for depth in (1, 10, 100, 1000):
            ours, theirs = engine.search(queries, depth), whole.search(queries, depth)
            assert ours.offsets.tolist() == theirs.offsets.tolist()
            assert ours.rows.tolist() == theirs.rows.tolist()
            assert ours.scores.tobytes() == theirs.scores.tobytes()
        found, every = whole.search(queries, len(texts)), [rows] * len(queries)
        assert engine.ranks_of(queries, every).tolist() == found.ranks_of(np.arange(len(queries)), every).tolist()
        for query in queries[:5]:
            assert engine.explain(query, 505) == whole.explain(query, 505)
        assert engine.ranks_of(queries[:1], [np.array([560, 561])]).tolist() == [0]
        assert engine.explain(queries[0], 560) == [("cosine", 0.0)]


@pytest.mark.parametrize("precision", ["float16", "int8"])
def test_lower_precisions_take_less_and_say_what_they_lose(texts, tmp_path, precision):
    engine, facts, (_, folders, _) = sharded(texts, tmp_path, 2, precision=precision)
    assert np.load(folders[0] / "vectors.npy").dtype == precision
    exact = DenseEngine.build(texts, SETTINGS, quiet)
    assert np.abs(engine.row_vectors - exact.row_vectors).max() < (0.001 if precision == "float16" else 0.01)
    assert 0.9 < facts["measured"]["recall"] <= 1
    (problem,) = facts["problems"]
    assert not problem.fatal
    assert problem.reason.startswith(f"over vectors stored as {precision} a search finds 0.9") or "1.000" in str(
        problem
    )
    assert engine.measured == facts["measured"]


def test_the_loss_that_is_measured_is_that_of_the_rounding(tmp_path, monkeypatch):
    monkeypatch.setattr(_precision, "_LARGEST", 1)  # numbers of -1, 0 and 1 lose a great deal
    _, facts, _ = sharded(numbers(500), tmp_path, 2, precision="int8")
    assert 0.2 < facts["measured"]["recall"] < 0.8


def test_what_was_rounded_is_used_again_only_where_it_is_rounded_again(texts):
    small = DenseEngine.build(texts, {**SETTINGS, "precision": "int8"}, quiet)
    again = DenseEngine.build(texts, {**SETTINGS, "precision": "int8"}, quiet, known=small.known)
    whole = DenseEngine.build(texts, SETTINGS, quiet)
    assert np.array_equal(again.row_vectors, small.row_vectors)
    assert np.array_equal(DenseEngine.build(texts, SETTINGS, quiet, known=small.known).vectors, whole.vectors)
    from_whole = DenseEngine.build(texts, {**SETTINGS, "precision": "int8"}, quiet, known=whole.known)
    assert np.array_equal(from_whole.row_vectors, small.row_vectors)


def test_a_precision_that_cannot_be():
    with pytest.raises(UsageError, match="precision of the engine dense must be float32, float16, int8, found 'half'"):
        DenseEngine.completed({"precision": "half"}, {})
    with pytest.raises(UsageError, match="is for exact search"):
        DenseEngine.completed({"precision": "int8", "ann": "hnsw"}, {})


def test_shards_without_vectors_are_no_trouble(tmp_path):
    engine, facts, _ = sharded(["1 0", "", "0 1"], tmp_path, 7)
    assert engine.search(["1 1"]).rows.tolist() == [2, 0]
    assert facts["without_vector"] == 1
    empty, facts, _ = sharded(["", ""], tmp_path / "empty", 2)
    assert empty.search(["1 1"]).offsets.tolist() == [0, 0]
    assert facts["measured"] == {}


def test_a_graph_a_shard_finds_nearly_all(tmp_path):
    texts, queries = numbers(1500), numbers(100, seed=8)
    engine, facts, _ = sharded(texts, tmp_path, 3, ann="hnsw")
    assert facts["settings"]["ef_search"] == engine.settings["ef_search"] == 256
    assert facts["measured"]["recall"] > 0.97
    (note,) = facts["problems"]
    assert note.reason.startswith("with ef_search = 256 a search of the graph finds")
    assert "less than" not in note.reason
    assert not note.remedy
    assert not note.fatal
    exact = DenseEngine.build(texts, SETTINGS, quiet).search(queries, 10)
    near = engine.search(queries, 10)
    shared = [len(set(exact.of(i)[0]) & set(near.of(i)[0])) for i in range(100)]
    assert np.mean(shared) / 10 > 0.97


@pytest.mark.slow
@pytest.mark.parametrize("shards", [0, 2])
def test_a_graph_is_searched_as_hard_as_it_needs(tmp_path, monkeypatch, shards):
    """With few links and few candidates a graph misses much: more candidates are tried until it is enough."""
    texts, poor = numbers(3000, dimension=48), {"ann": "hnsw", "m": 4, "ef_construction": 8}
    monkeypatch.setattr("karat.retrieve.engines.dense.EFFORTS", (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048))

    def made(**more):
        if shards:
            return sharded(texts, tmp_path / str(len(more)), shards, **poor, **more)[0]
        return DenseEngine.build(texts, {**SETTINGS, **poor, **more}, quiet)

    settled = made()
    assert settled.settings["ef_search"] > 16
    assert settled.measured["recall"] >= 0.95
    assert [note.remedy for note in settled.problems] == [""]
    own = made(ef_search=16)
    assert own.settings["ef_search"] == 16
    assert own.measured["recall"] < 0.95
    (problem,) = own.problems
    assert problem.reason.startswith("with ef_search = 16 a search of the graph finds 0.")
    assert "less than 0.95" in problem.reason
    assert not problem.fatal


def test_queries_are_some_words_of_passages_all_over(monkeypatch):
    monkeypatch.undo()
    asked = []

    class Listening:
        def embed(self, texts, role):
            asked.extend(texts)
            assert role == "query"
            return np.array([[0.0, 0.0] if text == "nothing" else [1.0, 0.0] for text in texts], np.float32)

    words = " ".join(f"w{n}" for n in range(100))
    vectors = _recall.sample_queries(["", words, "short text", " ", "東" * 500, "nothing"], Listening())
    assert asked == [" ".join(f"w{n}" for n in range(46, 54)), "short text", "東" * 80, "nothing"]
    assert len(vectors) == 3
    asked.clear()
    _recall.sample_queries([f"text {n}" for n in range(10_000)], Listening())
    assert len(asked) == len(set(asked)) == 200
    assert {"text 0", "text 9999"} < set(asked)


def test_what_was_measured_is_kept_in_the_folder(tmp_path):
    engine = DenseEngine.build(numbers(300), {**SETTINGS, "ann": "hnsw"}, quiet)
    engine.save(tmp_path)
    assert DenseEngine.load(tmp_path).measured == engine.measured != {}
    plain = tmp_path / "plain"
    plain.mkdir()
    DenseEngine.build(numbers(30), SETTINGS, quiet).save(plain)
    assert set(json.loads((plain / "dense.json").read_text())) == {"format", "settings", "fingerprint"}


def test_shards_of_two_models_are_refused(texts, tmp_path, spelled):
    _, _, (_, folders, _) = sharded(texts, tmp_path, 2)
    spelled[0] = "2"
    _, _, (_, others, _) = sharded(texts, tmp_path / "other", 2)
    (tmp_path / "mixed").mkdir()
    with pytest.raises(KaratError, match="embedded by several models: spelled 1, spelled 2"):
        DenseEngine.join([folders[0], others[1]], DenseEngine.completed(SETTINGS, {}), tmp_path / "mixed", quiet)


@pytest.mark.parametrize("damage", ["shards", "order", "length", "scales", "settings", "card"])
def test_damaged_shards_are_named(texts, tmp_path, damage):
    _, _, (joined, folders, orders) = sharded(texts, tmp_path, 2, precision="int8")
    if damage == "shards":
        folders, orders = folders[:1], orders[:1]
    elif damage == "order":
        orders = [orders[0], orders[1][::-1]]
    elif damage == "length":
        orders = [orders[0], orders[1][:-1]]
    elif damage == "scales":
        np.save(folders[1] / "scales.npy", np.ones(3, np.float32))
    elif damage == "settings":
        _, _, (_, others, _) = sharded(texts, tmp_path / "other", 2, precision="float16")
        folders = [folders[0], others[1]]
    else:
        (joined / "dense.json").write_text("{}")
    with pytest.raises(InputError, match="Index the documents again"):
        DenseEngine.load_shards(joined, folders, orders)


@pytest.mark.slow
@pytest.mark.parametrize(
    "settings", [{"precision": "float32"}, {"precision": "float16"}, {"precision": "int8"}, {"ann": "hnsw"}]
)
def test_groups_of_shards_find_together_what_the_whole_finds(texts, tmp_path, settings):
    queries = [*numbers(20, seed=5), "", texts[3], texts[520]]
    whole, _, place = sharded([*texts, *[""] * 3], tmp_path, 7, **settings)
    vectors = whole.embed_queries(queries)
    rows = [np.unique(np.random.default_rng(n).integers(0, len(texts), 1 + n % 4)) for n in range(len(queries))]
    rows[0] = np.array([560, 561])  # without vectors
    for groups in (1, 2, 3, 7):
        engines = [DenseEngine.load_shards(*place, group.tolist()) for group in np.array_split(np.arange(7), groups)]
        for depth in (1, 10, 100, 1000):
            ours = merged([engine.search_vectors(vectors, depth) for engine in engines], depth)
            theirs = whole.search(queries, depth)
            assert ours.offsets.tolist() == theirs.offsets.tolist()
            assert ours.rows.tolist() == theirs.rows.tolist()
            assert ours.scores.tobytes() == theirs.scores.tobytes()
        best = merged([engine.best_of(vectors, rows) for engine in engines], 1)
        counts = sum(engine.above(vectors, best) for engine in engines)
        ranks = np.where(np.diff(best.offsets) > 0, counts + 1, 0)
        assert ranks.tolist() == whole.ranks_of(queries, rows).tolist()
        assert ranks[[0, 20]].tolist() == [0, 0]


def test_a_group_without_a_vector_finds_nothing(texts, tmp_path):
    completed = DenseEngine.completed(SETTINGS, {})
    folders = [tmp_path / "full", tmp_path / "blank", tmp_path / "joined"]
    for folder, own in zip(folders, (texts[:5], ["", " "]), strict=False):
        folder.mkdir()
        DenseEngine.build_shard(own, completed, folder, quiet)
    folders[2].mkdir()
    DenseEngine.join(folders[:2], completed, folders[2], quiet)
    blank = DenseEngine.load_shards(folders[2], folders[:2], [np.arange(5), np.arange(5, 7)], [1])
    vectors = blank.embed_queries(texts[:2])
    assert len(blank.search_vectors(vectors).rows) == len(blank.search(texts[:2]).rows) == 0
    best = blank.best_of(vectors, [np.array([5])] * 2)
    assert len(best.rows) == 0
    assert blank.above(vectors, best).tolist() == [0, 0]
