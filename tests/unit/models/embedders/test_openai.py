"""The embedder `openai` against a real server on this machine, which answers as it is told."""

import asyncio
import gzip
import json
import math
import socket
import time
import zlib
from email.utils import formatdate

import numpy as np
import pytest
from embedding_server import Server, send, slow, vectors

from karat.core.errors import KaratError, UsageError
from karat.models import EmbedderSettings, embed_all, embedder_named
from karat.models.endpoint import JsonEndpoint

KEY = "sk-secret-0123456789"


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(
        JsonEndpoint.__init__, "__kwdefaults__", JsonEndpoint.__init__.__kwdefaults__ | {"first_wait": 0.01}
    )


def embedder_at(url, **more):
    settings = {"timeout_seconds": 5.0, "retries": 1} | more
    return embedder_named(EmbedderSettings("openai", "some-model", base_url=url, **settings))


def failure(*answers, texts=("a", "bb"), **more):
    """What the embedder says where the server answers so."""
    server = Server(*answers)
    with server.running() as url:
        with pytest.raises(KaratError) as raised:
            embedder_at(url, **more).embed(list(texts), "passage")
        told = str(raised.value)
        assert told.startswith(f"{url}/embeddings ")
        assert KEY not in told
        return told, server


def test_vectors_come_back_in_the_order_of_the_texts():
    server = Server(vectors(lambda data: data[::-1]))
    with server.running() as url:
        embedder = embedder_at(url + "/", passage_prefix="p: ", query_prefix="q: ")
        made = embedder.embed(["a", "", "bbb"], "passage")
        assert embedder.fingerprint == f'openai some-model at {url} passage_prefix="p: "'
        assert embedder.embed(["x"], "query").shape == (1, 2)
    assert made == pytest.approx(np.array([[4, 1], [0, 0], [6, 1]]) / [[math.hypot(4, 1)], [1], [math.hypot(6, 1)]])
    assert server.asked[0] == ("/v1/embeddings", {"model": "some-model", "input": ["p: a", "p: bbb"]})
    assert server.asked[1][1]["input"] == ["q: x"]
    assert "Authorization" not in server.headers[0]


def test_vectors_without_index_are_taken_in_order():
    def bare(data):
        return [{"embedding": entry["embedding"]} for entry in data]

    with Server(vectors(bare)).running() as url:
        assert embedder_at(url).embed(["a", "bbb"], "query")[0] == pytest.approx([0.7071068, 0.7071068])


def test_many_texts_go_in_batches():
    server = Server(vectors())
    with server.running() as url:
        made = embedder_at(url).embed(["x" * n for n in range(1, 151)], "passage")
    assert [len(body["input"]) for _, body in server.asked] == [64, 64, 22]
    assert made[149] == pytest.approx(np.array([150, 1]) / math.hypot(150, 1))


def test_the_key_is_sent_and_stands_nowhere_else(monkeypatch):
    monkeypatch.setenv("MY_KEY", f" {KEY}\n")
    server = Server(vectors())
    with server.running() as url:
        embedder = embedder_at(url, key_env="MY_KEY")
        embedder.embed(["a"], "query")
    assert server.headers[0]["Authorization"] == f"Bearer {KEY}"
    assert KEY not in json.dumps(embedder.settings.plain()) + embedder.fingerprint + repr(vars(embedder))


def test_a_key_that_cannot_be_one(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "ключ")
    with pytest.raises(UsageError, match="the value of OPENAI_API_KEY holds characters") as raised:
        embedder_at("http://127.0.0.1:9/v1").embed(["a"], "query")
    assert "ключ" not in str(raised.value)


@pytest.mark.parametrize("status", [401, 403])
def test_refused_access_names_the_variable_and_not_the_key(monkeypatch, status):
    reply = send(status, {"error": {"message": f"Incorrect API key provided: {KEY}"}})
    told, server = failure(reply)
    assert "The environment variable OPENAI_API_KEY is not set" in told
    assert len(server.asked) == 1
    monkeypatch.setenv("MY_KEY", KEY)
    told, _ = failure(reply, key_env="MY_KEY")
    assert f"refused access (HTTP {status}). The environment variable MY_KEY is set, but the server does not" in told


def test_what_the_server_says_is_shown_without_the_key_and_in_one_line(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    told, server = failure(send(400, {"error": {"message": f"bad\n\x1b[31mtext for {KEY}" + "!" * 500}}))
    assert "failed: HTTP 400: bad text for ${OPENAI_API_KEY}!!!" in told
    assert len(told) < 400
    assert "\x1b" not in told
    assert len(server.asked) == 1


def test_a_server_that_is_down():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    with pytest.raises(KaratError, match=r"cannot be reached \(\[Errno 111\].*\) \(attempt 3\)\. Start the server"):
        embedder_at(url, retries=5).embed(["a"], "query")


def test_a_server_that_is_slow():
    told, server = failure(slow(1.0), timeout_seconds=0.25)
    assert "no reply within 0.25 seconds (attempt 2). Try again later, or allow more time." in told
    assert len(server.asked) == 2


def test_an_answer_that_never_ends():
    def trickle(handler, _):
        handler.send_response(200)
        handler.end_headers()
        try:
            for _ in range(200):
                handler.wfile.write(b" ")
                handler.wfile.flush()
                time.sleep(0.01)
        except OSError:
            pass

    told, _ = failure(trickle, timeout_seconds=0.2, retries=0)
    assert "no reply within 0.2 seconds" in told


def test_an_answer_that_breaks_off():
    def cut(handler, _):
        handler.send_response(200)
        handler.send_header("Content-Length", "1000")
        handler.end_headers()
        handler.wfile.write(b"{")

    assert "the connection broke off (" in failure(cut)[0]


@pytest.fixture
def small(monkeypatch):
    """Endpoints that take replies of a megabyte."""
    defaults = JsonEndpoint.__init__.__kwdefaults__
    monkeypatch.setattr(JsonEndpoint.__init__, "__kwdefaults__", defaults | {"largest": 1 << 20})


@pytest.mark.parametrize(
    ("status", "content", "headers"),
    [
        (200, b" " * (2 << 20), {}),
        (500, b" " * (2 << 20), {}),
        (200, gzip.compress(b" " * (4 << 20)), {"Content_Encoding": "gzip"}),
    ],
    ids=["plain", "error", "gzip"],
)
def test_an_answer_that_is_too_large_is_not_fetched_again(small, status, content, headers):
    told, server = failure(send(status, content, **headers), retries=5)
    assert told.endswith("/embeddings failed: the reply is larger than 1 MB. Ask for less at a time.")
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    ("packing", "pack"), [("gzip", gzip.compress), (" X-GZIP", gzip.compress), ("deflate", zlib.compress)]
)
def test_a_packed_answer_is_read(small, packing, pack):
    data = [{"index": 0, "embedding": [3.0, 4.0]}]
    full = json.dumps({"data": data}).encode().ljust(1 << 20)
    server = Server(send(200, pack(full), Content_Encoding=packing))
    with server.running() as url:
        assert embedder_at(url).embed(["a"], "query")[0] == pytest.approx([0.6, 0.8])
    assert len(server.asked) == 1


def test_a_packed_error_is_read():
    told, _ = failure(send(400, gzip.compress(b'{"detail": "too long"}'), Content_Encoding="gzip"))
    assert "failed: HTTP 400: too long." in told


def test_a_packed_answer_that_is_damaged_is_fetched_again():
    server = Server(send(200, b"\x1f\x8b" + b"0" * 50, Content_Encoding="gzip"), vectors())
    with server.running() as url:
        assert embedder_at(url).embed(["a"], "query").shape == (1, 2)
    assert len(server.asked) == 2


def test_what_follows_a_packed_answer_is_left_aside(small):
    data = [{"index": 0, "embedding": [3.0, 4.0]}]
    body = gzip.compress(json.dumps({"data": data}).encode()) + b"x" * (2 << 20)
    with Server(send(200, body, Content_Encoding="gzip")).running() as url:
        assert embedder_at(url).embed(["a"], "query")[0] == pytest.approx([0.6, 0.8])


@pytest.mark.parametrize("packing", ["br", "zstd", "gzip, gzip"])
def test_an_answer_that_is_packed_otherwise_is_not_fetched_again(packing):
    told, server = failure(send(200, b"0" * 50, Content_Encoding=packing), retries=5)
    assert f"failed: the reply is packed ({packing}), though karat asks for it as it is. Have the server send" in told
    assert len(server.asked) == 1


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
def test_a_passing_failure_is_tried_again(status):
    server = Server(send(status, b"busy"), send(status, b"busy"), vectors())
    with server.running() as url:
        assert embedder_at(url, retries=2).embed(["a"], "query").shape == (1, 2)
    assert len(server.asked) == 3
    told, server = failure(send(status, b"busy"), retries=2)
    assert f"HTTP {status}: busy (attempt 3)." in told
    assert len(server.asked) == 3


@pytest.mark.parametrize("written", ["seconds", "date"])
def test_the_wait_that_the_server_asks_for_is_kept(monkeypatch, written):
    asked = "7" if written == "seconds" else formatdate(time.time() + 7, usegmt=True)
    waits = []
    sleep = asyncio.sleep

    async def counted(seconds):
        waits.append(seconds)
        await sleep(0)

    monkeypatch.setattr(asyncio, "sleep", counted)
    server = Server(send(429, b"", Retry_After=asked), vectors())
    with server.running() as url:
        embedder_at(url).embed(["a"], "query")
    assert len(waits) == 1
    assert 0 < waits[0] <= 7.01
    assert asked != "7" or waits[0] >= 7


def test_a_wait_that_is_too_long_is_told():
    told, server = failure(send(429, b"", Retry_After="3600"), retries=5)
    assert "it asks to wait 3,600 seconds, which is too long: try again after that time" in told
    assert len(server.asked) == 1


def test_a_redirect_is_not_followed():
    told, server = failure(send(307, b"", Location="https://user:pw@elsewhere.example/v1?x=1"))
    assert "redirects to https://elsewhere.example. karat does not follow" in told
    assert "pw" not in told
    assert len(server.asked) == 1


def test_a_wrong_path():
    assert "answered HTTP 404: no such route. Check the base url" in failure(send(404, {"detail": "no such route"}))[0]


def first(**change):
    return lambda data: [data[0] | change, *data[1:]]


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (send(200, b"<html>hello</html>"), "something that is not JSON: '<html>hello</html>'"),
        (send(200, b"[" * 100_000), "something that is not JSON"),
        (send(200, ["a"]), 'no list "data" of objects'),
        (send(200, {"data": [[1.0], [2.0]]}), 'no list "data" of objects'),
        (vectors(lambda data: data[:1]), "1 vectors for 2 texts"),
        (vectors(lambda data: data * 2), "4 vectors for 2 texts"),
        (vectors(first(index=1)), '"index" fields that do not count the texts from 0 to 1'),
        (vectors(first(index="0")), '"index" fields that do not count the texts from 0 to 1'),
        (vectors(lambda data: [{"embedding": [1]}, data[1]]), '"index" fields that do not count the texts from 0 to 1'),
        (vectors(first(embedding=None)), 'an "embedding" that is not a list of numbers'),
        (vectors(first(embedding=[])), 'an "embedding" that is not a list of numbers'),
        (vectors(first(embedding=["1", 2])), 'an "embedding" that is not a list of numbers'),
        (vectors(first(embedding=[1, 2, 3])), "vectors of 2 and of 3 numbers"),
        (vectors(first(embedding=[math.nan, 1])), "returned a vector with a number that is not finite"),
        (vectors(first(embedding=[math.inf, 1])), "returned a vector with a number that is not finite"),
        (vectors(first(embedding=[1e300, 1])), "returned a vector with a number that is not finite"),
        (vectors(first(embedding=[10**400, 1])), "returned a vector with a number that is not finite"),
    ],
)
def test_a_wrong_answer_is_told_and_not_tried_again(answer, problem):
    told, server = failure(answer)
    assert (problem if problem.startswith("returned") else f"answered with {problem}") in told
    assert len(server.asked) == 1


def test_vectors_of_another_size_than_before():
    longer = vectors(lambda data: [entry | {"embedding": [1, 2, 3]} for entry in data])
    with Server(vectors(), longer).running() as url:
        embedder = embedder_at(url)
        embedder.embed(["a"], "query")
        with pytest.raises(KaratError, match=r"/embeddings returned vectors of 3 numbers after vectors of 2"):
            embedder.embed(["a"], "query")
    told, _ = failure(vectors(), longer, texts=["a"] * 65)
    assert "answered with vectors of 2 and of 3 numbers" in told


def test_a_failure_midway_loses_nothing(tmp_path):
    texts = ["x" * n for n in range(1, 151)]
    server = Server(vectors(), vectors(), send(500, b"out of memory"))
    with server.running() as url:
        with pytest.raises(KaratError, match=r"out of memory.* 128 of 150 texts were embedded before. They are kept"):
            embed_all(embedder_at(url, retries=0), texts, journal=tmp_path / "journal")
        server.answers, server.asked = [vectors()], []
        made = embed_all(embedder_at(url, retries=0), texts, journal=tmp_path / "journal")
    assert [len(body["input"]) for _, body in server.asked] == [22]
    assert (made.reused, made.vectors.shape) == (128, (150, 2))


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("ftp://host/v1", "must look like"),
        ("host/v1", "must look like"),
        ("http://", "must look like"),
        ("http://host:99999/v1", "must look like"),
        ("http://user:hidden@host/v1", "of host holds a user name, a password"),
        ("http://host/v1?key=hidden", "something after"),
    ],
)
def test_an_address_that_cannot_be(url, problem):
    with pytest.raises(UsageError, match=problem) as raised:
        embedder_at(url)
    assert "hidden" not in str(raised.value)


def test_a_model_must_be_named():
    with pytest.raises(UsageError, match="write openai:text-embedding-3-small"):
        embedder_named(EmbedderSettings("openai"))
    with pytest.raises(UsageError, match=r"timeout_seconds must be a number, 0\.001 or more, found 0"):
        embedder_at("http://host/v1", timeout_seconds=0.0)


def test_without_a_base_url_it_is_openai():
    assert "https://api.openai.com/v1" in embedder_named(EmbedderSettings("openai", "m")).fingerprint
