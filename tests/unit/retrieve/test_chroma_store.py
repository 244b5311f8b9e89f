"""The store `chroma`, in a folder and on a real server that chromadb brings."""

import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from karat.core.errors import InputError, KaratError, UsageError
from karat.models import EmbedderSettings, Encoder
from karat.retrieve import STORES
from karat.retrieve.stores.chroma import ChromaStore

VECTORS = np.array([[1, 0], [0.6, 0.8], [0, 1], [-1, 0], [0.6, 0.8]], np.float32)
IDS = ["e", "b", "c", "d", "a"]
METAS = [
    {"source": "a.pdf", "page": 0, "page_label": "i"},
    {"source": "b.pdf", "page": 7, "page_number": 9},
    {"url": "https://c.example/", "title": "C"},
    {"doc": "d", "page": 4, "lang": "en"},
    {"source": "a.pdf", "page": 1},
]

EMBEDDER = Encoder(
    EmbedderSettings("spelled"), "1", lambda texts: np.array([[float(n) for n in t.split()] for t in texts], np.float32)
)

# A process of its own fills a store: within one, Chroma keeps a client for a folder, with its settings.
FILL = """
import sys, warnings
warnings.simplefilter("ignore")
import chromadb
sys.path.insert(0, sys.argv[2])
from test_chroma_store import IDS, METAS, VECTORS
place = sys.argv[1]
if place.startswith("http"):
    client = chromadb.HttpClient("127.0.0.1", int(place.rpartition(":")[2]))
else:
    client = chromadb.PersistentClient(place)
for space in ("cosine", "ip", "l2"):
    made = client.create_collection(f"by-{space}", configuration={"hnsw": {"space": space}}, embedding_function=None)
    made.add(ids=IDS, embeddings=VECTORS, documents=[f"text of {i}" for i in IDS], metadatas=METAS)
made = client.create_collection("plain", metadata={"hnsw:space": "ip"})
made.add(ids=["one", "two"], embeddings=[[3.0, 0.0], [0.0, 1.0]])
client.create_collection("empty")
"""


def fill(place):
    here = str(Path(__file__).parent)
    done = subprocess.run([sys.executable, "-c", FILL, place, here], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("chroma")
    fill(str(made))
    return made


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """The address of a running server."""
    port, data = free_port(), tmp_path_factory.mktemp("server")
    command = shutil.which("chroma", path=str(Path(sys.executable).parent)) or shutil.which("chroma")
    assert command, "chromadb brings the command chroma"
    log = (data / "log").open("wb")
    started = subprocess.Popen(
        [command, "run", "--path", str(data / "db"), "--host", "127.0.0.1", "--port", str(port)],
        stdout=log,
        stderr=log,
        cwd=data,
    )
    try:
        for _ in range(300):
            with socket.socket() as tried:
                if tried.connect_ex(("127.0.0.1", port)) == 0:
                    break
            assert started.poll() is None, (data / "log").read_text()
            time.sleep(0.1)
        fill(f"http://127.0.0.1:{port}")
        yield f"http://127.0.0.1:{port}"
    finally:
        started.terminate()
        started.wait(10)
        log.close()


@pytest.fixture(params=["folder", "server"])
def place(request):
    return str(request.getfixturevalue(request.param))


def hits(store, query="1 0", depth=100):
    ranked = store.search([query], depth)
    return [(store.chunks[row].id, round(score, 5)) for row, score in zip(*ranked.of(0), strict=True)]


@pytest.mark.chroma
@pytest.mark.parametrize("space", ["cosine", "ip", "l2"])
def test_a_score_is_the_cosine_whatever_the_space(place, space):
    store = ChromaStore.open(f"{place}#by-{space}", EMBEDDER)
    assert hits(store) == [("e", 1.0), ("b", 0.6), ("a", 0.6), ("c", 0.0), ("d", -1.0)]
    assert hits(store, depth=1) == [("e", 1.0)]
    assert STORES.get("chroma") is ChromaStore


@pytest.mark.chroma
def test_chunks_come_with_their_texts_and_places(place):
    store = ChromaStore.open(f"{place}#by-cosine", EMBEDDER)
    store.search(["1 0"])
    assert [chunk.id for chunk in store.chunks] == ["a", "b", "c", "d", "e"]
    a, b, c, d, e = store.chunks
    assert (e.text, e.doc, e.pages, e.labels) == ("text of e", "a.pdf", (0,), ("i",))
    assert (b.doc, b.pages) == ("b.pdf", (9,))
    assert (c.doc, c.url, c.title, c.pages) == ("https://c.example/", "https://c.example/", "C", ())
    assert (d.doc, d.pages, d.meta) == ("d", (4,), {"lang": "en"})
    assert a.pages == (1,)
    differ, zero = store.notes
    assert differ.startswith("page_number ")
    assert zero.startswith("page 0 stands once, and pages are read as counted from 1")


@pytest.mark.chroma
def test_a_batch_and_queries_without_a_vector(place):
    store = ChromaStore.open(f"{place}#by-cosine", EMBEDDER)
    ranked = store.search(["0 1", "", *["-1 0"] * 70], 1)
    assert np.diff(ranked.offsets).tolist() == [1, 0, *[1] * 70]
    assert [store.chunks[row].id for row in ranked.rows] == ["c", *["d"] * 70]
    assert store.search([]).offsets.tolist() == [0]
    with pytest.raises(UsageError, match="must be 1 or more"):
        store.search(["1 0"], 0)


@pytest.mark.chroma
def test_vectors_that_are_not_of_length_1_are_told(place):
    store = ChromaStore.open(f"{place}#plain", EMBEDDER)
    assert hits(store) == [("one", 3.0), ("two", 0.0)]
    assert "not of length 1 (from 1 to 3): scores are inner products with it, not cosines" in store.notes[0]
    assert store.chunks[0].text == ""


@pytest.mark.chroma
def test_an_empty_collection(place):
    store = ChromaStore.open(f"{place}#empty", EMBEDDER)
    assert hits(store) == []
    assert "is empty: nothing can be found there" in store.notes[0]


@pytest.mark.chroma
def test_the_collection_must_be_named_among_several(place):
    with pytest.raises(UsageError, match=r"holds 5 collections. There are by-cosine, by-ip, by-l2, empty, plain. Name"):
        ChromaStore.open(place, EMBEDDER)
    with pytest.raises(UsageError, match=r"no collection 'plane'. Did you mean plain\?"):
        ChromaStore.open(f"{place}#plane", EMBEDDER)


@pytest.mark.chroma
def test_an_embedder_of_another_size_is_refused_and_wordllama_is_the_default(place):
    with pytest.raises(KaratError, match="holds vectors of 2 numbers, the embedder wordllama makes vectors of 256"):
        ChromaStore.open(f"{place}#by-cosine", None).search(["snow"])


@pytest.mark.chroma
def test_a_server_that_is_down_or_is_none_or_is_slow(monkeypatch):
    with pytest.raises(KaratError, match=r"cannot be reached .*Start it with: chroma run"):
        ChromaStore.open(f"http://127.0.0.1:{free_port()}#x", EMBEDDER)
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        monkeypatch.setattr("karat.retrieve.stores.chroma._SECONDS", 0.4)
        with pytest.raises(KaratError, match=r"did not answer within 0.1 seconds"):
            ChromaStore.open(f"http://127.0.0.1:{silent.getsockname()[1]}#x", EMBEDDER)


@pytest.mark.chroma
def test_a_server_that_stops_answering_is_named(tmp_path, server):
    store = ChromaStore.open(f"{server}#by-cosine", EMBEDDER)
    store._collection._client._session.base_url = "http://127.0.0.1:9"
    store._collection._client._api_url = "http://127.0.0.1:9/api/v2"
    assert hits(store) == []
    assert store.failed[0].startswith("Chroma failed at http")


@pytest.mark.chroma
def test_a_folder_that_is_damaged_is_named_and_left_alone(tmp_path):
    (tmp_path / "chroma.sqlite3").write_bytes(b"no database")
    with pytest.raises(KaratError, match="Chroma failed at"):
        ChromaStore.open(str(tmp_path), EMBEDDER)
    assert (tmp_path / "chroma.sqlite3").read_bytes() == b"no database"


def test_a_folder_that_holds_no_store_is_not_made_one(tmp_path):
    with pytest.raises(InputError, match="there is no such folder"):
        ChromaStore.open(str(tmp_path / "nowhere"), EMBEDDER)
    with pytest.raises(InputError, match=r"holds no chroma.sqlite3"):
        ChromaStore.open(f"{tmp_path}#x", EMBEDDER)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "target", ["ftp://host", "http://", "http://host:99999", "http://user:pw@host:1", "http://h/x"]
)
def test_an_address_that_cannot_be(target):
    with pytest.raises(UsageError, match="address") as raised:
        ChromaStore.open(target, EMBEDDER)
    assert "pw" not in str(raised.value)


def test_without_chromadb_the_command_that_brings_it_is_told(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "chromadb", None)
    (tmp_path / "chroma.sqlite3").touch()
    for target in (str(tmp_path), "http://host:8000"):
        with pytest.raises(UsageError, match=r"pip install 'karat\[chroma\]'"):
            ChromaStore.open(target, EMBEDDER)
