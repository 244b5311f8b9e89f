"""Every command that writes, stopped at each step of what it writes or out of room there, and then repeated."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from karat.testing import FakeLLM

KILLED = 137
SOME = (0.05, 0.45, 0.93)
"""Where plain runs of the tests stop a command, as shares of its steps; those marked slow stop at every one."""
PASSAGE = (
    "The night watch of the station lasts four hours and is kept by two people. Whoever keeps it writes the pressure "
    "and the temperature into the log every half hour, and wakes the engineer when either of them falls too fast."
)
FUEL = "Each tank holds 42,000 litres of fuel and is dipped every Monday by the engineer, who notes it in the log."
QUESTION = "How many people keep the night watch of the station?"
SYSTEM = "def search(question, k):\n    return [['watch', 2.0], ['fuel', 1.0]]\n"
SPEC = """\
name: station
corpus: corpus.jsonl
testset: qa.jsonl
chunk: whole
systems: [pure_sparse, {name: mine, call: 'mine:search'}]
answer: extractive
k: [1]
main: MRR
outputs: [csv, json, markdown]
"""


def spoken(request):
    """What a model says: a question where it is to write one, else a grade."""
    if '"quote"' in request.user:
        quote = PASSAGE.partition(".")[0] + "."
        return json.dumps({"question": QUESTION, "answer": "It is kept by two people.", "quote": quote})
    return '{"reason": "r", "grade": "fully"}'


@pytest.fixture(scope="module")
def llm():
    with FakeLLM(spoken) as server:
        yield server


@pytest.fixture
def trials(put, process, folder, llm):
    """Runs one of the commands and tells what came of each trial."""
    put("corpus.jsonl", [{"id": "watch", "text": PASSAGE}, {"id": "fuel", "text": FUEL}])
    put("qa.jsonl", [
        {"id": "q1", "question": "How long is the night watch?", "gold": [{"doc": "watch"}], "answers": ["four hours"]},
        {"id": "q2", "question": "How much fuel does a tank hold?", "gold": [{"doc": "fuel"}], "answers": ["42,000"]},
    ])  # fmt: skip
    put("mine.py", SYSTEM)
    put("karat.yaml", SPEC)
    put("labels.csv", "id,system,measure,label\nq1,mine,TokenF1,1\nq2,mine,TokenF1,0\n")
    model = ("--model", "fake", "--base-url", llm.base_url)
    commands = {
        "index": [("index", "corpus.jsonl", "-o", "x.index", "--set", "dense.ann=hnsw", "-q")],
        "run": [("run", "-q")],
        "generate": [
            ("index", "corpus.jsonl", "-o", "x.index", "--engine", "bm25", "-q"),
            ("generate", "x.index", "--samples", "1", "--kinds", "literal", *model, "-o", "new.jsonl"),
        ],
        "judge": [("run", "-q"), ("judge", "-q", "-m", "Responsiveness", *model)],
        "calibrate": [("run", "-q"), ("calibrate", "LAST", "labels.csv", "-o", "found.json", "-q")],
    }

    def run(name, mode, steps):
        *before, words = commands[name]
        for earlier in before:
            assert process(*earlier).code == 0
        alone = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS")}
        done = subprocess.run(
            [sys.executable, str(Path(__file__).with_name("interrupting.py"))],
            input=json.dumps({"folder": str(folder), "words": words, "mode": mode, "steps": steps}),
            env={**os.environ, "PYTHONUTF8": "1", **alone},
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return run


WRITTEN = {
    "index": "x.index/index.json",
    "run": "runs/RUN-station/rows.parquet",
    "generate": "new.jsonl",
    "judge": "runs/RUN-station/rows.parquet",
    "calibrate": "found.json",
}
EACH = [pytest.param(SOME, id="some"), pytest.param(None, id="all", marks=pytest.mark.slow)]


def check_repeated(name, found):
    """Repeated, the command ended each time as if nothing had been, or had nothing left to do."""
    assert WRITTEN[name] in found["same"]
    wrong = []
    for trial in found["trials"]:
        complete = name == "generate" and "exists, and nothing is overwritten unasked" in trial["said_again"]
        if trial["again"] != (2 if complete else 0) or trial["differ"]:
            wrong.append(trial)
    assert wrong == []


@pytest.mark.parametrize("steps", EACH)
@pytest.mark.parametrize("name", WRITTEN)
def test_killed_at_a_step_and_repeated_a_command_ends_as_if_undisturbed(trials, name, steps):
    found = trials(name, "kill", steps)
    assert [trial for trial in found["trials"] if trial["code"] != KILLED] == []
    check_repeated(name, found)


@pytest.mark.parametrize("steps", EACH)
@pytest.mark.parametrize("name", WRITTEN)
def test_on_a_full_disk_a_command_says_one_sentence_and_can_be_repeated(trials, name, steps):
    found = trials(name, "full", steps)
    wrong = []
    for trial in found["trials"]:
        sentences = [line for line in trial["said"].splitlines() if line.startswith("karat: ")]
        told = len(sentences) == 1 and ("No space left on device" in sentences[0] or "disk is full" in sentences[0])
        if trial["code"] not in (0, 2) or (trial["code"] == 2 and not told):
            wrong.append(trial)
    assert wrong == []
    check_repeated(name, found)
