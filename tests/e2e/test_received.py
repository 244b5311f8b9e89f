"""A received index or run sends nothing to anybody, and no secret leaves, until the user has named the host."""

import hashlib
import json
import stat
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from karat.experiment.store import runs_in
from karat.io.checksum import digest

SECRET, KEY = "aws-secret-0123456789", "sk-own-0123456789"
FULLY = '{"reason": "r", "grade": "fully"}'
QUESTIONS = [{"id": "q1", "question": "How long is the warranty?", "gold": [{"doc": "a.md"}], "answers": ["two years"]}]


class Server:
    """EmbeddingModel and chats, and keeps what it was asked."""

    def __init__(self):
        self.asked = []

    @contextmanager
    def running(self):
        asked = self.asked

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                asked.append((self.path, self.headers, body))
                if "input" in body:
                    reply = {"data": [{"index": i, "embedding": [len(t), 1]} for i, t in enumerate(body["input"])]}
                else:
                    reply = {"choices": [{"message": {"content": FULLY}}]}
                data = json.dumps(reply).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *args):
                pass

        http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        self.host = f"127.0.0.1:{http.server_address[1]}"
        try:
            yield self
        finally:
            http.shutdown()
            thread.join()
            http.server_close()

    @property
    def url(self):
        return f"http://{self.host}/v1"

    @property
    def keys(self):
        return {headers.get("Authorization") for _, headers, _ in self.asked}


@pytest.fixture
def server():
    with Server().running() as running:
        yield running


@pytest.fixture
def evil():
    with Server().running() as running:
        yield running


@pytest.fixture(autouse=True)
def environment(folder, put, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder / ".config"))
    monkeypatch.setenv("AWS_SECRET", SECRET)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    put("docs/a.md", "# Warranty\n\nThe warranty lasts two years.\n")
    put("docs/b.md", "# Shipping\n\nShipping takes five days.\n")
    put("qa.jsonl", QUESTIONS)


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def tampered(index, change):
    """An index as a stranger may send it: whole and sound, with other settings."""
    head = json.loads((index / "index.json").read_text())
    generation = index / head["generation"]
    change(head["settings"]["engines"]["dense"]["embedder"])
    tamper_card(generation, "engines/dense/dense.json", head["files"], change)
    for shard in head["shards"]["engines/dense"]:
        card = json.loads((index / "shards" / shard["name"] / "shard.json").read_text())
        tamper_card(index / "shards" / shard["name"], "dense.json", card["files"], change)
        (index / "shards" / shard["name"] / "shard.json").write_text(json.dumps(card))
        shard["digest"] = digest(card)
    written(index, head)


def tamper_card(folder, name, files, change):
    card = json.loads((folder / name).read_text())
    embedder = card["settings"]["embedder"]
    change(embedder)
    card["fingerprint"] = f"openai {embedder['target']} at {embedder['base_url'] or 'https://api.openai.com/v1'}"
    (folder / name).write_text(json.dumps(card))
    files[name] = {"bytes": (folder / name).stat().st_size, "sha256": sha256((folder / name).read_bytes())}


def written(index, head):
    head.pop("sha256")
    head["sha256"] = sha256(json.dumps(head, ensure_ascii=False, sort_keys=True).encode())
    (index / "index.json").write_text(json.dumps(head))


@pytest.fixture
def received(karat, folder, server, evil):
    """An index that names a host and a variable of the environment that its user never did."""
    assert karat("index", "docs", "-o", "evil.index", "--embedder", "openai:m", "--base-url", server.url).code == 0
    tampered(folder / "evil.index", lambda embedder: embedder.update(base_url=evil.url, key_env="AWS_SECRET"))
    return folder / "evil.index"


def refused(told, host, place):
    assert told.code == 2, told
    assert host in told.sentence
    assert place in told.sentence
    assert f"--allow-host {host}" in told.sentence
    assert KEY not in told.sentence
    assert SECRET not in told.sentence


def test_a_received_index_sends_nothing_until_its_host_is_allowed(received, karat, evil, folder):
    refused(karat("search", "evil.index", "warranty"), evil.host, "evil.index")
    refused(karat("search", "evil.index", "warranty", "--engine", "dense"), evil.host, "evil.index")
    assert karat("search", "evil.index", "warranty", "--engine", "bm25").code == 0
    assert evil.asked == []
    told = karat("search", "evil.index", "warranty", "--allow-host", evil.host)
    assert told.code == 0, told.err
    assert evil.host in told.err
    assert evil.keys == {f"Bearer {KEY}"}, "the default variable, never the one that the index names"
    assert karat("search", "evil.index", "warranty").code == 0, "allowed once, remembered"
    assert karat("search", "evil.index", "warranty", "--key-env", "NOT_SET").code == 0
    assert evil.asked[-1][1].get("Authorization") is None


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        ("search", "evil.index", "--questions", "qa.jsonl", "--explain", "q1"),
        ("sweep", "qa.jsonl", "evil.index"),
        ("score", "qa.jsonl", "answers.jsonl", "--index", "evil.index", "-m", "SemanticSimilarity"),
        ("run", "evil.index", "qa.jsonl"),
        ("search", "evil.index", "--questions", "qa.jsonl", "-o", "hits.jsonl"),
    ],
    ids=lambda words: words[0],
)
def test_whatever_reads_a_received_index_asks_first(received, karat, put, evil, words):
    put("answers.jsonl", [{"id": "q1", "answer": "two years", "retrieved": [{"id": "a.md", "text": "two years"}]}])
    told = karat(*words)
    assert evil.asked == []
    refused(told, evil.host, "evil.index")
    assert karat(*words, "--allow-host", evil.host).code == 0
    assert evil.asked


def test_an_index_names_no_engine_that_is_a_host_or_a_path(received, karat, evil, folder):
    head = json.loads((folder / "evil.index" / "index.json").read_text())
    for name in (f"chroma:http://{evil.host}", f"faiss:{folder}/x.faiss", "../../docs", "os"):
        head["settings"]["engines"] = {name: {}}
        written(folder / "evil.index", head)
        told = karat("search", "evil.index", "warranty")
        assert told.code == 2
        assert name in told.sentence
        assert evil.asked == []


def test_an_index_names_no_folder_of_a_model(received, karat, folder, put):
    put("model/modules.json", "[]")
    for name in ("onnx", "sbert"):
        tampered(folder / "evil.index", lambda e, n=name: e.update(name=n, target="model", base_url=None))
        told = karat("search", "evil.index", "warranty", "--engine", "dense")
        assert told.code == 2
        assert f"--allow-model {folder / 'model'}" in told.sentence


def test_an_index_built_here_is_searched_without_asking(karat, server, folder, monkeypatch):
    monkeypatch.setenv("MY_KEY", "sk-mine-0123456789")
    words = ("--embedder", "openai:m", "--base-url", server.url, "--key-env", "MY_KEY")
    told = karat("index", "docs", "-o", "own.index", *words)
    assert told.code == 0
    assert server.host in told.err
    assert karat("search", "own.index", "warranty").code == 0
    assert server.keys == {"Bearer sk-mine-0123456789"}
    (kept,) = (folder / ".config").rglob("allowed.jsonl")
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert "sk-mine" not in kept.read_text()


def run_with(put, folder, **spec):
    put("answers.jsonl", [{"id": "q1", "answer": "two years", "retrieved": [{"id": "a.md", "text": "two years"}]}])
    put("karat.yaml", json.dumps({
        "name": "r", "testset": "qa.jsonl", "systems": [{"name": "mine", "results": "answers.jsonl"}],
        "measures": ["TokenF1"], "outputs": ["csv"],
    }))  # fmt: skip
    return lambda: runs_in(folder / "runs")[-1].update(spec={**runs_in(folder / "runs")[-1].manifest["spec"], **spec})


@pytest.mark.slow
@pytest.mark.parametrize("words", [(), ("--tamper-test",)], ids=["judge", "tamper"])
def test_a_received_run_asks_no_host_of_its_manifest(karat, put, folder, evil, words):
    received = run_with(put, folder, model={"name": "m", "base_url": evil.url, "key_env": "AWS_SECRET"})
    assert karat("run", "-q").code == 0
    received()
    measures = ("-m", "Responsiveness", *words)
    told = karat("judge", "LAST", *measures)
    refused(told, evil.host, "manifest.json")
    assert evil.asked == []
    assert karat("judge", "LAST", *measures, "--allow-host", evil.host).code in (0, 5)
    assert evil.keys == {f"Bearer {KEY}"}


@pytest.mark.parametrize("value", [{"name": "${AWS_SECRET}"}, {"name": "m", "base_url": "http://h/${AWS_SECRET}"}])
def test_no_variable_is_filled_into_what_a_stored_run_says(karat, put, folder, evil, value):
    received = run_with(put, folder, model={"base_url": evil.url, **value})
    assert karat("run", "-q").code == 0
    received()
    told = karat("judge", "LAST", "-m", "Responsiveness", "--allow-host", evil.host)
    assert told.code == 2
    assert "${AWS_SECRET}" in told.sentence
    assert SECRET not in told.sentence
    assert evil.asked == []


def test_the_model_of_a_run_made_here_is_asked_by_judge(karat, put, folder, server):
    run_with(put, folder)
    spec = json.loads((folder / "karat.yaml").read_text())
    put("karat.yaml", json.dumps({**spec, "model": {"name": "m", "base_url": server.url}, "judge": ["Responsiveness"]}))
    told = karat("run")
    assert told.code == 0, told.err
    assert server.host in told.err
    assert karat("judge", "LAST", "-m", "Responsiveness").code == 0


def test_a_key_goes_over_plain_http_to_this_machine_alone(karat, server):
    words = ("docs", "-o", "own.index", "--embedder", "openai:m", "--base-url")
    told = karat("index", *words, "http://host.invalid/v1")
    assert told.code == 2
    assert "plain http" in told.sentence
    assert "--insecure-key host.invalid:80" in told.sentence
    assert KEY not in told.sentence
    assert karat("index", *words, server.url).code == 0


SPEC = """\
name: r
testset: qa.jsonl
systems:
- {name: mine, call: 'rag:search'}
measures: ['own:f', Recall@5]
outputs: [csv]
"""


def test_a_karat_yaml_says_what_it_runs_and_asks_before_it_does(karat, put, folder, server):
    put("rag.py", "from pathlib import Path\nPath('ran').touch()\ndef search(question): return ['a.md']\n")
    put("own.py", "def f(judged): return judged.relevant * 0.0\n")
    put("karat.yaml", SPEC + f"model: {{name: m, base_url: '{server.url}'}}\n")
    told = karat("run", "--no-code")
    assert told.code == 2
    assert "line 4, systems[0].call: would run the code of rag:search, which --no-code refuses." in told.sentence
    assert "line 5, measures[0]: would run the code of own:f" in told.sentence
    assert f"line 7, model: would ask the host {server.host}" in told.sentence
    assert not (folder / "ran").exists()
    told = karat("run")
    assert told.code == 0, told.err
    assert told.err.splitlines()[:2] == ["runs code: own:f, rag:search", f"asks hosts: {server.host}"]


def test_a_stored_run_names_neither_code_nor_hosts_to_a_run_that_goes_on(karat, put, folder, server, evil):
    """What is resumed is what karat.yaml says; the manifest is only known by its digest."""
    put("rag.py", "def search(question): raise SystemExit\n")
    put("karat.yaml", SPEC.replace("'own:f', ", ""))
    assert karat("run", "-q").code == 5
    stored = runs_in(folder / "runs")[-1]
    http = {"url": f"{evil.url}?q={{question}}", "ids": "$.ids"}
    systems = [{"name": "mine", "http": http}, {"name": "b", "call": "evil:search"}]
    put("evil.py", "from pathlib import Path\nPath('ran').touch()\n")
    stored.update(spec={**stored.manifest["spec"], "systems": systems}, status="running")
    put("rag.py", "def search(question): return ['a.md']\n")
    karat("run", "-q", "--retry-errors")
    for words in (("show", "LAST"), ("show", "LAST", "-o", "page.md"), ("gate", "LAST", "Recall@5 >= 0"), ("show",)):
        karat(*words)
    assert evil.asked == []
    assert not (folder / "ran").exists()
