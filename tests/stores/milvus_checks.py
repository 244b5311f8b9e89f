"""The store `milvus` over a file of Milvus Lite."""

import exact
import pytest
from exact import EMBEDDER, LONG, NAMES, OTHER, RECORDS, VECTORS
from pymilvus import DataType, MilvusClient

from karat.core.errors import InputError, KaratError, UsageError
from karat.retrieve.stores.milvus import MilvusStore

METRICS = {"cosine": "COSINE", "ip": "IP", "l2": "L2"}


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    made = tmp_path_factory.mktemp("milvus") / "store.db"
    client = MilvusClient(str(made))

    def collection(name, metric, index, vectors):
        schema = client.create_schema(enable_dynamic_field=True)
        schema.add_field("id", DataType.VARCHAR, is_primary=True, max_length=64)
        schema.add_field("embedding", DataType.FLOAT_VECTOR, dim=32)
        indexes = client.prepare_index_params()
        indexes.add_index("embedding", index_type=index, metric_type=metric)
        client.create_collection(name, schema=schema, index_params=indexes)
        rows = (
            [{**r, "embedding": v.tolist()} for r, v in zip(RECORDS, vectors, strict=True)]
            if vectors is not None
            else []
        )
        if name == "auto":  # what the schema does not name, the first entities do not have
            rows[:40] = [{"id": row["id"], "embedding": row["embedding"]} for row in rows[:40]]
        if rows:
            client.insert(name, rows)

    for name, metric in METRICS.items():
        collection(name, metric, "FLAT", LONG)
    collection("auto", "COSINE", "AUTOINDEX", VECTORS)
    collection("bare", "IP", "FLAT", None)
    client.close()
    return made


def opened(file, rest, embedder=EMBEDDER):
    return MilvusStore.open(f"{file}#{rest}", embedder)


@pytest.mark.parametrize("metric", METRICS)
def test_the_ranking_is_that_of_exact_search(file, metric):
    store = opened(file, metric)
    exact.check_ranking(store, metric, LONG)
    exact.check_chunk(store)


def test_an_index_says_what_it_finds(file):
    store = opened(file, "auto")
    print(exact.check_ranking(store, "cosine", VECTORS, recall=0.9), store.notes)
    assert {chunk.text for chunk in store.chunks if chunk.id >= exact.IDS[40]} <= set(exact.TEXTS)
    assert any("the index (AUTOINDEX) is approximate: it finds" in note for note in store.notes)


def test_what_cannot_be_searched(file, tmp_path):
    with pytest.raises(UsageError, match=r"holds no collection 'cosin'. Did you mean cosine\?"):
        opened(file, "cosin")
    with pytest.raises(InputError, match="there is no such file"):
        MilvusStore.open(str(tmp_path / "none.db"), EMBEDDER)
    assert list(tmp_path.iterdir()) == []
    store = opened(file, "bare")
    assert len(store.search(NAMES).rows) == 0
    assert "is empty: nothing can be found there" in store.notes[0]
    assert not any("16,384" in note for note in store.notes)
    with pytest.raises(KaratError, match="holds vectors of 32 numbers, the embedder other makes vectors of 3"):
        opened(file, "cosine", OTHER).search(["any"])
