"""Answers, judgements and test sets by batches, from the command line, from karat.yaml and from Python."""

import json
import signal
import subprocess
import sys
import time

import pytest

import karat as api
from karat.core.errors import UsageError
from karat.experiment.store import runs_in
from karat.models.chat import Calls
from karat.testing import BatchScript, FakeLLM

SPEC = """\
name: station
corpus: corpus.jsonl
testset: qa.jsonl
chunk: whole
systems: [pure_sparse]
k: [3]
main: MRR
outputs: [csv]
"""
PASSAGES = {
    "watch": "The night watch lasts four hours and is kept by two people.",
    "fuel": "Each tank holds 42,000 litres of fuel and is dipped every Monday.",
    "radio": "The radio room answers to the call name Lantern at all hours.",
}
QUESTIONS = {
    "watch": "How long does the night watch last?",
    "fuel": "How much fuel does a tank hold?",
    "radio": "What is the call name of the radio room?",
}
KEY = "sk-a-key-that-must-stand-nowhere"
PRICES = ("--price-in", "1", "--price-out", "2", "--price-batch", "0.5")


@pytest.fixture
def station(put, folder):
    put("corpus.jsonl", [{"id": name, "text": text} for name, text in PASSAGES.items()])
    put("qa.jsonl", [{"id": name, "question": text, "gold": [{"doc": name}]} for name, text in QUESTIONS.items()])
    put("karat.yaml", SPEC)
    return folder


def speaks(request):
    """An answer, or the verdict of a judge whose first reply is of no use."""
    if "response_format" not in request.body:
        return "Four hours."
    return '{"reason": "r", "grade": "fully"}' if len(request.messages) > 2 else "fully"


def asking(llm):
    return ("--answer", "chat", "--model", "fake", "--base-url", llm.base_url, "--batch", *PRICES)


@pytest.mark.slow
def test_a_run_and_a_judge_by_batches_cost_what_the_replies_say(station, karat):
    with FakeLLM(speaks) as llm:
        told = karat("run", *asking(llm))
        assert told.code == 0
        assert [len(batch.bodies) for batch in llm.batches] == [3]
        assert "submitted 3 requests as batch_1" in told.err
        assert "at 0.5 of the full prices" in told.err
        judged = karat("judge", "-m", "Responsiveness")  # the batches of the run's own settings
        assert judged.code == 0
        assert [len(batch.bodies) for batch in llm.batches] == [3, 3, 3]  # judged, then repaired
        usage = [
            (sum(-(-len(m["content"].encode()) // 4) for m in r.messages), -(-len(r.reply.encode()) // 4))
            for r in llm.paid
        ]
        run = runs_in(station / "runs")[-1]
        billed = 0.5 * sum(reads * 1.0 + writes * 2.0 for reads, writes in usage) / 1e6
        assert sum(spent["cost_usd"] for spent in run.manifest["models"]) == pytest.approx(billed, abs=1e-15)
        with Calls(run.path / "calls.sqlite") as calls:
            assert sum(call.cost_usd for call in calls) == pytest.approx(billed, abs=1e-15)
        assert karat("run", *asking(llm)).code == 0
        assert len(llm.batches) == 3


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL], ids=["interrupted", "killed"])
def test_a_batch_that_is_waited_for_no_longer_is_read_later(station, karat, how):
    script = BatchScript(("in_progress",) * 3, seconds=2.0)
    with FakeLLM(speaks, batches=script) as llm:
        code = "from karat.cli.main import main; main()"
        words = ("run", *asking(llm))
        process = subprocess.Popen([sys.executable, "-c", code, *words], stderr=subprocess.PIPE, encoding="utf-8")
        try:
            while not llm.batches or not llm.batches[0].looks:
                assert process.poll() is None
                time.sleep(0.02)
            process.send_signal(how)
            said = process.communicate(timeout=60)[1]
        finally:
            process.kill()
            process.wait()
        if how == signal.SIGINT:
            assert process.returncode == 130
            assert "a batch that was submitted goes on at the server; the same command reads it\n" in said
            assert said.endswith("karat: interrupted. The same command goes on from there.\n")
        refused = karat(*(word for word in words if word != "--batch"))
        assert refused.code == 2
        assert "3 prompts of 3 went into a batch whose replies were not read yet. Add --batch" in refused.err
        told = karat(*words)
        assert told.code == 0
        assert "reading batch_1: 3 requests, submitted 2" in told.err
        assert (len(llm.batches), len(llm.paid)) == (1, 3)


def test_what_expired_is_a_failed_row_that_retry_errors_mends(station, karat):
    scripts = [BatchScript(end="expired", answered=0.34), BatchScript(end="expired", answered=0), BatchScript()]
    with FakeLLM(lambda request: f"About {request.user[-30:]}", batches=scripts) as llm:
        told = karat("run", *asking(llm))
        assert told.code == 5
        assert "completion window expired" in told.out
        assert karat("run", *asking(llm), "--retry-errors").code == 0
        assert [len(batch.bodies) for batch in llm.batches] == [3, 2, 2]
        assert len(llm.paid) == 3


@pytest.mark.slow
def test_karat_yaml_names_a_batch_and_the_command_line_can_leave_it(station, karat, put):
    with FakeLLM(speaks) as llm:
        model = f"model: {{name: fake, base_url: '{llm.base_url}', batch: true}}\nanswer: chat\n"
        put("karat.yaml", SPEC + model)
        assert karat("run", "-q").code == 0
        assert len(llm.batches) == 1
        put("karat.yaml", SPEC.replace("k: [3]", "k: [2]") + model.replace("fake", "other"))
        assert karat("run", "-q", "--no-batch").code == 0
        assert len(llm.batches) == 1
        assert len(llm.paid) == 6
        put("karat.yaml", SPEC + model.replace("true", "often"))
        assert "batch" in karat("run").sentence


@pytest.mark.slow
def test_a_score_by_batches_needs_a_file_of_calls(station, karat, put):
    put("mine.jsonl", [{"id": name, "answer": "Four hours.", "retrieved": [name]} for name in QUESTIONS])
    with FakeLLM('{"reason": "r", "grade": "fully"}') as llm:
        words = ("score", "qa.jsonl", "mine.jsonl", "-m", "Responsiveness", "--model", "m", "--base-url", llm.base_url)
        assert "--calls FILE" in karat(*words, "--batch").sentence
        assert karat(*words, "--batch", "--calls", "calls.sqlite").code == 0
        assert [len(batch.bodies) for batch in llm.batches] == [3]
        chat = {"model": "m", "base_url": llm.base_url, "batch": True, "calls": "calls.sqlite"}
        report = api.score("qa.jsonl", "mine.jsonl", measures="Responsiveness", chat=chat)
        assert report.mean("Responsiveness") == 1.0
        assert len(llm.batches) == 1
        with pytest.raises(UsageError, match="--batch is for a chat model, and none is named"):
            api.score("qa.jsonl", "mine.jsonl", chat={"batch": True})


def test_the_estimate_of_a_dry_run_says_how_it_counts(station, karat):
    with FakeLLM(speaks) as llm:
        words = ("run", *asking(llm), "--dry-run")
        assert "in batches" in karat(*words).out
        assert "--price-batch says" in karat(*(word for word in words if word not in ("--price-batch", "0.5"))).out
        assert (llm.count, llm.batches) == (0, [])


@pytest.mark.slow
def test_the_record_of_a_batch_stands_in_the_file_of_calls_without_the_key(station, karat, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with FakeLLM(speaks) as llm:
        told = karat("run", *asking(llm))
        assert {request.headers["Authorization"] for request in llm.requests} == {
            "Bearer sk-a-key-that-must-stand-nowhere"
        }
    with Calls(station / "runs" / "calls.sqlite") as calls:
        ((state, batch_id, requests),) = calls.rows("SELECT state, batch_id, requests FROM batches")
        assert (state, batch_id, requests) == ("completed", "batch_1", 3)
        assert calls.rows("SELECT count(*) FROM batch_requests") == [(0,)]
    files = [path for path in station.rglob("*") if path.is_file()]
    assert len(files) > 5
    assert not any(KEY.encode() in path.read_bytes() for path in files)
    assert KEY not in told.out + told.err + json.dumps(llm.batches[0].bodies)
