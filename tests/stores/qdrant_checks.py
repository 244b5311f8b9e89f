"""The store `qdrant` over a folder that its client writes."""

import exact
import pytest
from exact import EMBEDDER, LONG, NAMES, OTHER, RECORDS, VECTORS
from qdrant_client import QdrantClient, models

from karat.core.errors import InputError, KaratError, UsageError
from karat.retrieve.stores.qdrant import QdrantStore

METRICS = {"cosine": models.Distance.COSINE, "ip": models.Distance.DOT, "l2": models.Distance.EUCLID}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("qdrant")
    client = QdrantClient(path=made)
    client.create_collection("all", {n: models.VectorParams(size=32, distance=d) for n, d in METRICS.items()})
    client.upload_collection("all", dict.fromkeys(METRICS, LONG), RECORDS, ids=range(len(RECORDS)))
    client.create_collection("one", models.VectorParams(size=32, distance=METRICS["cosine"]))
    client.upload_collection("one", VECTORS[:20], RECORDS[:20], ids=range(20))
    client.create_collection("bare", models.VectorParams(size=32, distance=METRICS["ip"]))
    client.create_collection("streets", models.VectorParams(size=32, distance=models.Distance.MANHATTAN))
    client.close()
    return made


@pytest.fixture
def opened(folder):
    stores = []

    def one(rest, embedder=EMBEDDER):
        stores.append(QdrantStore.open(f"{folder}#{rest}", embedder))
        return stores[-1]

    yield one
    for store in stores:
        store._client.close()


@pytest.mark.parametrize("metric", METRICS)
def test_the_ranking_is_that_of_exact_search(opened, metric):
    store = opened(f"all?id=id&vector={metric}")
    exact.check_ranking(store, metric, LONG)
    exact.check_chunk(store)
    assert not any("approximate" in note for note in store.notes)


def test_vectors_have_names_and_points_have_ids(opened):
    store = opened("one")
    store.search(NAMES[:1], 1)
    assert store.chunks[0].id.isdigit()
    store._client.close()
    store = opened("one?id=uuid")
    assert "id=uuid: none of the first 20 records has it." in store.notes
    store._client.close()
    with pytest.raises(UsageError, match=r"has vectors called cosine, ip, l2. Name one"):
        opened("all")


def test_what_cannot_be_searched(opened, folder, tmp_path):
    with pytest.raises(UsageError, match=r"holds no collection 'al'. Did you mean all\?"):
        opened("al")
    with pytest.raises(InputError, match="there is no such folder"):
        QdrantStore.open(str(tmp_path / "none"), EMBEDDER)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(KaratError, match="measures by Manhattan"):
        opened("streets")
    store = opened("bare")
    assert len(store.search(NAMES).rows) == 0
    assert "is empty: nothing can be found there" in store.notes[0]
    with pytest.raises(KaratError, match=r"Qdrant failed at .* nothing else has the folder open"):
        opened("one")
    store._client.close()
    with pytest.raises(KaratError, match="holds vectors of 32 numbers, the embedder other makes vectors of 3"):
        opened("one", OTHER).search(["any"])


def test_a_server_that_is_down_is_told_without_the_key(monkeypatch):
    monkeypatch.setenv("QDRANT_API_KEY", "a-key-that-is-secret")
    with pytest.raises(KaratError, match=r"Qdrant failed at http://127.0.0.1:9") as raised:
        QdrantStore.open("http://127.0.0.1:9#x", EMBEDDER)
    assert "a-key-that-is-secret" not in str(raised.value)
    with pytest.raises(UsageError, match=r"would go to db.example:6333 over plain http"):
        QdrantStore.open("http://db.example:6333#x", EMBEDDER)
