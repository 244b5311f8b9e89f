import pytest
from dataset_folders import DOCS, beir, jsonl, mteb, parquet, saved, saved_dict

from karat.core.errors import InputError
from karat.corpus import plan_corpus, read
from karat.systems.indexes import digest_of


def docs(source):
    return [(doc.id, doc.title, doc.text) for doc in read(source).docs]


@pytest.mark.slow
def test_every_layout_holds_the_same_documents(tmp_path):
    splits = {"corpus": DOCS, "queries": [{"_id": "1", "text": "a"}], "test": [{"x": 1}]}
    both = saved_dict(tmp_path / "both", **splits)
    sources = [
        beir(tmp_path / "beir"),
        f"{beir(tmp_path / 'beir2')}#corpus",
        mteb(tmp_path / "parquet"),
        mteb(tmp_path / "jsonl", jsonl),
        f"{mteb(tmp_path / 'named')}#corpus",
        saved(tmp_path / "saved", DOCS, shards=2),
        both,
        f"{both}#corpus",
    ]
    wanted = docs(sources[0])
    assert [one[0] for one in wanted] == ["d1", "d2", "10"]
    for source in sources:
        assert docs(source) == wanted, source


def test_the_split_is_said_and_part_of_the_digest(tmp_path):
    folder = saved_dict(tmp_path / "d", train=DOCS[:2], dev=DOCS[2:])
    reading = read(f"{folder}#dev")
    (problem,) = reading.problems
    assert (problem.reason, problem.fatal) == ("is a dataset: split dev; not read: train.", False)
    with pytest.raises(InputError, match=r"holds 2 splits \(train, dev\), none of them called corpus"):
        read(folder)
    with pytest.raises(InputError, match=r"has no split 'dve'\. Did you mean dev"):
        read(f"{folder}#dve")
    train, dev = digest_of([f"{folder}#train"]), digest_of([f"{folder}#dev"])
    assert train != dev
    parquet(folder / "dev/more.parquet", DOCS)
    assert digest_of([f"{folder}#dev"]) != dev
    assert len(plan_corpus(f"{folder}#dev").pieces) == 1


def test_a_folder_of_files_is_read_whole_unless_a_split_is_named(tmp_path):
    jsonl(tmp_path / "d/train.jsonl", DOCS[:1])
    jsonl(tmp_path / "d/test.jsonl", DOCS[1:])
    jsonl(tmp_path / "d/corpus/more.jsonl", [{"_id": "m", "text": "more"}])
    assert {one[0] for one in docs(tmp_path / "d")} == {"d1", "d2", "10", "m"}
    (tmp_path / "e").mkdir()
    with pytest.raises(InputError, match="has no splits"):
        read(f"{tmp_path}/e#test")
