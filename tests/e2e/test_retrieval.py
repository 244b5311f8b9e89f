"""Documents to hits at the command line: index, search, check, explain, and what becomes of bad documents."""

import contextlib
import json
import os
import shutil
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from fpdf import FPDF

import karat as package

WATCH = "# The night watch\n\nThe night watch lasts four hours and is kept by two people.\n"
FUEL = "<html><title>Fuel</title><body><h1>Fuel</h1><p>Each tank holds 42,000 litres of fuel.</p></body></html>"
QUESTIONS = [
    {
        "id": "q1",
        "question": "How long is the night watch?",
        "gold": [{"doc": "watch.md", "quote": "lasts four hours"}],
    },
    {
        "id": "q2",
        "question": "How much fuel does a tank hold?",
        "gold": [{"doc": "fuel.html"}],
        "answers": ["42,000 litres"],
    },
    {"id": "q3", "question": "Where is Lantern explained?", "gold": [{"doc": "manual.pdf", "page": "2"}]},
]


def pdf(*pages, password=None):
    made = FPDF()
    for text in pages:
        made.add_page()
        made.set_font("helvetica", size=12)
        if text:
            made.multi_cell(0, 8, text)
    if password:
        made.set_encryption(owner_password="owner", user_password=password)
    return bytes(made.output())


MANUAL = pdf("How to use this manual.", "The radio room answers to the call name Lantern.")


@pytest.fixture
def docs(put):
    put("docs/watch.md", WATCH)
    put("docs/fuel.html", FUEL)
    put("docs/manual.pdf", MANUAL)
    put("qa.jsonl", QUESTIONS)


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A folder in which `docs` has been indexed."""
    folder = tmp_path_factory.mktemp("built")
    (folder / "docs").mkdir()
    for name, content in {"watch.md": WATCH.encode(), "fuel.html": FUEL.encode(), "manual.pdf": MANUAL}.items():
        (folder / "docs" / name).write_bytes(content)
    with contextlib.chdir(folder):
        package.index("docs", "my.index")
    return folder


@pytest.fixture
def index(built, docs, folder):
    """An index of `docs` of this test's own."""
    shutil.copytree(built / "my.index", folder / "my.index")


def test_from_documents_to_an_explained_question(index, karat):
    told = karat("search", "my.index", "how long is a night watch?", "--engine", "hybrid", "--alpha", "0.7", "-k", "1")
    assert (told.code, told.err) == (0, "")
    assert "1.  watch.md#0001" in told.out
    assert "lasts four hours" in told.out
    checked = karat("testset", "check", "qa.jsonl", "my.index")
    assert checked.code == 0
    assert "all 3 gold units can be found" in checked.out
    explained = karat("search", "my.index", "--questions", "qa.jsonl", "--explain", "q3", "-k", "2")
    assert explained.code == 0
    for part in (
        "dense: its first",
        "bm25: one hit",
        "Fusion by weighted",
        "✓ 1.  manual.pdf#0001",
        "manual.pdf#page=2",
        "Recall@2     1.0000",
    ):
        assert part in explained.out


def test_every_command_prints_one_json_object_when_asked(index, karat):
    for words in (
        ("index", "docs", "-o", "my.index"),
        ("search", "my.index", "fuel"),
        ("testset", "check", "qa.jsonl", "my.index"),
        ("search", "my.index", "--questions", "qa.jsonl", "--explain", "q1"),
    ):
        told = karat(*words, "--json")
        assert (told.code, told.err) == (0, "")
        assert isinstance(json.loads(told.out), dict)
        assert "NaN" not in told.out


def test_questions_become_results_and_scores(index, karat):
    told = karat("search", "my.index", "--questions", "qa.jsonl", "-o", "hits.jsonl", "--fusion", "rrf")
    assert (told.code, told.out) == (0, "")
    assert "wrote 9 hits to hits.jsonl" in told.err
    scored = karat("score", "qa.jsonl", "hits.jsonl", "-m", "Recall@1", "--index", "my.index", "--json")
    assert scored.code == 0
    assert json.loads(scored.out)["systems"] == ["hits"]


@pytest.mark.parametrize("form", ["hits.run", "hits.jsonl"])
def test_hits_of_another_index_are_matched_by_what_they_say_and_that_is_said(index, put, karat, form):
    karat("search", "my.index", "--questions", "qa.jsonl", "-o", form)
    put("other/one.md", "# Other\n\nNothing to do with it.\n")
    assert karat("index", "other", "-o", "other.index").code == 0
    alone = json.loads(karat("score", "qa.jsonl", form, "-m", "MRR", "--json").out)
    told = karat("score", "qa.jsonl", form, "-m", "MRR", "--index", "other.index", "--json")
    beside = json.loads(told.out)
    assert [s["mean"] for s in beside["summaries"]] == [s["mean"] for s in alone["summaries"]]
    assert any("are no chunks of the index" in note["text"] for note in beside["notes"])


def test_gold_that_is_not_there_is_broken_with_its_reason(index, put, karat):
    put("qa.jsonl", [*QUESTIONS, {"id": "q4", "question": "What of the sea?", "gold": [{"doc": "sea.md"}]},
                     {"id": "q5", "question": "Page?", "gold": [{"doc": "manual.pdf", "page": "9"}]}])  # fmt: skip
    told = karat("testset", "check", "qa.jsonl", "my.index")
    assert told.code == 4
    assert "3 of 5 gold units can be found" in told.out
    assert "sea.md" in told.out
    found = json.loads(karat("testset", "check", "qa.jsonl", "my.index", "--json").out)
    assert found["broken"] is True


def test_bad_documents_are_named_and_the_rest_goes_on(docs, put, karat, folder):
    put("docs/locked.pdf", pdf("secret", password="x"))
    put("docs/nothing.pdf", b"")
    put("docs/blank.txt", " \n")
    put("docs/scan.pdf", pdf("", ""))
    put("docs/torn.pdf", pdf("some text " * 300)[:700])
    put("docs/old.txt", "Вахта длится четыре часа, и её несут двое.".encode("cp1251"))
    put("docs/utf16.txt", "A note in another encoding.".encode("utf-16"))
    put("docs/picture.png", b"\x89PNG\r\n\x1a\n" + bytes(50))
    os.symlink(folder / "docs", folder / "docs" / "loop")
    os.mkfifo(folder / "docs" / "pipe.txt")
    told = karat("index", "docs", "-o", "my.index", "-v")
    assert told.code == 5
    for name, kind in (
        ("locked.pdf", "encrypted"),
        ("nothing.pdf", "empty"),
        ("blank.txt", "empty"),
        ("scan.pdf", "scanned"),
        ("torn.pdf", "broken"),
        ("picture.png", "unsupported"),
        ("loop", "loop"),
        ("pipe.txt", "unsupported"),
    ):
        assert any(kind in line and name in line for line in told.out.splitlines()), (name, told.out)
    assert "Traceback" not in told.err
    assert "вахта" in karat("search", "my.index", "вахта", "--engine", "bm25").out.lower()
    assert "another encoding" in karat("search", "my.index", "note encoding", "--engine", "bm25").out
    put("qa.jsonl", [{"id": "q1", "question": "What is secret?", "gold": [{"doc": "locked.pdf", "page": "1"}]}])
    checked = karat("testset", "check", "qa.jsonl", "my.index")
    assert checked.code == 4
    assert "locked.pdf" in checked.out
    assert "password" in checked.out or "encrypted" in checked.out


def test_what_was_lost_is_counted_by_records_and_quiet_says_nothing_else(put, karat):
    put("a.jsonl", '{"id": "a", "text": "x"}\n' + "nonsense\n" * 50)
    told = karat("index", "a.jsonl", "-o", "a.index", "--engine", "bm25", "-q")
    assert (told.code, told.out.splitlines()[0]) == (5, "Could not be read or built: 50")
    put("a.jsonl", '{"id": "a", "text": "x"}\n')
    told = karat("index", "a.jsonl", "-o", "a.index", "--engine", "bm25", "-q")
    assert (told.code, told.out, told.err) == (0, "", "")


def test_a_file_that_cannot_be_read_or_goes_away_does_not_stop_the_rest(docs, put, karat, monkeypatch):
    import os

    put("docs/closed.txt", "nobody may read this")
    put("docs/gone.txt", "deleted while it is read")
    real_open = os.open

    def opened(file, *args, **kwargs):
        if str(file).endswith("closed.txt"):
            raise PermissionError(13, "Permission denied", str(file))
        if str(file).endswith("gone.txt"):
            raise FileNotFoundError(2, "No such file or directory", str(file))
        return real_open(file, *args, **kwargs)

    monkeypatch.setattr(os, "open", opened)
    told = karat("index", "docs", "-o", "my.index", "--engine", "bm25")
    assert told.code == 5
    assert "closed.txt" in told.out
    assert "gone.txt" in told.out
    assert "documents  3" in told.out


def test_a_pdf_of_500_pages_is_read_with_all_its_pages(put, karat):
    put("docs/long.pdf", pdf(*(f"This is leaf number {n} of the long book." for n in range(1, 501))))
    told = karat("index", "docs", "-o", "my.index", "--engine", "bm25", "--chunk", "page", "--json")
    assert told.code == 0
    assert json.loads(told.out)["corpus"]["pages"] == 500
    assert "page 437" in karat("search", "my.index", "437", "--engine", "bm25", "-k", "1").out


@pytest.mark.parametrize("name", ["nowhere", "empty"])
def test_no_documents_at_all(folder, karat, name):
    (folder / "empty").mkdir()
    told = karat("index", name, "-o", "my.index")
    assert told.code == 2
    assert name in told.sentence
    assert not (folder / "my.index").exists()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("search", "none.index", "x"), "there is no such index. Build it with `karat index"),
        (("search", "docs", "x"), "this is no karat index"),
        (("search", "my.index"), "no query"),
        (("search", "my.index", "x", "--engine", "bm52"), "Did you mean bm25"),
        (("search", "my.index", "x", "--alpha", "2"), "alpha=2.0 is not between 0"),
        (("search", "my.index", "x", "--fusion", "sum"), "unknown fusion 'sum'"),
        (("search", "my.index", "x", "--normalise", "maks"), "There are max, minmax"),
        (("search", "my.index", "x", "-k", "0"), "k=0"),
        (("search", "my.index", "x", "--rewrite", "spel"), "Did you mean spell"),
        (("search", "my.index", "x", "--pages", "roman"), "physical"),
        (("search", "my.index", "x", "--embedder", "wordllama"), "its queries are embedded by the model"),
        (("search", "-", "x"), "needs an index"),
        (("search", "-", "x", "--engine", "faiss:none.faiss"), "none.faiss"),
        (("search", "my.index", "--questions", "qa.jsonl"), "name -o FILE"),
        (("search", "my.index", "--questions", "qa.jsonl", "--explain", "q9"), "has no question 'q9'"),
        (("search", "my.index", "--questions", "qa.jsonl", "--explain", "q1", "-m", "EM"), "EM measures answers"),
        (("testset", "check", "qa.jsonl", "my.index", "--only", "copy"), "copies"),
        (("index", "docs", "-o", "docs"), "holds other things"),
        (("index", "docs", "-o", "x.index", "--chunk", "tokens:10:10"), "overlap"),
        (("index", "docs", "-o", "x.index", "--embedder", "wordlama"), "Did you mean wordllama"),
        (("index", "docs", "-o", "x.index", "--set", "bm25"), "ENGINE.NAME=VALUE"),
        (("index", "docs", "-o", "x.index", "--set", "bm25.k1=-3"), "k1"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_one_sentence(index, karat, words, sentence):
    told = karat(*words)
    assert told.code == 2
    assert sentence in told.sentence


@pytest.mark.parametrize("command", [("testset", "check"), ("sweep",)])
def test_swapped_arguments_are_told(index, put, karat, command):
    put("asked.jsonl", [{"id": "q1", "question": "watch?", "gold": [{"doc": "watch.md"}]}])
    told = karat(*command, "my.index", "asked.jsonl")
    assert told.code == 2
    assert told.sentence == "the test set comes first, then the index: write asked.jsonl my.index."


class Endpoint(BaseHTTPRequestHandler):
    """EmbeddingModel each text as a few numbers, in the way the test asks for."""

    manner = "well"

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.manner == "slow":
            time.sleep(5)
        size = 4 if self.manner != "changing" or len(body["input"]) > 1 else 5
        data = [
            {"index": i, "embedding": [len(t) % 7 + 1.0, *([1.0] * (size - 1))]} for i, t in enumerate(body["input"])
        ]
        reply = json.dumps({"data": data}).encode()
        try:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(reply)
        except BrokenPipeError:
            pass

    def log_message(self, *args):
        pass


@pytest.fixture
def endpoint():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    server.shutdown()
    server.server_close()
    Endpoint.manner = "well"


def embedder(url, **settings):
    values = {"name": "openai", "target": "m", "base_url": url, "retries": 0, "timeout_seconds": 1.0, **settings}
    return ("--set", f"dense.embedder={json.dumps(values)}")


def test_an_endpoint_embeds_and_its_key_is_written_nowhere(docs, karat, endpoint, monkeypatch, folder):
    monkeypatch.setenv("MY_KEY", "sk-very-secret")
    told = karat(
        "index", "docs", "-o", "my.index", "--embedder", "openai:m", "--base-url", endpoint, "--key-env", "MY_KEY"
    )
    assert told.code == 0
    assert karat("search", "my.index", "watch", "--engine", "dense").code == 0
    written = b"".join(p.read_bytes() for p in (folder / "my.index").rglob("*") if p.is_file())
    assert b"sk-very-secret" not in written
    assert "sk-very-secret" not in told.out + told.err


@pytest.mark.parametrize("manner", ["down", "slow", "another size"])
def test_an_endpoint_that_fails_costs_one_engine_and_is_named(docs, karat, endpoint, manner, put):
    url = endpoint if manner != "down" else "http://127.0.0.1:9/v1"
    Endpoint.manner = "slow" if manner == "slow" else "well"
    if manner == "another size":
        assert karat("index", "docs", "-o", "my.index", *embedder(url)).code == 0
        Endpoint.manner = "changing"
        told = karat("search", "my.index", "watch", "--engine", "dense")
        assert told.code == 2
        assert "5" in told.sentence
        assert "4" in told.sentence
        return
    told = karat("index", "docs", "-o", "my.index", *embedder(url))
    assert told.code == 5
    assert "engine dense" in told.out
    assert url.removeprefix("http://").split("/")[0] in told.out
    assert "watch.md" in karat("search", "my.index", "watch", "--engine", "bm25").out
    assert "Default of this index: bm25: the index has no engine dense." in karat("search", "my.index", "watch").out
    assert "this index has no engine 'dense'" in karat("search", "my.index", "watch", "--engine", "hybrid").sentence


KILL = """
import os, signal, sys
from karat.retrieve.engines.dense import DenseEngine
DenseEngine.save = lambda *a: os.kill(os.getpid(), signal.SIGKILL)
from karat.cli.main import main
main()
"""


def test_a_killed_build_leaves_the_old_index(index, put, karat, process, folder):
    before = karat("search", "my.index", "watch").out
    put("docs/new.md", "# New\n\nThis would have been new.\n")
    assert process("index", "docs", "-o", "my.index", code=KILL).code == -9
    assert karat("search", "my.index", "watch").out == before
    assert karat("testset", "check", "qa.jsonl", "my.index").code == 0
    assert karat("index", "docs", "-o", "my.index").code == 0
    assert "new.md" in karat("search", "my.index", "would have been new", "--engine", "bm25").out


def test_progress_is_shown_on_a_terminal_and_nowhere_else(docs, folder):
    import pty

    leader, follower = pty.openpty()
    code = [sys.executable, "-c", "from karat.cli.main import main; main()", "index", "docs", "-o", "my.index"]
    with subprocess.Popen(code, cwd=folder, stdout=subprocess.PIPE, stderr=follower) as process:
        out = process.stdout.read().decode()
    os.close(follower)
    shown = os.read(leader, 1 << 16).decode()
    os.close(leader)
    assert process.returncode == 0
    assert "reading" in shown
    assert "building bm25" in shown
    assert "\x1b" not in out
