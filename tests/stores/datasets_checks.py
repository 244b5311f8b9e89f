"""Folders that the package datasets itself writes."""

import dataset_folders
import datasets
import pytest
from dataset_folders import DOCS, QUERIES, judgements

import karat
from karat.corpus import read
from karat.files import read_testset

RUN = {"7": {"d2": 3.0, "d1": 2.0, "10": 1.0}, "q 2": {"d1": 2.0, "10": 1.5}}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("made")
    parts = {"corpus": DOCS, "queries": QUERIES, "qrels": judgements()}
    tables = {name: datasets.Dataset.from_list(rows) for name, rows in parts.items()}
    datasets.DatasetDict(tables).save_to_disk(made / "dict", num_shards={"corpus": 2, "queries": 3, "qrels": 1})
    for name, table in tables.items():
        split = "test" if name == "qrels" else name
        (made / "repo" / name).mkdir(parents=True)
        table.to_parquet(made / "repo" / name / f"{split}-00000-of-00001.parquet")
    return made


@pytest.mark.parametrize("name", ["dict", "repo"])
def test_scores_and_documents_equal_those_of_beir(folder, tmp_path, name):
    beir = dataset_folders.beir(tmp_path / "beir")
    measures = ["nDCG@3", "MRR@3", "Recall@2"]
    scores = [karat.score(path, RUN, measures=measures, matching="exact") for path in (folder / name, beir)]
    values = [[one.mean(measure) for measure in measures] for one in scores]
    assert values[0] == values[1]
    assert read(folder / name).docs == read(beir).docs
    assert read(f"{folder / name}#corpus").docs == read(beir).docs


def test_columns_of_every_kind(tmp_path):
    text = datasets.Value("string")
    features = datasets.Features(
        {
            "id": datasets.Value("int32"),
            "question": datasets.Value("large_string"),
            "answers": {"text": datasets.List(text), "answer_start": datasets.List(datasets.Value("int32"))},
            "gold": [{"doc": datasets.Value("string"), "grade": datasets.Value("int8")}],
            "category": datasets.ClassLabel(names=["fact", "list"]),
        }
    )  # fmt: skip
    row = {
        "id": 7,
        "question": "Who?",
        "answers": {"text": ["Ann"], "answer_start": [1]},
        "gold": [{"doc": "d1", "grade": 2}],
        "category": 1,
    }
    table = datasets.Dataset.from_list([row, {**row, "id": 8}], features=features)
    datasets.DatasetDict(train=table, validation=table.filter(lambda one: one["id"] > 7)).save_to_disk(tmp_path / "d")
    testset, info = read_testset(f"{tmp_path}/d#validation")
    (question,) = testset
    assert (question.id, question.answers, question.gold[0].doc, question.gold[0].grade) == ("8", ("Ann",), "d1", 2)
    assert info.notes[0] == "dataset folder: split validation; not read: train"
