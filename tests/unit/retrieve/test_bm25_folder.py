import json

import numpy as np
import pytest

from karat.core.errors import InputError
from karat.retrieve.engines.bm25 import BM25Engine

TEXTS = [
    "The night watch lasts four hours.",
    "Ночная вахта длится четыре часа.",
    "रात का पहरा चार घंटे का है।",
    "",
    "watch",
]
ARRAYS = ["letters", "ends", "heads", "rows", "weights", "starts", "bounds", "frequent", "columns"]


@pytest.fixture
def engine():
    return BM25Engine.build(TEXTS, {"variant": "bm25plus"}, lambda *_: None)


@pytest.fixture
def folder(engine, tmp_path):
    engine.save(tmp_path)
    return tmp_path


def test_a_round_trip_gives_the_same_bytes(engine, folder, tmp_path_factory):
    again = BM25Engine.load(folder)
    queries = ["watches at night", "вахты", "पहरे", "nothing", ""]
    ours, theirs = engine.search(queries), again.search(queries)
    assert ours.rows.tolist() == theirs.rows.tolist() == [0, 4, 1, 2]
    assert ours.scores.tobytes() == theirs.scores.tobytes()
    assert again.settings == engine.settings
    assert again.language == engine.language == "en"
    assert again.vocabulary == engine.vocabulary
    assert again.explain("watch", 0) == engine.explain("watch", 0)
    other = tmp_path_factory.mktemp("other")
    again.save(other)
    assert {f.name: f.read_bytes() for f in folder.iterdir()} == {f.name: f.read_bytes() for f in other.iterdir()}


def test_the_folder_of_texts_without_terms(tmp_path):
    BM25Engine.build(["", ""], {}, lambda *_: None).save(tmp_path)
    again = BM25Engine.load(tmp_path)
    assert len(again) == 2
    assert len(again.search(["watch"]).rows) == 0


def test_nothing_is_read_into_memory(folder):
    postings = BM25Engine.load(folder)._shards[0].postings
    assert isinstance(postings.rows.base, np.memmap)
    assert isinstance(postings.weights.base, np.memmap)


@pytest.mark.parametrize("name", ARRAYS)
def test_a_missing_or_cut_file_is_named(folder, name):
    path = folder / f"{name}.npy"
    whole = path.read_bytes()
    for content in (whole[:40], whole[:-1] if name not in ("frequent", "columns") else b"", b"\x93NUMPY", b"text"):
        path.write_bytes(content)
        with pytest.raises(InputError, match=f"{name}.npy.*damaged.*Index the documents again"):
            BM25Engine.load(folder)
    path.unlink()
    with pytest.raises(InputError, match=f"{name}.npy: is missing"):
        BM25Engine.load(folder)


@pytest.mark.parametrize("name", ARRAYS)
def test_an_array_of_another_size_or_kind_is_refused(folder, name):
    path = folder / f"{name}.npy"
    array = np.load(path)
    np.save(path, np.concatenate([array, np.ones((1, *array.shape[1:]), array.dtype)]))
    with pytest.raises(InputError, match="is damaged"):
        BM25Engine.load(folder)
    np.save(path, np.zeros(array.shape, np.float16))
    with pytest.raises(InputError, match="another kind"):
        BM25Engine.load(folder)
    np.save(path, np.array([{"a": 1}], dtype=object), allow_pickle=True)
    with pytest.raises(InputError, match="damaged"):
        BM25Engine.load(folder)


def test_starts_that_do_not_ascend_are_refused(folder):
    starts = np.load(folder / "starts.npy")
    starts[1] = starts[-1] + 5
    np.save(folder / "starts.npy", starts)
    with pytest.raises(InputError, match="do not ascend"):
        BM25Engine.load(folder)


@pytest.mark.parametrize("row", [-1, 5, 2**31 - 1])
def test_rows_that_do_not_exist_are_reported_when_met(folder, row):
    rows = np.load(folder / "rows.npy")
    rows[:] = row
    np.save(folder / "rows.npy", rows)
    engine = BM25Engine.load(folder)
    with pytest.raises(InputError, match="names rows that do not exist"):
        engine.search(["watch"])
    with pytest.raises(InputError, match="names rows that do not exist"):
        engine.explain("watch", 0)


@pytest.mark.parametrize("row", [-(2**30), 2**30])
@pytest.mark.parametrize("query", ["common", "common rare"])
def test_a_row_that_does_not_exist_amid_others_is_reported(tmp_path, row, query):
    BM25Engine.build(["common"] * 9 + ["rare"], {}, lambda *_: None).save(tmp_path)
    rows = np.load(tmp_path / "rows.npy")
    rows[4] = row
    np.save(tmp_path / "rows.npy", rows)
    with pytest.raises(InputError, match="names rows that do not exist"):
        BM25Engine.load(tmp_path).search([query])


def test_a_row_counted_from_the_end_is_reported_where_it_would_be_found(tmp_path):
    BM25Engine.build(["common"] * 9, {}, lambda *_: None).save(tmp_path)
    rows = np.load(tmp_path / "rows.npy")
    rows[4] = -1
    np.save(tmp_path / "rows.npy", rows)
    with pytest.raises(InputError, match="names rows that do not exist"):
        BM25Engine.load(tmp_path).search(["common"])


def test_a_weight_beyond_all_numbers_is_reported_when_met(folder):
    weights = np.load(folder / "weights.npy")
    weights[:] = np.inf
    np.save(folder / "weights.npy", weights)
    with pytest.raises(InputError, match="a weight is no finite number"):
        BM25Engine.load(folder).search(["watch"])


def test_a_foreign_folder_is_named_as_such(folder, tmp_path_factory):
    empty = tmp_path_factory.mktemp("empty")
    with pytest.raises(InputError, match=r"is no BM25 index: it has no bm25.json"):
        BM25Engine.load(empty)
    with pytest.raises(InputError, match=r"is no BM25 index"):
        BM25Engine.load(empty / "nowhere")
    card = json.loads((folder / "bm25.json").read_text())
    for changed, said in (
        (card | {"format": "other"}, "does not belong"),
        (card | {"version": 99}, "version 99"),
        (card | {"settings": None}, "no settings"),
        (card | {"settings": {"variant": "no"}}, "damaged.*'no'"),
        (card | {"language": "tlh"}, "damaged.*tlh"),
        ([], "does not belong"),
    ):
        (folder / "bm25.json").write_text(json.dumps(changed))
        with pytest.raises(InputError, match=said):
            BM25Engine.load(folder)
    (folder / "bm25.json").write_text("{")
    with pytest.raises(InputError, match="no JSON"):
        BM25Engine.load(folder)
