"""Generation by the engines of an index: they are asked, and what an index lacks is built."""

import shutil
from pathlib import Path

import numpy as np
import pytest

import karat
from karat.core.docs import Chunk, Chunks
from karat.core.text.boilerplate import repeated_lines
from karat.experiment.check import usable_dense
from karat.retrieve._vectors import VectorShard
from karat.retrieve.engines.bm25 import BM25Engine
from karat.retrieve.engines.dense import DenseEngine
from karat.systems import index_build
from karat.systems.index import Index
from karat.testset.check.copies import copies
from karat.testset.near_duplicates import near_duplicates

FIRST = Path(__file__).parents[2] / "data" / "version-1.index"
TEXT = (
    "The ferry to {0} leaves the harbour at 8:10 on Mondays. The tower of {0} is made of {1} and is 41 metres high. "
    "Visitors of {0} pay 12 crowns at the gate of the old {1} mill. The keeper of the {1} gate sleeps in {0}. "
)
NAMES = ("Skarn", "Tolva", "Ostrel", "Brannock", "Vilde", "Querin")
STUFFS = ("granite", "copper", "birch", "slate", "leather", "brass")


@pytest.fixture
def documents(tmp_path):
    folder = tmp_path / "docs"
    folder.mkdir()
    for name, stuff in zip(NAMES, STUFFS, strict=True):
        (folder / f"{name}.md").write_text(f"# {name}\n\n{TEXT.format(name, stuff)}\n")
    return folder


def made(index):
    return [
        one.text for one in karat.generate(index, samples=4, kinds="literal", offline=True, least_tokens=5).questions
    ]


def forbid(monkeypatch, owner, name):
    def refused(*_, **__):
        raise AssertionError(f"{name} was called")

    monkeypatch.setattr(owner, name, refused)


def test_an_index_with_both_engines_has_nothing_built_anew(documents, tmp_path, monkeypatch):
    index = karat.index(documents, tmp_path / "a.index")
    forbid(monkeypatch, BM25Engine, "build")
    forbid(monkeypatch, DenseEngine, "made_by")
    assert len(made(index)) == 4


@pytest.mark.parametrize(
    ("engines", "settings", "built"),
    [
        (("bm25",), {}, (DenseEngine, "made_by")),
        (("dense",), {}, (BM25Engine, "build")),
        (("bm25", "dense"), {"bm25": {"terms": "plain"}}, (BM25Engine, "build")),
    ],
)
def test_what_an_index_lacks_is_built_and_the_questions_are_the_same(
    documents, tmp_path, monkeypatch, engines, settings, built
):
    whole = made(karat.index(documents, tmp_path / "a.index"))
    index = karat.index(documents, tmp_path / "b.index", engines=engines, settings=settings)
    assert made(index) == whole
    forbid(monkeypatch, *built)
    with pytest.raises(AssertionError, match="was called"):
        made(Index.open(tmp_path / "b.index"))


def test_an_index_of_many_shards_gives_the_same_questions(documents, tmp_path, monkeypatch):
    whole = made(karat.index(documents, tmp_path / "a.index"))
    monkeypatch.setattr(index_build, "PIECE_BYTES", 300)
    many = karat.index(documents, tmp_path / "b.index", jobs=1)
    assert len(many.about["shards"]["chunks"]) > 2
    forbid(monkeypatch, BM25Engine, "build")
    forbid(monkeypatch, DenseEngine, "made_by")
    assert made(many) == whole


def test_vectors_of_another_model_are_not_used(documents, tmp_path, monkeypatch):
    whole = made(karat.index(documents, tmp_path / "a.index"))
    with monkeypatch.context() as patched:
        patched.setattr(DenseEngine, "fingerprint", "another model")
        assert usable_dense(Index.open(tmp_path / "a.index")) is None
    monkeypatch.setattr("karat.experiment.check.usable_dense", lambda index: None)
    assert made(Index.open(tmp_path / "a.index")) == whole


def test_vectors_and_medians_are_those_of_all_rows_whatever_shard_has_them():
    texts = [TEXT.format(*pair) for pair in zip(NAMES, STUFFS, strict=True)] + [""]
    one = DenseEngine.build(texts, {}, lambda *_: None)
    parts = [one.build([texts[row] for row in rows], {}, lambda *_: None) for rows in ((0, 3, 6), (1, 2, 4, 5))]
    shards = [
        VectorShard(part._shards[0].content, order=np.array(rows))
        for part, rows in zip(parts, ((0, 3, 6), (1, 2, 4, 5)), strict=True)
    ]
    many = DenseEngine(one.settings, shards)
    rows = np.array([6, 5, 0, 2])
    assert many.vectors_of(rows).tolist() == one.row_vectors[rows].tolist()
    query = one.embedder.embed(["Where is the gate of brass?"], "query")[0]
    assert many.median_cosine(query) == one.median_cosine(query)
    assert one.median_cosine(query) == pytest.approx(float(np.median(one.row_vectors @ query)), abs=1e-5)


def test_holders_are_counted_for_single_terms():
    engine = BM25Engine.build(["two watches", "a watch stands"], {}, lambda *_: None)
    assert engine.holders_of(["watch", "boat", "two"]).tolist() == [2, 0, 1]
    assert BM25Engine.build([""], {}, lambda *_: None).holders_of(["watch"]).tolist() == [0]


def test_near_duplicates_are_the_same_in_blocks_and_at_once(monkeypatch):
    rng = np.random.default_rng(4)
    words = [f"w{n}" for n in range(400)]
    texts = [" ".join(rng.choice(words, 40)) for _ in range(60)]
    texts += [text.replace(" ", "  ") for text in texts[:5]]
    texts += [text.rsplit(" ", 2)[0] + " other end" for text in texts[5:12]]
    chunks = Chunks([Chunk(f"c{n:03}", "d", text) for n, text in enumerate(texts)])
    at_once = near_duplicates(chunks, range(len(chunks)))
    assert sorted(at_once) == list(range(60, 72))
    monkeypatch.setattr("karat.testset.near_duplicates._TOGETHER", 7)
    compared = []
    monkeypatch.setattr(
        "karat.testset.near_duplicates.copies", lambda texts, gold: compared.append(len(texts)) or copies(texts, gold)
    )
    assert near_duplicates(chunks, range(len(chunks))) == at_once
    assert compared == [14]


def test_repeated_lines_are_the_same_in_blocks_and_at_once(monkeypatch):
    texts = [
        f"the head of {'all' if n % 3 else 'some'} pages\nline number {'abcdefghij'[n % 10]} here" for n in range(40)
    ]
    texts += [f"only in the end\n{'xyz'[n % 3]} own text" for n in range(4)]
    at_once = repeated_lines(texts)
    assert {"the head of all pages", "the head of some pages", "only in the end"} <= at_once
    assert "x own text" not in at_once
    monkeypatch.setattr("karat.core.text.boilerplate._BLOCK", 6)
    assert repeated_lines(texts) == at_once


def test_an_index_of_version_1_is_asked_too(tmp_path):
    shutil.copytree(FIRST, tmp_path / "old.index")
    found = karat.generate(tmp_path / "old.index", samples=2, kinds="literal", offline=True, least_tokens=1)
    assert found.generated.sampled.rows
