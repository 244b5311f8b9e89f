"""Datasets of ir_datasets, from a cache made by hand; no connection may be opened."""

import json
import os
import socket
import tempfile

os.environ["IR_DATASETS_HOME"] = tempfile.mkdtemp()

import ir_datasets
import pytest
from dataset_folders import DOCS, QRELS, QUERIES, beir
from ir_datasets.indices import PickleLz4FullStore

import karat
from karat.core.errors import InputError
from karat.corpus import read
from karat.files import read_testset

ID = "irds:beir/scifact"
RUN = {"7": {"d2": 3.0, "d1": 2.0, "10": 1.0}, "q 2": {"d1": 2.0, "10": 1.5}}


@pytest.fixture(autouse=True)
def no_network(monkeypatch):
    def refuse(*_):
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


@pytest.fixture(scope="module")
def cached():
    home = ir_datasets.util.home_path() / "beir/scifact"
    home.mkdir(parents=True, exist_ok=True)
    ids = {row["_id"]: row["_id"].replace(" ", "") for row in QUERIES}  # the library splits lines at blanks
    rows = [{**row, "_id": ids[row["_id"]]} for row in QUERIES]
    (home / "queries.json").write_text("".join(json.dumps(row) + "\n" for row in rows))
    lines = [f"{ids[q]}\t{d}\t{g}\n" for q, d, g in QRELS]
    (home / "test.qrels").write_text("query-id\tcorpus-id\tscore\n" + "".join(lines))
    (home / "irds_version.txt").write_text("v2")
    kind = ir_datasets.load("beir/scifact").docs_cls()
    docs = [kind(row["_id"], row["text"], row["title"]) for row in DOCS]
    store = PickleLz4FullStore(f"{home}/docs.pklz4", lambda: iter(docs), kind, "doc_id", ["doc_id"])
    store.build()


def test_scores_and_documents_equal_those_of_beir(cached, tmp_path):
    folder = beir(tmp_path / "beir")
    _, info = read_testset(f"{ID}/test")
    assert (info.format, info.what) == ("ir_datasets", "2 questions")
    run = {qid.replace(" ", ""): docs for qid, docs in RUN.items()}
    of_id = karat.score(f"{ID}/test", run, measures=["nDCG@3", "Recall@2"], matching="exact")
    of_folder = karat.score(folder, RUN, measures=["nDCG@3", "Recall@2"], matching="exact")
    for measure in ("nDCG@3", "Recall@2"):
        assert of_id.mean(measure) == of_folder.mean(measure)
    assert read(ID).docs == read(folder).docs


def test_an_index_of_it_is_searched(cached, tmp_path):
    index = karat.index(ID, tmp_path / "index", engines=("bm25",))
    assert len(index.docs) == len(DOCS)
    assert index.search("oil of the pump", 2)


def test_documents_that_are_pages_give_their_text(tmp_path):
    (tmp_path / "docs.tsv").write_text("d1\tone\nd2\ttwo\n")
    (tmp_path / "queries.tsv").write_text("1\tWho?\n")
    (tmp_path / "qrels").write_text("1 0 d1 2\n")
    paths = {"docs_tsv": "docs.tsv", "queries_tsv": "queries.tsv", "qrels_trec": "qrels"}
    made = ir_datasets.create_dataset(**{name: str(tmp_path / path) for name, path in paths.items()})
    ir_datasets.registry.register("mine", made)
    assert [(doc.id, doc.text) for doc in read("irds:mine").docs] == [("d1", "one"), ("d2", "two")]
    (question,) = read_testset("irds:mine")[0]
    assert (question.id, question.text, question.gold[0].grade) == ("1", "Who?", 2)
    (tmp_path / "queries.tsv").unlink()
    ir_datasets.registry.register(
        "gone",
        ir_datasets.create_dataset(queries_tsv=str(tmp_path / "queries.tsv"), qrels_trec=str(tmp_path / "qrels")),
    )
    with pytest.raises(InputError, match="ir_datasets could not read its queries"):
        read_testset("irds:gone")


@pytest.mark.parametrize(
    ("id_", "words"),
    [
        ("irds:vaswani", r"its queries are not in the cache of ir_datasets .* and karat downloads nothing"),
        ("irds:msmarco-passage/dev/small", "Fill it: ir_datasets export msmarco-passage/dev/small queries"),
        ("irds:beir/scifat/test", "Did you mean beir/scifact/test"),
        ("irds:beir/scifact", r"has no qrels. Name a dataset that has. Name a part of it: beir/scifact/test"),
    ],
)
def test_what_is_not_there(cached, id_, words):
    with pytest.raises(InputError, match=words):
        read_testset(id_)


@pytest.mark.parametrize("time", ["first", "again"])
def test_documents_that_are_not_cached_are_never_none(time):
    with pytest.raises(InputError, match="its docs are not in the cache"):
        read("irds:beir/fiqa")
