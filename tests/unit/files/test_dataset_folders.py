import gzip
import json
import shutil
import sys

import pytest
from dataset_folders import QRELS, QUERIES, beir, canonical, jsonl, judgements, mteb, parquet, saved, saved_dict

import karat
from karat.core.errors import InputError, UsageError
from karat.files import read_results, read_testset

ROWS = [
    {"id": "a", "question": "Who?", "answers": {"text": ["Ann"], "answer_start": [3]}, "gold_doc": "d1", "label": 0},
    {"id": "b", "question": "When?", "answers": {"text": ["now"], "answer_start": [0]}, "gold_doc": "d2", "label": 1},
]
RUN = {"7": {"d2": 3.0, "d1": 2.0, "10": 1.0}, "q 2": {"d1": 2.0, "10": 1.5}}


def refused(path, **options):
    with pytest.raises(InputError) as caught:
        read_testset(path, **options)
    return str(caught.value)


def plain(testset):
    return [(question.id, question.text, question.gold) for question in testset]


def test_a_saved_dataset_and_its_shards(tmp_path):
    testset, info = read_testset(saved(tmp_path / "d", ROWS, shards=2))
    assert [(q.id, q.text, q.answers, q.gold[0].doc) for q in testset] == [
        ("a", "Who?", ("Ann",), "d1"),
        ("b", "When?", ("now",), "d2"),
    ]
    assert (info.format, info.what) == ("records", "2 questions")
    assert info.notes == ("dataset folder: 2 files", "used id, question, answers, gold_doc; ignored label")


def test_which_split_is_read(tmp_path):
    folder = saved_dict(tmp_path / "d", train=ROWS, test=ROWS[:1], validation=ROWS[1:])
    (folder / "d.py").write_text("raise SystemExit('was run')")
    testset, info = read_testset(folder)
    assert testset.ids == ("a",)
    assert info.notes[0] == "dataset folder: split test; not read: train, validation, d.py (a script, not run)"
    testset, info = read_testset(f"{folder}#validation")
    assert (testset.ids, info.place, testset.name) == (("b",), f"{folder}#validation", "d#validation")
    assert info.notes[0].startswith("dataset folder: split validation; not read: train, test")
    assert refused(f"{folder}#vaildation") == (
        f"{folder}: has no split 'vaildation'. Did you mean validation? Splits: train, test, validation."
    )
    assert read_testset(saved_dict(tmp_path / "one", dev=ROWS))[0].ids == ("a", "b")
    folder = saved_dict(tmp_path / "partly", train=ROWS, test=ROWS)
    (folder / "train/state.json").write_text('{"_data_files": []}')
    assert read_testset(folder)[0].ids == ("a", "b")
    assert refused(f"{folder}#train").startswith(f"{folder}: holds no rows in split 'train'.")
    folder = saved_dict(tmp_path / "two", train=ROWS, dev=ROWS)
    assert refused(folder) == (
        f"{folder}: holds 2 splits (train, dev), none of them called test. Say which: {folder}#train"
    )


@pytest.mark.slow
@pytest.mark.parametrize("where", ["", "data/"])
def test_a_cloned_repository_is_read_by_the_names_of_its_files(tmp_path, where):
    folder = tmp_path / "repo"
    parquet(folder / f"{where}test-00000-of-00002.parquet", ROWS[:1])
    parquet(folder / f"{where}test-00001-of-00002.parquet", ROWS[1:])
    jsonl(folder / f"{where}train.jsonl", ROWS[:1])
    (folder / "README.md").write_text("# rows")
    testset, info = read_testset(folder)
    assert testset.ids == ("a", "b")
    assert info.notes[0] == "dataset folder: split test; 2 files; not read: train"
    assert read_testset(f"{folder}#train")[0].ids == ("a",)


def test_a_split_that_lacks_a_file_is_refused(tmp_path):
    folder = tmp_path / "repo"
    jsonl(folder / "data/test-00000-of-00002.jsonl", ROWS[:1])
    jsonl(folder / "data/train-00000-of-00001.jsonl", ROWS[1:])
    assert refused(folder) == (
        f"{folder}: holds 1 of 2 files of split 'test'. Save, copy or download the dataset again."
    )
    assert read_testset(f"{folder}#train")[0].ids == ("b",)


def test_results_and_mapped_columns_of_a_dataset(tmp_path):
    folder = saved(tmp_path / "d", [{"nr": 1, "question": "Who?", "contexts": ["Ann did."], "answer": "Ann"}])
    (run,), info = read_results(folder, columns={"nr": "id"})
    assert (run.answers["1"].text, info.notes[-1]) == ("Ann", "used nr, question, contexts, answer")


@pytest.mark.slow
def test_the_same_questions_score_the_same_in_every_layout(tmp_path):
    folders = [
        beir(tmp_path / "beir"),
        mteb(tmp_path / "parquet"),
        mteb(tmp_path / "jsonl", jsonl),
        mteb(tmp_path / "default", qrels="default"),
        saved_dict(tmp_path / "dict", queries=QUERIES, qrels=judgements()),
        canonical(tmp_path / "qa.jsonl"),
    ]
    measures = ["nDCG@3", "MRR@3", "Recall@2", "AP"]
    scored = [karat.score(folder, RUN, measures=measures, matching="exact") for folder in folders]
    values = [[one.mean(measure) for measure in measures] for one in scored]
    assert all(one == values[0] for one in values)
    assert 0 < values[0][0] < 1
    assert all(plain(read_testset(one)[0]) == plain(read_testset(folders[0])[0]) for one in folders)


def test_an_mteb_folder_says_what_is_read(tmp_path):
    folder = mteb(tmp_path / "m")
    parquet(folder / "top_ranked/test-00000-of-00001.parquet", [{"query-id": "7", "corpus-ids": ["d1"]}])
    parquet(folder / "instructions/test-00000-of-00001.parquet", [{"query-id": "7", "instruction": "x"}])
    testset, info = read_testset(folder)
    assert (info.format, testset.ids) == ("mteb", ("7", "q 2"))
    assert info.notes == (
        "judgements from qrels/test-00000-of-00002.parquet and 1 more (not train-00000-of-00001.parquet)",
        "not read: instructions, top_ranked",
        "1 of 3 queries are not judged there and are left out",
    )
    assert read_testset(f"{folder}#train")[0].ids == ("q3",)
    assert "has no split 'tran'. Did you mean train? Splits: test, train." in refused(f"{folder}#tran")


def test_queries_by_split_go_with_their_judgements(tmp_path):
    for split, query in (("dev", QUERIES[0]), ("test", QUERIES[1])):
        jsonl(tmp_path / f"m/queries/{split}.jsonl", [query])
        jsonl(tmp_path / f"m/qrels/{split}.jsonl", judgements([(query["_id"], "d1", 1)]))
    assert read_testset(tmp_path / "m")[0].ids == ("q 2",)
    assert read_testset(f"{tmp_path}/m#dev")[0].ids == ("7",)


def test_numbers_are_ids_as_their_texts_are(tmp_path):
    parquet(tmp_path / "m/queries/queries.parquet", [{"id": 7, "text": "Who?"}, {"id": 8, "text": "When?"}])
    parquet(tmp_path / "m/qrels/test.parquet", [{"query-id": 7.0, "corpus-id": 10, "score": 1.0}])
    (question,) = read_testset(tmp_path / "m")[0]
    assert (question.id, question.gold[0].id, question.gold[0].grade) == ("7", "10", 1)


@pytest.mark.slow
@pytest.mark.parametrize("form", ["without header", "trec", "gz", "jsonl"])
def test_judgements_of_beir_in_other_forms(tmp_path, form):
    folder = beir(tmp_path / "b", header=form != "without header")
    wanted = plain(read_testset(beir(tmp_path / "plain"))[0])
    path = folder / "qrels" / "test.tsv"
    if form == "trec":
        path.write_text("".join(f"{q} 0 {d} {g}\n" for q, d, g in QRELS if q == "7"))
        wanted = wanted[:1]
    elif form == "gz":
        path.with_name("test.tsv.gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()
    elif form == "jsonl":
        jsonl(path.with_name("test.jsonl"), judgements())
        path.unlink()
    assert plain(read_testset(folder)[0]) == wanted


def test_splits_of_beir(tmp_path):
    folder = beir(tmp_path / "b", dev=QRELS[:1], train=QRELS[2:], test=[("q3", "10", 1)])
    assert read_testset(folder)[0].ids == ("q3",)
    assert read_testset(f"{folder}#dev")[0].ids == ("7",)
    folder = beir(tmp_path / "two", dev=QRELS, train=QRELS)
    assert "holds 2 splits (dev, train), none of them called test" in refused(folder)
    assert read_testset(beir(tmp_path / "one", dev=QRELS))[0].ids == ("7", "q 2")


def test_judgements_that_do_not_fit(tmp_path):
    assert refused(beir(tmp_path / "none", test=[])).endswith("qrels/test.tsv: no judgements. Give at least one.")
    folder = beir(tmp_path / "b", test=[("q8", "d1", 1), ("q9", "d1", 1), ("7", "d1", 1)])
    assert "question 'q8' of test.tsv is not in queries.jsonl (2 of 3 judged questions)." in refused(folder)
    folder = mteb(tmp_path / "m")
    shutil.copy(folder / "qrels/test-00000-of-00002.parquet", folder / "qrels/test-00001-of-00002.parquet")
    assert "documents of question '7' are judged twice, in test-00001-of-00002.parquet and before" in refused(folder)


def test_mapped_columns_of_the_queries(tmp_path):
    folder = beir(tmp_path / "b")
    jsonl(folder / "queries.jsonl", [{"_id": row["_id"], "frage": row["text"]} for row in QUERIES])
    testset, info = read_testset(folder, columns={"frage": "question"})
    assert [question.text for question in testset] == [row["text"] for row in QUERIES[:2]]
    assert not any("--map" in note for note in info.notes)


def test_what_is_no_test_set(tmp_path):
    folder = saved_dict(tmp_path / "d", test=[{"image": "x", "width": 3}], train=[{"image": "y", "width": 4}])
    assert (
        "dataset with the fields image, width is no known form of a test set. Read: split test; not read: train."
        in (refused(folder))
    )
    (tmp_path / "empty").mkdir()
    assert "is a folder where a file is meant (it holds nothing)" in refused(tmp_path / "empty")
    assert "has no splits, and so none called 'test' (it holds nothing)" in refused(f"{tmp_path}/empty#test")
    with pytest.raises(InputError, match="does not exist"):
        read_testset(f"{tmp_path}/none#test")
    folder = saved(tmp_path / "none left", ROWS)
    (folder / "state.json").write_text('{"_data_files": []}')
    assert "holds no rows" in refused(folder)


def test_ids_of_ir_datasets_need_the_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "ir_datasets", None)
    with pytest.raises(UsageError, match=r"not installed\. Run: pip install 'karat\[ir-datasets\]'"):
        read_testset("irds:beir/scifact/test")


@pytest.mark.parametrize("name", ["../../secret.arrow", "/etc/passwd", "..", "a/b.arrow", "a\\b.arrow", "\0", ""])
def test_names_that_lead_out_of_the_folder(tmp_path, name):
    folder = saved(tmp_path / "d", ROWS)
    (folder / "state.json").write_text(json.dumps({"_data_files": [{"filename": name}]}))
    assert "leads out of the folder" in refused(folder)
    folder = saved_dict(tmp_path / "dict", test=ROWS)
    (folder / "dataset_dict.json").write_text(json.dumps({"splits": [name]}))
    assert "leads out of the folder" in refused(folder)


def test_links_that_lead_out_of_the_folder(tmp_path):
    secret = saved(tmp_path / "secret", ROWS) / "data-00000-of-00001.arrow"
    folder = saved(tmp_path / "d", ROWS)
    (folder / "data-00000-of-00001.arrow").unlink()
    assert "is missing" in refused(folder)
    (folder / "data-00000-of-00001.arrow").symlink_to(secret)
    assert "is a link that leads out of the folder" in refused(folder)
    (tmp_path / "dict").mkdir()
    (tmp_path / "dict/test").symlink_to(tmp_path / "secret")
    (tmp_path / "dict/dataset_dict.json").write_text('{"splits": ["test"]}')
    assert "is a link that leads out of the folder" in refused(tmp_path / "dict")


def test_a_download_cache_links_to_its_blobs(tmp_path):
    blobs, data = tmp_path / "hub/blobs", tmp_path / "hub/snapshots/abc/data"
    parquet(blobs / "1f", ROWS)
    data.mkdir(parents=True)
    (data / "test-00000-of-00001.parquet").symlink_to("../../../blobs/1f")
    assert read_testset(data.parent)[0].ids == ("a", "b")


@pytest.mark.parametrize(
    ("file", "content", "words"),
    [
        ("state.json", '{"_data_files": 3}', 'its "_data_files" is no list of files'),
        ("state.json", '{"_data_files": [{"filename": 3}]}', 'its "_data_files" is no list of files'),
        ("state.json", "[" * 100_000, "cannot be read"),
        ("state.json", "[]", "it is no object"),
        ("state.json", '{"_data_files": [{"filename": "x.arrow"}], "_indices_data_files": [1]}', "file of indices"),
        ("data-00000-of-00001.arrow", "version https://git-lfs.github.com/spec/v1\n", "git lfs pull"),
        ("data-00000-of-00001.arrow", b"\xff\xff\xff\xff\x40\x00\x00\x00broken", "is a damaged Arrow file"),
    ],
)
def test_damaged_datasets(tmp_path, file, content, words):
    folder = saved(tmp_path / "d", ROWS)
    (folder / file).write_bytes(content if isinstance(content, bytes) else content.encode())
    assert words in refused(folder)
