"""A run over systems that are not karat's: failures are rows, the rest is scored, and a secret stays where it is."""

import gzip
import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import polars as pl
import pytest

SECRET = "sk-very-secret-0123456789"
QUESTIONS = [
    {"id": "q1", "question": "How long is the watch?", "gold": [{"doc": "watch.md"}]},
    {"id": "q2", "question": "What does a tank hold?", "gold": [{"doc": "fuel.md"}]},
    {"id": "q3", "question": "Who answers the radio?", "gold": [{"doc": "radio.md"}]},
]
SEARCH = """
def search(question, k):
    print("to the side")
    if "tank" in question:
        raise LookupError("no tank here")
    return [{"id": "1", "doc": "watch.md"}, {"id": "2", "doc": "radio.md"}]
"""


@pytest.fixture
def server():
    """Repeats the key it was sent, as a hit, in a refusal, or in a reply of another shape."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["q"]
            key = self.headers["Authorization"]
            reply = {"hits": [{"doc": "watch.md", "text": f"{key} is the key"}]} if "watch" in asked else {key: key}
            body = json.dumps(reply).encode()
            self.send_response(400 if "radio" in asked else 200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{http.server_address[1]}/search"
    http.shutdown()
    thread.join()
    http.server_close()


def everything(folder):
    """The text of every file below a folder, unpacked."""
    for path in folder.rglob("*"):
        if path.is_file():
            data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
            if path.suffix == ".parquet":
                data = json.dumps(pl.read_parquet(path).to_dicts(), default=str).encode()
            yield path.name, data


def test_failures_are_rows_and_the_secret_is_found_nowhere(put, folder, karat, server, monkeypatch):
    for proxy in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(proxy, raising=False)
    put("qa.jsonl", QUESTIONS)
    put("my_search.py", SEARCH)
    put(
        "karat.yaml",
        "testset: qa.jsonl\nmatch: doc\nmain: Recall@1\nmeasures: Recall@1\nk: 1\noutputs: [csv, json, text]\n"
        "systems:\n  - {call: 'my_search:search', name: mine}\n  - name: theirs\n    http:\n"
        f"      url: {server}\n      headers: {{Authorization: 'Bearer ${{MY_KEY}}'}}\n"
        "      body: {q: '{question}'}\n      docs: $.hits[*].doc\n      texts: $.hits[*].text\n",
    )
    assert karat("run").sentence == (
        "karat.yaml line 12, systems[1].http.headers.Authorization: the environment variable MY_KEY is not set. "
        "Set it, or take ${MY_KEY} out."
    )
    monkeypatch.setenv("MY_KEY", SECRET)
    told = karat("run", "--json")
    assert told.code == 5, told.err
    json.loads(told.out)
    assert "to the side" in told.err
    (rows,) = folder.glob("runs/*/rows.parquet")
    found = pl.read_parquet(rows)
    text = json.dumps(found.to_dicts(), default=str)
    assert "LookupError: no tank here" in text
    assert "HTTP 400" in text
    assert "does not fit" in text
    assert found.height == 6
    assert not [name for name, data in everything(folder) if SECRET.encode() in data]
    assert SECRET not in told.out + told.err
    assert any(b"${MY_KEY} is the key" in data for _, data in everything(folder))


def test_when_every_row_fails_the_reasons_are_printed_and_reported(put, folder, karat):
    put("qa.jsonl", QUESTIONS)
    put("broken_search.py", "def search(question, k):\n    raise LookupError(f'no index for {question!r}')\n")
    put(
        "karat.yaml",
        "testset: qa.jsonl\nmain: MRR\nmeasures: MRR\noutputs: [html, json]\n"
        "systems: [{call: 'broken_search:search', name: mine}]\n",
    )
    reasons = "mine: 3 of 3 questions failed and are in no mean: LookupError: no index for 'How long is the watch?'"
    for option in ("-q", "-v"):
        told = karat("run", option, "--fresh")
        assert told.code == 5, told.err
        said = " ".join(told.out.split())
        assert f"{reasons} (3 times, first q1)." in said
    told = karat("run", "--fresh", "--json")
    assert any(text.startswith(reasons) for text in json.loads(told.out)["warnings"])
    page = max(folder.glob("runs/*/report.html")).read_text()
    assert "(3 times, first q1)" in page


@pytest.mark.parametrize(
    ("settings", "k"),
    [
        ("measures: [Recall@2, MRR@3]\nk: [1, 2]\n", 3),
        ("measures: [Recall@2]\nk: 2\nanswer: {by: extractive, contexts: 4}\n", 4),
        ("k: [1, 2, 7]\n", 7),
        ("measures: [Recall@2, MAP]\nk: 2\n", 20),
        ("measures: [Recall@2, MRR@30]\nk: 2\n", 30),
    ],
)
def test_a_function_is_asked_for_no_more_hits_than_are_needed(put, folder, karat, settings, k):
    put("qa.jsonl", QUESTIONS)
    put("counting.py", "def search(question, k):\n    return [{'doc': 'watch.md', 'text': f'asked for {k}'}]\n")
    put(
        "karat.yaml",
        "testset: qa.jsonl\nmatch: doc\nmain: Recall@2\noutputs: [json]\n"
        f"systems: [{{call: 'counting:search', name: mine}}]\n{settings}",
    )
    told = karat("run", "-q")
    assert told.code == 0, told.err
    (journal,) = folder.glob("runs/*/journal.jsonl")
    assert set(re.findall(r"asked for (\d+)", journal.read_text())) == {str(k)}


def test_what_a_function_tells_of_its_answers_reaches_the_run(put, folder, karat):
    put("qa.jsonl", [{**question, "answers": ["four hours"]} for question in QUESTIONS])
    put(
        "telling.py",
        "def search(question, k):\n    return {'source_documents': [{'page_content': 'The watch is four hours.', "
        "'metadata': {'source': 'watch.md'}}], 'response': 'four hours', 'contexts': ['The watch is four hours.'], "
        "'usage': {'prompt_tokens': 20, 'completion_tokens': 5}, 'cost': 0.5, 'confidence': 0.25}\n",
    )
    put(
        "karat.yaml",
        "testset: qa.jsonl\nmatch: doc\nmain: Recall@1\nmeasures: [Recall@1, EM, SentenceSupport]\n"
        "outputs: [json]\nsystems: [{call: 'telling:search', name: mine}]\n",
    )
    told = karat("run", "-q")
    assert told.code == 0, told.err
    (times,) = folder.glob("runs/*/times.parquet")
    assert set(pl.read_parquet(times).select("tokens", "cost_usd").rows()) == {(25, 0.5)}
    (answers,) = folder.glob("runs/*/answers.jsonl")
    first = json.loads(answers.read_text().splitlines()[0])
    assert (first["answer"], first["contexts"], first["confidence"]) == (
        "four hours", ["The watch is four hours."], 0.25,
    )  # fmt: skip
    (rows,) = folder.glob("runs/*/rows.parquet")
    assert pl.read_parquet(rows)["SentenceSupport"].to_list() == [1.0, 1.0, 1.0]
