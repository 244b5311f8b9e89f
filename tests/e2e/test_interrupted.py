"""Every command that writes, stopped at each step of what it writes or out of room there, and then repeated."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from karat.testing import FakeLLM

KILLED = 137
SOME = {"index": (0.93,), "run": (0.6,)}
"""Where plain runs of the tests stop a command, as shares of its steps."""
MANY = [share / 6 for share in range(7)]
"""Where those marked slow stop each of them. With KARAT_EVERY_STEP set they stop at every step, which takes an hour."""
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
            ("testset", "make", "x.index", "--samples", "1", "--kinds", "literal", *model, "-o", "new.jsonl"),
        ],
        "judge": [("run", "-q"), ("judge", "-q", "-m", "Responsiveness", *model)],
        "calibrate": [("run", "-q"), ("judge", "calibrate", "LAST", "labels.csv", "-o", "found.json", "-q")],
    }

    def run(name, steps):
        *before, words = commands[name]
        for earlier in before:
            assert process(*earlier).code == 0
        alone = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS")}
        done = subprocess.run(
            [sys.executable, str(Path(__file__).with_name("interrupting.py"))],
            input=json.dumps({"folder": str(folder), "words": words, "steps": steps}),
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
EACH = [pytest.param(name, steps, id=f"{name}-some") for name, steps in SOME.items()]
EVERY = None if os.environ.get("KARAT_EVERY_STEP") else MANY
EACH += [pytest.param(name, EVERY, id=f"{name}-many", marks=pytest.mark.slow) for name in WRITTEN]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "steps"), EACH)
def test_stopped_at_a_step_or_out_of_room_a_command_can_be_repeated_as_if_undisturbed(trials, name, steps):
    found = trials(name, steps)
    assert WRITTEN[name] in found["same"]
    assert [trial for trial in found["trials"] if not (stopped_well(trial) and repeated_well(name, trial))] == []


def stopped_well(trial):
    """It was killed; or it said in one sentence that there is no room, where that came between."""
    if trial["mode"] == "kill" or trial["code"] == 0:
        return trial["code"] == (KILLED if trial["mode"] == "kill" else 0)
    sentences = [line for line in trial["said"].splitlines() if line.startswith("karat: ")]
    told = len(sentences) == 1 and ("No space left on device" in sentences[0] or "disk is full" in sentences[0])
    return trial["code"] == 2 and told


def repeated_well(name, trial):
    """It ended as if nothing had been, or had nothing left to do."""
    complete = name == "generate" and "exists, and nothing is overwritten unasked" in trial["said_again"]
    return trial["again"] == (2 if complete else 0) and not trial["differ"]
