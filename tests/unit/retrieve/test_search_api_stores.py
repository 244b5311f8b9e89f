"""The stores `elasticsearch`, `opensearch` and `estext`, over a server that answers in their documented shape."""

import base64
import json
import math
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

from karat.core.errors import KaratError, UsageError
from karat.models import EmbedderSettings, Encoder
from karat.retrieve import host_asked, is_embedded
from karat.retrieve._stored import StoreError
from karat.retrieve.stores.elasticsearch import ElasticsearchStore
from karat.retrieve.stores.estext import EstextStore
from karat.retrieve.stores.opensearch import OpensearchStore

VECTORS = np.array([[1, 0], [0.6, 0.8], [0, 1], [-1, 0], [0.8, -0.6]])
TEXTS = ["night watch", "generator fault", "night bread", "harbour", "night night lamp"]
EMBEDDER = Encoder(
    EmbedderSettings("spelled"), "1", lambda texts: np.array([[float(n) for n in t.split()] for t in texts], np.float32)
)
SCORED = {  # by the documentation of each
    "cosine": lambda product, square: (1 + product) / 2,
    "dot_product": lambda product, square: (1 + product) / 2,
    "max_inner_product": lambda product, square: 1 + product if product >= 0 else 1 / (1 - product),
    "l2_norm": lambda product, square: 1 / (1 + square),
    "cosinesimil": lambda product, square: (2 - (1 - product)) / 2,
    "nmslib": lambda product, square: 1 / (1 + (1 - product)),
    "innerproduct": lambda product, square: 1 + product if product >= 0 else 1 / (1 - product),
    "l2": lambda product, square: 1 / (1 + square),
}


class Fake:
    """What the server holds, was asked, and how it misbehaves."""

    def __init__(self):
        self.fields = {"content": {"type": "text"}, "metadata": {"properties": {}}}
        self.space, self.asked, self.status, self.more, self.key = "cosine", [], 200, {}, None
        self.total, self.counted = len(TEXTS), None

    def source(self, number):
        return {
            "content": TEXTS[number],
            "metadata": {"source": f"{number}.pdf", "page_number": number + 1, "our_id": f"our {number}"},
            "vector": VECTORS[number].tolist(),
        }

    def reply(self, path, payload):
        _, index, what = path.split("/")
        if index != "handbook":
            return 404, {"error": {"type": "index_not_found_exception", "reason": f"no such index [{index}]"}}
        if what == "_mapping":
            return 200, {"handbook-000001": {"mappings": {"properties": self.fields}}}
        if what == "_count":
            return 200, self.counted or {"count": self.total, "_shards": {"successful": 1, "failed": 0}}
        return self.status, self.found(payload) | self.more

    def found(self, payload):
        query = payload.get("query", {})
        knn = payload.get("knn") or next(iter(query.get("knn", {}).values()), None)
        if knn is not None:
            asked = np.array(knn.get("query_vector") or knn["vector"])
            assert knn["k"] == payload["size"]
            assert knn.get("num_candidates", 10_000) >= knn["k"]
            scores = [SCORED[self.space](v @ asked, np.square(v - asked).sum()) for v in VECTORS]
        elif "match" in query:
            ((field, text),) = query["match"].items()
            assert field == "content"
            scores = [sum(words.split().count(word) for word in text.split()) for words in TEXTS]
        else:
            scores = [1.0] * len(TEXTS)
        order = sorted(range(self.total), key=lambda n: -scores[n])[: payload["size"]]
        excluded = payload["_source"]["excludes"] if isinstance(payload.get("_source"), dict) else []
        hits = [
            {"_index": "handbook-000001", "_id": str(n), "_score": float(scores[n]),
             "_source": {name: value for name, value in self.source(n).items() if name not in excluded}}
            for n in order if knn is not None or scores[n] > 0
        ]  # fmt: skip
        return {
            "took": 1,
            "timed_out": False,
            "_shards": {"total": 1, "successful": 1, "skipped": 0, "failed": 0},
            "hits": {"max_score": 1.0, "hits": hits},
        }


@pytest.fixture
def fake():
    held = Fake()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self.do_POST()

        def do_POST(self):
            content = self.rfile.read(int(self.headers.get("content-length") or 0))
            held.asked.append((self.command, self.path, dict(self.headers), content))
            status, reply = held.reply(self.path, json.loads(content or b"{}"))
            if held.key is not None and self.headers.get("authorization") != held.key:
                status, reply = 401, {"error": {"type": "security_exception", "reason": "missing credentials"}}
            body = json.dumps(reply).encode()
            self.send_response(status)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *words):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    held.place = f"http://127.0.0.1:{server.server_port}"
    yield held
    server.shutdown()
    thread.join()
    server.server_close()


def hits(store, query="1 0", depth=100):
    ranked = store.search([query], depth)
    return [(store.chunks[row].id, round(score, 5)) for row, score in zip(*ranked.of(0), strict=True)]


COSINES = [("0", 1.0), ("4", 0.8), ("1", 0.6), ("2", 0.0), ("3", -1.0)]


@pytest.mark.parametrize("space", ["cosine", "dot_product", "max_inner_product", "l2_norm"])
def test_scores_of_elasticsearch_are_brought_back_to_cosines(fake, space):
    fake.space, fake.fields["vector"] = space, {"type": "dense_vector", "dims": 2, "similarity": space}
    store = ElasticsearchStore.open(f"{fake.place}#handbook", EMBEDDER)
    assert hits(store) == COSINES
    assert hits(store, depth=2) == COSINES[:2]
    assert any("it finds 1.000 of the 5 nearest" in note for note in store.notes)
    store.search(["1 0"], 1)
    (chunk,) = store.chunks
    assert (chunk.text, chunk.doc, chunk.pages) == ("night watch", "0.pdf", (1,))
    assert "vector" not in chunk.meta


@pytest.mark.parametrize(
    ("space", "mapping"),
    [
        ("cosinesimil", {"method": {"engine": "lucene", "space_type": "cosinesimil"}}),
        ("nmslib", {"method": {"engine": "nmslib", "space_type": "cosinesimil"}}),
        ("innerproduct", {"space_type": "innerproduct"}),
        ("l2", {}),
    ],
)
def test_scores_of_opensearch_are_brought_back_to_cosines(fake, space, mapping):
    fake.space, fake.fields["vector"] = space, {"type": "knn_vector", "dimension": 2, **mapping}
    store = OpensearchStore.open(f"{fake.place}#handbook?id=our_id", EMBEDDER)
    wanted = [(f"our {name}", score) for name, score in COSINES]
    assert hits(store) == wanted
    assert any("it finds 1.000 of the 5 nearest" in note for note in store.notes)


def test_texts_are_searched_by_a_match_query_without_an_embedder(fake):
    store = EstextStore.open(f"{fake.place}#handbook", None)
    assert hits(store, "night lamp") == [("4", 3.0), ("2", 1.0), ("0", 1.0)]
    assert store.notes[0] == "scores are those of a match query on content: any word counts."
    assert not any("has it" in note for note in EstextStore.open(f"{fake.place}#handbook?id=our_id", None).notes)
    assert (
        "id=uuid: none of the first 5 records has it." in EstextStore.open(f"{fake.place}#handbook?id=uuid", None).notes
    )
    assert not is_embedded("estext:http://x#y")
    assert is_embedded("elasticsearch:http://x#y")
    assert host_asked(f"estext:{fake.place}#handbook") == fake.place.removeprefix("http://")


@pytest.mark.parametrize("empty", [{"our_id": None}, {"our_id": " "}, {}])
def test_a_record_without_the_id_that_is_named_is_refused(fake, empty):
    store = EstextStore.open(f"{fake.place}#handbook?id=our_id", None)
    own = fake.source
    fake.source = lambda number: own(number) | ({"metadata": empty} if number == 2 else {})
    with pytest.raises(KaratError, match="the estext store #handbook returned a record without an id") as raised:
        store.search(["night"])
    assert not isinstance(raised.value, StoreError)
    assert len(hits(store, "fault")) == 1
    assert len(hits(EstextStore.open(f"{fake.place}#handbook", None), "night")) == 3


def test_keys_come_from_the_environment_and_stay_out_of_messages(fake, monkeypatch):
    fake.key = "ApiKey a-key-that-is-secret"
    with pytest.raises(KaratError, match="refuses the key, or there is none") as raised:
        EstextStore.open(f"{fake.place}#handbook", None)
    assert not isinstance(raised.value, StoreError)  # it will not pass by itself
    monkeypatch.setenv("ELASTIC_API_KEY", "a-key-that-is-secret")
    assert len(hits(EstextStore.open(f"{fake.place}#handbook", None), "night")) == 3
    fake.key = f"Basic {base64.b64encode(b'me:word-word').decode()}"
    with pytest.raises(KaratError) as raised:
        EstextStore.open(f"{fake.place}#handbook", None)
    assert "a-key-that-is-secret" not in str(raised.value)
    monkeypatch.setenv("OTHER", "word-word")
    assert len(hits(EstextStore.open(f"{fake.place}#handbook?user=me&key_env=OTHER", None), "night")) == 3
    with pytest.raises(UsageError, match="holds a password"):
        EstextStore.open("http://me:word-word@127.0.0.1:9200#handbook", None)
    with pytest.raises(UsageError, match="over plain http"):
        EstextStore.open("http://search.example:9200#handbook", None)
    with pytest.raises(UsageError, match=r"has 40,000 characters: at most 4,096 are read"):
        EstextStore.open("//:x" * 10_000, None)


@pytest.mark.parametrize("reply", [{"count": 0, "_shards": {"failed": 2}}, {"error": "no"}, {"count": None}])
def test_a_count_that_did_not_end_does_not_make_an_index_empty(fake, reply):
    fake.counted = reply
    with pytest.raises(KaratError, match=r"2 shards failed|does not say how many documents"):
        EstextStore.open(f"{fake.place}#handbook", None)


def test_no_more_hits_are_taken_than_were_asked_for(fake):
    store = EstextStore.open(f"{fake.place}#handbook", None)
    fake.more = {"_shards": None, "hits": {"hits": [{"_id": str(n), "_score": 9 - n} for n in range(5)]}}
    assert [name for name, _ in hits(store, "night", 2)] == ["0", "1"]


def test_a_search_that_did_not_end_has_failed(fake):
    store = EstextStore.open(f"{fake.place}#handbook", None)
    for more, reason in (
        ({"timed_out": True}, "took longer than"),
        ({"_shards": {"failed": 2}}, "2 shards failed"),
        ({"hits": []}, r"without hits.hits"),
        ({"hits": {"hits": [{"_id": "1", "_score": None}]}}, r"without hits.hits"),
        ({"hits": {"hits": [{"_id": "1", "_score": math.nan}]}}, r"without hits.hits"),
        ({"hits": {"hits": [{"_id": "1", "_score": 1, "_source": "text"}]}}, r"without hits.hits"),
    ):
        fake.more = more
        assert hits(store, "night") == []
        assert reason in store.failed[0]
    fake.more, fake.status = {}, 400
    assert hits(store, "night") == []
    assert "HTTP 400" in store.failed[0]
    fake.status = 200
    assert len(hits(store, "night")) == 3


def test_what_cannot_be_searched(fake):
    with pytest.raises(UsageError, match="has no index 'handbok'"):
        EstextStore.open(f"{fake.place}#handbok", None)
    with pytest.raises(UsageError, match="no field of type dense_vector"):
        ElasticsearchStore.open(f"{fake.place}#handbook", EMBEDDER)
    with pytest.raises(UsageError, match="name the index after #"):
        ElasticsearchStore.open(fake.place, EMBEDDER)
    with pytest.raises(UsageError, match="write the address of a server"):
        ElasticsearchStore.open("folder#handbook", EMBEDDER)
    fake.fields["vector"] = {"type": "dense_vector", "dims": 3}
    with pytest.raises(KaratError, match="holds vectors of 3 numbers, the embedder spelled makes vectors of 2"):
        ElasticsearchStore.open(f"{fake.place}#handbook", EMBEDDER).search(["1 0"])
    fake.fields["vector"], fake.total = {"type": "dense_vector", "dims": 2}, 0
    assert hits(ElasticsearchStore.open(f"{fake.place}#handbook", EMBEDDER)) == []
