import json
import pickle
import struct

import faiss
import numpy as np
import pytest

from karat.core.errors import InputError, KaratError, UsageError
from karat.models import EmbedderSettings, Encoder
from karat.retrieve import STORES
from karat.retrieve._stored import chunk_of, id_of
from karat.retrieve.stores.faiss import FaissStore

VECTORS = np.array([[1, 0], [0.6, 0.8], [0, 1], [-1, 0], [0.6, 0.8]], np.float32)
IDS = ["e", "b", "c", "d", "a"]


def spelled(texts):
    return np.array([[float(n) for n in text.split()] for text in texts], np.float32)


EMBEDDER = Encoder(EmbedderSettings("spelled"), "1", spelled)


def write(path, index=None, vectors=VECTORS):
    index = index or faiss.IndexFlatIP(2)
    if vectors is not None:
        index.add(vectors)
    faiss.write_index(index, str(path))


def lines(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def hits(store, query="1 0", depth=100):
    ranked = store.search([query], depth)
    return [(store.chunks[row].id, round(score, 6)) for row, score in zip(*ranked.of(0), strict=True)]


@pytest.fixture
def folder(tmp_path):
    write(tmp_path / "index.faiss")
    return tmp_path


def open_(path):
    return FaissStore.open(str(path), EMBEDDER)


def test_the_numbers_of_faiss_are_the_ids_where_nothing_else_is_known(folder):
    assert STORES.get("faiss") is FaissStore
    for place in (folder, folder / "index.faiss"):
        store = open_(place)
        assert hits(store) == [("0", 1.0), ("4", 0.6), ("1", 0.6), ("2", 0.0), ("3", -1.0)]
        assert hits(store, depth=2)[0] == ("0", 1.0)
        assert store.notes == ()
        assert (store.chunks[0].doc, store.chunks[0].text) == (store.chunks[0].id, "")


@pytest.mark.parametrize("metric", ["ip", "l2"])
def test_a_score_is_the_cosine_whatever_the_metric(tmp_path, metric):
    write(tmp_path / "x.index", faiss.IndexFlatIP(2) if metric == "ip" else faiss.IndexFlatL2(2))
    assert hits(open_(tmp_path / "x.index")) == [("0", 1.0), ("4", 0.6), ("1", 0.6), ("2", 0.0), ("3", -1.0)]


@pytest.mark.parametrize(
    ("index", "scores", "told"),
    [
        (faiss.IndexFlatIP(2), {"0": 3.0, "1": 0.0}, "inner products with it, not cosines"),
        (faiss.IndexFlatL2(2), {"0": -1.0, "1": 0.0}, "1 - d/2 of its squared distances d, not cosines"),
    ],
)
def test_vectors_that_are_not_of_length_1_are_told(tmp_path, index, scores, told):
    write(tmp_path / "x.faiss", index, np.array([[3, 0], [0, 1]], np.float32))
    store = open_(tmp_path)
    assert dict(hits(store)) == scores
    assert len(store.notes) == 1
    assert f"not of length 1 (from 1 to 3): scores are {told}" in store.notes[0]


def test_a_vector_of_zeros_is_told_since_its_score_is_no_cosine(tmp_path):
    write(tmp_path / "x.faiss", faiss.IndexFlatL2(2), np.array([[0, 0], [0, 1]], np.float32))
    store = open_(tmp_path)
    assert hits(store) == [("0", 0.5), ("1", 0.0)]
    assert "not of length 1 (from 0 to 1)" in store.notes[0]


@pytest.mark.parametrize("index", [faiss.IndexFlatIP(2), faiss.IndexFlatL2(2)])
def test_longer_vectors_beyond_those_looked_at_keep_their_order(tmp_path, index):
    vectors = np.tile(np.array([[0, 1]], np.float32), (200, 1))
    vectors[1], vectors[2], vectors[4] = (4, 0), (5, 0), (-5, 0)
    write(tmp_path / "x.faiss", index, vectors)
    by_product, by_distance = {"2": 5.0, "1": 4.0, "4": -5.0}, {"1": -3.5, "2": -7.0, "4": -17.0}
    wanted = by_product if index.metric_type == faiss.METRIC_INNER_PRODUCT else by_distance
    assert [hit for hit in hits(open_(tmp_path), depth=200) if hit[0] in wanted] == list(wanted.items())


def test_ids_as_text_and_as_json(folder):
    expected = [("e", 1.0), ("b", 0.6), ("a", 0.6), ("c", 0.0), ("d", -1.0)]
    (folder / "ids.txt").write_bytes("\n".join(IDS).encode())
    assert hits(open_(folder)) == expected
    (folder / "ids.txt").write_bytes("\r\n".join([*IDS, ""]).encode())
    assert hits(open_(folder)) == expected
    (folder / "ids.json").write_text(json.dumps(IDS))
    assert hits(open_(folder)) == expected
    (folder / "ids.json").write_text(json.dumps({str(i): id_ for i, id_ in enumerate(IDS)}))
    assert hits(open_(folder)) == expected


def test_chunks_come_with_their_texts_and_places(folder):
    rows = [
        {"id": 7, "text": "seven", "doc": "a.pdf", "page": 3, "title": "A", "kind": "note"},
        {"chunk_id": "b", "page_content": "bee", "metadata": {"source": "b.pdf", "page": 0, "page_label": "i"}},
        {"_id": "c", "content": "sea", "url": "https://c.example/", "page_number": "12", "page": 99},
        {"id": "d"},
        {"id": "a", "text": "", "source": "x.md", "page": "5"},
    ]
    lines(folder / "chunks.jsonl", rows)
    store = open_(folder)
    assert [id_ for id_, _ in hits(store)] == ["7", "b", "a", "c", "d"]
    found = {chunk.id: chunk for chunk in store.chunks}
    assert [chunk.id for chunk in store.chunks] == ["7", "a", "b", "c", "d"]
    seven = found["7"]
    assert (seven.text, seven.doc, seven.pages, seven.title, seven.meta) == (
        "seven",
        "a.pdf",
        (3,),
        "A",
        {"kind": "note"},
    )
    assert (found["b"].text, found["b"].doc, found["b"].pages, found["b"].labels) == ("bee", "b.pdf", (1,), ("i",))
    assert (found["c"].doc, found["c"].url, found["c"].pages) == ("https://c.example/", "https://c.example/", (12,))
    assert (found["d"].doc, found["d"].pages, found["a"].pages) == ("d", (), (5,))
    differ, added = store.notes
    assert differ.startswith("page_number ")
    assert added == "page in the metadata beside page_content counts from 0, as LangChain writes it: 1 added once."


def test_which_file_beside_the_index_is_taken(folder):
    lines(folder / "some.jsonl", [{"id": f"s{i}"} for i in range(5)])
    assert hits(open_(folder))[0] == ("s0", 1.0)
    lines(folder / "other.jsonl", [{"id": f"o{i}"} for i in range(5)])
    with pytest.raises(
        InputError, match=r"several .jsonl files beside the index: other.jsonl, some.jsonl.*chunks.jsonl"
    ):
        open_(folder)
    lines(folder / "index.jsonl", [{"id": f"i{i}"} for i in range(5)])
    assert hits(open_(folder))[0] == ("i0", 1.0)


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("ids.txt", "a\nb\n", r"ids.txt: has 2 entries, the index index.faiss beside it 5 vectors"),
        ("ids.txt", "", r"ids.txt: is empty"),
        ("ids.txt", "a\nb\nc\na\ne\n", r"ids.txt line 4: the id 'a' stands at 1 already"),
        ("ids.txt", "a\n\nc\nd\ne\n", r"ids.txt line 2: has no id"),
        ("ids.json", '["a", " ", "c", "d", "e"]', r"ids.json line 2: has no id"),
        ("ids.json", "{", r"ids.json line 1: not valid JSON"),
        ("ids.json", '{"0": "a", "2": "b"}', r"ids.json: is not a list of ids"),
        ("ids.json", "[true]", r"ids.json: is not a list of ids"),
        ("chunks.jsonl", '{"id": "a"}\n\n{"text": "b"}\n', r"chunks.jsonl line 3: has no id"),
        ("chunks.jsonl", '{"id": "a"}\n{', r"chunks.jsonl line 2: not valid JSON"),
        ("chunks.jsonl", "[1]\n", r"chunks.jsonl line 1: an object with named fields"),
        ("chunks.jsonl", b"\xff\xfe", r"chunks.jsonl: is encoded as UTF-16"),
    ],
)
def test_a_wrong_file_beside_the_index_is_named(folder, name, content, problem):
    (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InputError, match=problem):
        open_(folder)


def test_labels_of_an_id_map(tmp_path):
    index = faiss.IndexIDMap(faiss.IndexFlatIP(2))
    index.add_with_ids(VECTORS, np.array([50, 40, 30, 20, 10]))
    write(tmp_path / "x.faiss", index, None)
    assert [id_ for id_, _ in hits(open_(tmp_path))] == ["50", "40", "10", "30", "20"]
    (tmp_path / "ids.txt").write_text("\n".join(IDS))
    assert [id_ for id_, _ in hits(open_(tmp_path))] == ["e", "b", "a", "c", "d"]


def test_inverted_lists_and_graphs(tmp_path):
    lists = faiss.IndexIVFFlat(faiss.IndexFlatIP(2), 2, 2, faiss.METRIC_INNER_PRODUCT)
    lists.train(np.repeat(VECTORS, 20, axis=0))
    lists.nprobe = 2
    write(tmp_path / "lists.faiss", lists)
    store = open_(tmp_path / "lists.faiss")
    assert hits(store)[0] == ("0", 1.0)
    assert store.notes == ("the index looks into 2 of its 2 lists, as it was saved.",)
    write(tmp_path / "graph.faiss", faiss.IndexHNSWFlat(2, 8))
    assert hits(open_(tmp_path / "graph.faiss"))[:2] == [("0", 1.0), ("4", 0.6)]


def test_numbers_that_nothing_beside_has(tmp_path):
    lists = faiss.IndexIVFFlat(faiss.IndexFlatIP(2), 2, 1, faiss.METRIC_INNER_PRODUCT)
    lists.train(np.repeat(VECTORS, 20, axis=0))
    lists.add_with_ids(VECTORS, np.arange(100, 105))
    write(tmp_path / "x.faiss", lists, None)
    (tmp_path / "ids.txt").write_text("\n".join(IDS))
    with pytest.raises(InputError, match=r"FAISS returned the number 10\d, which none of the 5 entries beside it has"):
        open_(tmp_path).search(["1 0"])


def test_a_batch_and_queries_without_a_vector(folder):
    store = open_(folder)
    ranked = store.search(["0 1", "", "0 0", "-1 0", "0 3"], 1)
    assert ranked.offsets.tolist() == [0, 1, 1, 1, 2, 3]
    assert [store.chunks[row].id for row in ranked.rows] == ["2", "3", "2"]
    assert len(store.chunks) == 2
    assert store.search([]).offsets.tolist() == [0]
    assert len(store.chunks) == 0
    with pytest.raises(UsageError, match="must be 1 or more, found 0"):
        store.search(["1 0"], 0)


def test_an_empty_index(tmp_path):
    write(tmp_path / "x.faiss", vectors=None)
    store = open_(tmp_path)
    assert hits(store) == []
    assert "is empty: nothing can be found there" in store.notes[0]


def test_an_embedder_of_another_size_is_refused_and_wordllama_is_the_default(folder):
    with pytest.raises(KaratError, match="holds vectors of 2 numbers, the embedder wordllama makes vectors of 256"):
        FaissStore.open(str(folder), None).search(["snow"])


def test_a_pickle_is_refused_with_the_way_around_it(folder):
    class Bomb:
        def __reduce__(self):
            return (pytest.fail, ("the pickle was opened",))

    (folder / "index.pkl").write_bytes(pickle.dumps(Bomb()))
    for place in (folder, folder / "index.faiss", folder / "index.pkl"):
        with pytest.raises(InputError, match=r"index.pkl: is a pickle.*run any code") as raised:
            open_(place)
        script = str(raised.value).split("\n\n")[1]
        compile(script, "export", "exec")
        assert str(folder / "chunks.jsonl") in script
    lines(folder / "chunks.jsonl", [{"id": id_} for id_ in IDS])
    assert hits(open_(folder))[0] == ("e", 1.0)


def test_a_place_that_holds_no_index(tmp_path):
    with pytest.raises(InputError, match="there is no such file or folder"):
        open_(tmp_path / "nowhere")
    with pytest.raises(InputError, match=r"holds 0 files that end in .faiss or .index"):
        open_(tmp_path)
    write(tmp_path / "a.faiss")
    write(tmp_path / "b.index")
    with pytest.raises(InputError, match=r"holds 2 files that end in .* \(a.faiss, b.index\). Name the file itself"):
        open_(tmp_path)


def head(kind, dimension, total):
    return kind + struct.pack("<iq", dimension, total)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "is not an index of FAISS"),
        (b"some other file, long enough to have a head", "is not an index of FAISS"),
        (head(b"IxFI", 2, 1 << 40) + bytes(99), "tells of 1,099,511,627,776 vectors of 2 numbers"),
        (head(b"IHNf", 2, 1 << 40) + bytes(99), "tells of 1,099,511,627,776 vectors of 2 numbers"),
        (head(b"IxFI", -2, 3) + bytes(99), "tells of 3 vectors of -2 numbers"),
        (head(b"IxFI", 2, 3) + bytes(99), "cannot be read as an index of FAISS"),
        (head(b"Iwhy", 2, 3) + bytes(99), "cannot be read as an index of FAISS"),
        (head(b"IBxF", 8, 3) + bytes(99), "is an index of binary vectors"),
    ],
)
def test_a_damaged_or_foreign_file_is_named(tmp_path, content, problem):
    (tmp_path / "x.faiss").write_bytes(content)
    with pytest.raises(InputError, match=rf"x.faiss: {problem}"):
        open_(tmp_path)


def test_an_index_that_is_cut_off_is_named(folder):
    whole = (folder / "index.faiss").read_bytes()
    for size in range(0, len(whole) - 1, 7):
        (folder / "index.faiss").write_bytes(whole[:size])
        with pytest.raises(InputError, match=r"index.faiss: "):
            open_(folder)


def test_another_metric_is_refused(tmp_path):
    write(tmp_path / "x.faiss", faiss.IndexFlat(2, faiss.METRIC_L1))
    with pytest.raises(InputError, match="measures by metric 2 of FAISS"):
        open_(tmp_path)


def test_a_store_calls_its_fields_what_results_and_corpora_may_call_them():
    chunk = chunk_of("1", {"Body": "the text", "metadata": {"file_name": "a.pdf", "kind": "note"}, "passage_id": "p"})
    assert (chunk.text, chunk.doc, chunk.meta) == ("the text", "a.pdf", {"kind": "note"})
    assert id_of({"passage_id": "p"}) == "p"
