import json
import shutil
import subprocess
import sys

import faiss
import numpy as np
import pytest

from karat.core.errors import InputError, KaratError, UsageError
from karat.models import EMBEDDERS, EmbedderSettings, Encoder, Known
from karat.retrieve import ENGINES, Engine, _recall, _vectors
from karat.retrieve.engines import dense

# What a text is: two numbers, or more, as it stands.
SETTINGS = {"embedder": {"name": "spelled"}}
TEXTS = ["3 4", "1 0", "0 1", "", "1 0", "-1 0", "0 0", "4 3"]


class Spelled:
    """Makes "3 4" the vector (3, 4); counts what it was asked for."""

    def __init__(self):
        self.version, self.asked, self.made = "1", [], 0

    def __call__(self, settings):
        self.made += 1
        return Encoder(settings, self.version, self._encode)

    def _encode(self, texts):
        self.asked.append(texts)
        return np.array([[float(n) for n in text.split()] for text in texts], np.float32)


@pytest.fixture
def spelled(monkeypatch):
    made = Spelled()
    monkeypatch.setitem(EMBEDDERS._loaded, "spelled", made)
    monkeypatch.setattr(_recall, "_words_of", lambda text: text)  # some of the numbers would be no vector
    return made


def quiet(*_):
    pass


def build(texts=TEXTS, settings=SETTINGS, **more):
    return dense.DenseEngine.build(texts, settings, quiet, **more)


def hits(ranked, query=0):
    rows, scores = ranked.of(query)
    return [(int(row), round(float(score), 6)) for row, score in zip(rows, scores, strict=True)]


def random_texts(count, dimension=16, seed=3):
    rng = np.random.default_rng(seed)
    return [" ".join(f"{n:.3f}" for n in row) for row in rng.standard_normal((count, dimension))]


@pytest.mark.usefixtures("spelled")
def test_cosines_best_first_and_of_equal_ones_the_higher_row():
    engine = build()
    assert isinstance(engine, Engine)
    assert ENGINES.get("dense") is dense.DenseEngine
    assert hits(engine.search(["1 0", "0 -2"])) == [(4, 1.0), (1, 1.0), (7, 0.8), (0, 0.6), (2, 0.0), (5, -1.0)]
    assert hits(engine.search(["1 0", "0 -2"]), 1)[0] == (5, 0.0)
    assert hits(engine.search(["1 0"], 1)) == [(4, 1.0)]


@pytest.mark.usefixtures("spelled")
def test_a_text_without_a_vector_is_never_found_and_a_query_without_one_finds_nothing():
    engine = build()
    found = engine.search(["", "1 1", "0 0", " "], 100)
    assert np.diff(found.offsets).tolist() == [0, 6, 0, 0]
    assert not {3, 6} & set(found.rows.tolist())
    assert build(["", " "]).search(["1 0"]).offsets.tolist() == [0, 0]
    assert build([]).search(["1 0"]).offsets.tolist() == [0, 0]
    assert engine.search([]).offsets.tolist() == [0]


@pytest.mark.usefixtures("spelled")
@pytest.mark.parametrize("scale", ["1 0", "2 0"])
def test_the_tie_rule_holds_at_the_cut_also_among_many(scale):
    """`scale` makes the equal vectors copies of one text, or different texts."""
    texts = ["0 1", *(f"{i + 1 if scale == '2 0' else 1} 0" for i in range(300)), "1 1"]
    engine = build(texts)
    assert len(engine.vectors) == (302 if scale == "2 0" else 3)
    for depth in (1, 5, 299, 300, 301):
        rows = [row for row, _ in hits(engine.search(["1 0"], depth))]
        assert rows == [*range(300, 0, -1), 301, 0][:depth]


@pytest.mark.usefixtures("spelled")
@pytest.mark.parametrize("extra", [None, "0 " * 15 + "1"], ids=["copies", "no copies"])
def test_one_query_finds_what_it_finds_in_a_batch(extra):
    texts = random_texts(500)
    texts += texts[:50] if extra is None else [extra]
    engine, queries = build(texts), random_texts(70, seed=4)
    together = engine.search(queries, 20)
    for i, query in enumerate(queries):
        alone = engine.search([query], 20)
        assert np.array_equal(alone.rows, together.of(i)[0])
        assert np.array_equal(alone.scores, together.of(i)[1])


@pytest.mark.usefixtures("spelled")
def test_queries_beyond_one_block(monkeypatch):
    engine, queries = build(random_texts(50)), [*random_texts(9, seed=4), "0 " * 16, *random_texts(9, seed=5)]
    whole = engine.search(queries, 7)
    monkeypatch.setattr(dense, "_QUERIES", 4)
    parts = engine.search(queries, 7)
    assert np.array_equal(whole.offsets, parts.offsets)
    assert np.array_equal(whole.rows, parts.rows)


@pytest.mark.usefixtures("spelled")
def test_it_is_what_faiss_finds():
    texts, queries = random_texts(2000), random_texts(40, seed=9)
    engine = build(texts)
    index = faiss.IndexFlatIP(16)
    index.add(engine.vectors)
    scores, rows = index.search(engine.embedder.embed(queries, "query"), 10)
    found = engine.search(queries, 10)
    assert found.rows.reshape(40, 10).tolist() == rows.tolist()
    assert found.scores.reshape(40, 10) == pytest.approx(scores, abs=1e-6)


@pytest.mark.usefixtures("spelled")
def test_scores_stay_within_1():
    texts = random_texts(300, dimension=300)
    found = build(texts).search(texts, 1)
    assert found.rows.tolist() == list(range(300))
    assert found.scores.max() <= 1.0
    assert found.scores.min() > 1.0 - 1e-6


@pytest.mark.usefixtures("spelled")
def test_explain_is_the_cosine_of_the_search():
    engine = build()
    for row, score in zip(*engine.search(["3 5"]).of(0), strict=True):
        assert engine.explain("3 5", int(row)) == [("cosine", score)]
    for query, row in (("3 5", 3), ("", 1), ("0 0", 1)):
        assert engine.explain(query, row) == [("cosine", 0.0)]


def test_vectors_known_before_are_not_made_again(spelled, tmp_path):
    before = build(["1 0", "0 1", "1 0"])
    assert spelled.asked == [["1 0", "0 1"]]
    spelled.asked.clear()
    after = build(["0 1", "5 5"], known=before.known, journal=tmp_path / "journal")
    assert spelled.asked == [["5 5"]]
    assert np.array_equal(after.vectors[0], before.vectors[1])
    spelled.asked.clear()
    build(["5 5"], journal=tmp_path / "journal")
    assert spelled.asked == []
    build(["0 1"], known=[Known("another", before.known[0].digests, before.vectors)])
    assert spelled.asked == [["0 1"]]


@pytest.mark.usefixtures("spelled")
@pytest.mark.parametrize("ann", ["exact", "hnsw"])
def test_saved_and_loaded_it_finds_the_same(tmp_path, ann):
    engine = build([*TEXTS, *random_texts(0)], SETTINGS | {"ann": ann})
    engine.save(tmp_path)
    loaded = dense.DenseEngine.load(tmp_path)
    assert loaded.settings == engine.settings
    assert isinstance(loaded.vectors.base, np.memmap)
    assert len(loaded) == len(engine) == len(TEXTS)
    for depth in (1, 3, 100):
        a, b = engine.search(TEXTS, depth), loaded.search(TEXTS, depth)
        assert np.array_equal(a.offsets, b.offsets)
        assert np.array_equal(a.rows, b.rows)
        assert np.array_equal(a.scores, b.scores)
    again = tmp_path / "again"
    again.mkdir()
    loaded.save(again)
    for file in again.iterdir():
        assert file.read_bytes() == (tmp_path / file.name).read_bytes()


@pytest.mark.usefixtures("spelled")
@pytest.mark.parametrize("texts", [[], [""], ["1 0"]])
@pytest.mark.parametrize("ann", ["exact", "hnsw"])
def test_a_small_or_empty_index_is_one_too(tmp_path, texts, ann):
    build(texts, SETTINGS | {"ann": ann}).save(tmp_path)
    found = dense.DenseEngine.load(tmp_path).search(["2 0"])
    assert hits(found) == ([(0, 1.0)] if texts == ["1 0"] else [])


def test_the_embedder_is_loaded_with_the_first_query(spelled, tmp_path):
    build().save(tmp_path)
    spelled.made = 0
    engine = dense.DenseEngine.load(tmp_path)
    assert spelled.made == 0
    engine.search(["1 0"])
    engine.search(["1 0"])
    assert spelled.made == 1


def test_vectors_of_another_version_of_the_model_are_not_searched(spelled, tmp_path):
    build().save(tmp_path)
    spelled.version = "2"
    with pytest.raises(KaratError, match=r"made by 'spelled 1', but the embedder here is 'spelled 2'.*index again"):
        dense.DenseEngine.load(tmp_path).search(["1 0"])


@pytest.mark.usefixtures("spelled")
def test_queries_of_another_size_are_refused():
    engine = build()
    engine.embedder.dimension = None
    with pytest.raises(KaratError, match="vectors of 3 numbers, those of this index have 2"):
        engine.search(["1 0 0"])


def test_an_embedder_that_is_gone_is_named(spelled, tmp_path, monkeypatch):
    build().save(tmp_path)
    monkeypatch.delitem(EMBEDDERS._loaded, "spelled")
    with pytest.raises(UsageError, match="unknown embedder 'spelled'"):
        dense.DenseEngine.load(tmp_path).search(["1 0"])


@pytest.mark.usefixtures("spelled")
def test_hnsw_finds_nearly_all_of_what_exact_search_finds():
    texts, queries = random_texts(1500), random_texts(100, seed=8)
    exact = build(texts).search(queries, 10)
    near = build(texts, SETTINGS | {"ann": "hnsw"}).search(queries, 10)
    shared = [len(set(exact.of(i)[0]) & set(near.of(i)[0])) for i in range(100)]
    assert np.mean(shared) / 10 > 0.97
    assert near.scores.max() <= 1.0


@pytest.mark.usefixtures("spelled")
def test_the_same_texts_make_the_same_graph(tmp_path):
    texts, folders = random_texts(1000), [tmp_path / "a", tmp_path / "b", tmp_path / "c"]
    for folder in folders:
        folder.mkdir()
        build(texts, SETTINGS | {"ann": "hnsw"}).save(folder)
    assert len({(folder / "graph.faiss").read_bytes() for folder in folders}) == 1


@pytest.mark.usefixtures("spelled")
@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"an": "hnsw"}, r"unknown setting 'an' of the engine dense. Did you mean ann\?"),
        ({"ann": "ivf"}, "must be exact or hnsw, found 'ivf'"),
        ({"m": 1}, "m of the engine dense must be a whole number from 2 to 512, found 1"),
        ({"ef_search": "many"}, "must be a whole number from 1 to 100000, found 'many'"),
        ({"embedder": "wordllama"}, "embedder of the engine dense cannot be 'wordllama'"),
        ({"embedder": {"nam": "x"}}, r"unknown embedder setting 'nam'. Did you mean name\?"),
        ({"embedder": {"name": "wordlama"}}, r"unknown embedder 'wordlama'. Did you mean wordllama\?"),
    ],
)
def test_settings_that_cannot_be(settings, problem):
    with pytest.raises(UsageError, match=problem):
        build(settings=settings)


@pytest.mark.usefixtures("spelled")
@pytest.mark.parametrize("depth", [0, -1])
def test_a_depth_that_cannot_be(depth):
    for engine in (build(), build([])):
        with pytest.raises(UsageError, match=f"must be 1 or more, found {depth}"):
            engine.search(["1 0"], depth)


def test_settings_are_completed_with_the_defaults(spelled):
    embedder = EmbedderSettings("spelled").plain()
    assert build().settings == {"embedder": embedder, "ann": "exact"}
    linked = build(settings={"embedder": embedder, "ann": "hnsw"}).settings
    assert {name: linked[name] for name in ("m", "ef_construction", "ef_search")} == {
        "m": 32,
        "ef_construction": 200,
        "ef_search": 256,
    }
    with pytest.raises(UsageError, match="is for hnsw"):
        build(settings={"embedder": embedder, "m": 16})
    assert json.loads(json.dumps(build().settings)) == build().settings


def damage(file, content=None):
    def change(folder):
        if content is None:
            (folder / file).unlink()
        else:
            (folder / file).write_bytes(content((folder / file).read_bytes()))

    return change


def saved(file, array):
    return lambda folder: np.save(folder / file, array)


@pytest.mark.usefixtures("spelled")
@pytest.mark.parametrize("file", ["dense.json", "vectors.npy", "digests.npy", "rows.npy", "graph.faiss"])
@pytest.mark.parametrize("change", [None, lambda b: b[: len(b) // 2], lambda b: b"", lambda b: b"foreign" * 9])
def test_a_damaged_file_is_named(tmp_path, file, change):
    build([*TEXTS, *(f"{n} 1" for n in range(90))], SETTINGS | {"ann": "hnsw"}).save(tmp_path)
    damage(file, change)(tmp_path)
    with pytest.raises(InputError, match=rf"{file}: .*Index the documents again"):
        dense.DenseEngine.load(tmp_path).search(["1 0"])


@pytest.mark.usefixtures("spelled")
@pytest.mark.parametrize("number", [np.inf, 1e30])
def test_a_vector_that_gives_no_cosine_is_reported_when_met(tmp_path, number):
    build().save(tmp_path)
    vectors = np.load(tmp_path / "vectors.npy")
    vectors[0] = number
    np.save(tmp_path / "vectors.npy", vectors)
    with pytest.raises(InputError, match="the vectors of the index: a vector is not of length 1"):
        dense.DenseEngine.load(tmp_path).search(["1 1"])


@pytest.mark.usefixtures("spelled")
@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (saved("vectors.npy", np.zeros((5, 2))), r"vectors.npy: is damaged: an array of another kind"),
        (saved("vectors.npy", np.zeros(5, np.float32)), "vectors.npy: is damaged: an array of another kind"),
        (saved("vectors.npy", np.zeros((2, 2), np.float32)), r"digests.npy: has the shape \(5, 16\) beside 2"),
        (saved("rows.npy", np.array([0, 5])), r"rows.npy: points outside the 5 vectors"),
        (saved("rows.npy", np.array([0, -2])), r"rows.npy: points outside the 5 vectors"),
        (saved("rows.npy", np.array([{}])), r"rows.npy: is damaged: it is cut off"),
        (damage("dense.json", lambda b: b.replace(b'"format": 1', b'"format": 2')), "is of format 2, karat reads 1"),
        (damage("dense.json", lambda b: b.replace(b'"ann"', b'"bnn"')), "is not what karat wrote"),
        (damage("dense.json", lambda b: b"[" * 99999), "is not what karat wrote"),
    ],
)
def test_a_folder_that_karat_did_not_write_so(tmp_path, change, problem):
    build().save(tmp_path)
    change(tmp_path)
    with pytest.raises(InputError, match=problem):
        dense.DenseEngine.load(tmp_path)


@pytest.mark.usefixtures("spelled")
def test_a_graph_over_other_vectors_is_refused(tmp_path):
    for name, texts in (("a", ["1 0", "0 1"]), ("b", ["1 0", "0 1", "1 1"])):
        (tmp_path / name).mkdir()
        build(texts, SETTINGS | {"ann": "hnsw"}).save(tmp_path / name)
    shutil.copy(tmp_path / "a" / "graph.faiss", tmp_path / "b" / "graph.faiss")
    with pytest.raises(InputError, match=r"graph.faiss: is a graph over vectors of shape \(2, 2\), beside \(3, 2\)"):
        dense.DenseEngine.load(tmp_path / "b").search(["1 0"])


@pytest.mark.usefixtures("spelled")
def test_near_ties_are_fetched_until_none_is_left(monkeypatch):
    """Scores a hair apart: what is tied with the last hit decides, however much is fetched first."""
    texts = [f"1 {n / 1e8:.10f}" for n in range(200)]
    expected = build(texts).search(["1 0"], 3)
    monkeypatch.setattr(_vectors, "EXTRA", 0)
    assert np.array_equal(build(texts).search(["1 0"], 3).rows, expected.rows)
    assert expected.rows.tolist() == [199, 198, 197]


def test_real_sentences_with_the_default_embedder():
    engine = dense.DenseEngine.build(
        [
            "The night watch lasts six hours.",
            "Diesel is stored behind the workshop.",
            "The kitchen opens at seven.",
            "A bear was seen near the mast.",
        ],
        {},
        quiet,
    )
    best = engine.search(["how long is a night shift", "where do we keep fuel", "when is breakfast served"], 1)
    assert best.rows.tolist() == [0, 1, 2]


def test_importing_the_engine_imports_neither_faiss_nor_a_model():
    code = (
        "import sys, karat.retrieve.engines.dense; assert not {'faiss', 'tokenizers', 'wordllama'} & set(sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
