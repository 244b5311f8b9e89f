"""A chat model that rewrites questions, reranks hits and answers, over HTTP: karat search, explain and run."""

import json

import polars as pl
import pytest

from karat.experiment.store import runs_in
from karat.testing import FakeLLM, Fault

PASSAGES = {
    "watch": "The night watch lasts four hours and is kept by two people.",
    "fuel": "Each tank holds 42,000 litres of fuel and is dipped every Monday.",
    "radio": "The radio room answers to the call name Lantern at all hours.",
    "power": "Three generators give electricity: Asta, Brun and Cille.",
}
QUESTIONS = [("How long is the night watch?", "watch"), ("Who is on the air?", "radio"), ("Broken question", "fuel")]
KEY = "sk-very-secret-0123456789"
SPEC = """\
name: station
corpus: corpus.jsonl
testset: qa.jsonl
chunk: whole
engines: [bm25]
systems:
  - {{engine: bm25}}
  - {{engine: bm25, rewrite: [hyde]}}
  - {{engine: bm25, rewrite: [translate:de], rerank: chat, rerank_depth: 3}}
model: {{name: fake, base_url: "{url}", retries: 0}}
answer: {{by: chat, contexts: 2, systems: [bm25+hyde]}}
k: [1]
main: Hit@1
measures: [Hit@1]
outputs: [csv]
"""


def reply(request):
    """What the model says, by what it is asked."""
    if "Broken" in request.user:
        return Fault("bad_request")
    if request.system.startswith("You grade"):
        at = request.user.partition("Lantern")[0].rpartition("<<<passage ")[2].partition(" ")[0]
        return json.dumps({"grades": [{"passage": int(at) if at.isdigit() else 1, "grade": 9}]})
    if request.system.startswith("You answer"):
        return "Lantern [1]." if "Lantern" in request.user else "The contexts do not say."
    return "The radio room answers to a call name." if "air" in request.user else "The night watch"


@pytest.fixture
def station(put, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    put("corpus.jsonl", [{"id": name, "text": text} for name, text in PASSAGES.items()])
    put("qa.jsonl", [{"id": f"q{n}", "question": q, "gold": [{"doc": d}]} for n, (q, d) in enumerate(QUESTIONS)])
    with FakeLLM(reply) as llm:
        put("karat.yaml", SPEC.format(url=llm.base_url))
        yield llm


def test_search_and_explain_by_a_chat_model(station, karat, folder):
    assert karat("index", "corpus.jsonl", "-o", "i", "--chunk", "whole", "--engine", "bm25").code == 0
    model = ("--model", "fake", "--base-url", station.base_url)
    searching = ("search", "i", "Who is on the air?", "--engine", "bm25", "--rewrite", "hyde", "-k", "1")
    told = karat(*searching, "--json", *model)
    assert told.code == 0, told.err
    found = json.loads(told.out)
    assert found["system"] == "bm25+hyde"
    assert found["queries"][1] == "The radio room answers to a call name."
    assert karat(*searching).sentence.startswith(
        "bm25+hyde asks a chat model, and none is named. Name one with --model"
    )
    plain = ("search", "i", "radio", "--engine", "bm25", *model)
    assert karat(*plain).sentence.startswith("--model is for --rewrite rephrase, hyde or translate, and for --rerank")
    broken = karat("search", "i", "Broken question", "--engine", "bm25", "--rewrite", "rephrase", *model)
    assert broken.code == 2
    assert broken.sentence.startswith("rephrase: ")
    many = ("search", "i", "--questions", "qa.jsonl", "-o", "hits.jsonl", "--engine", "bm25", "--rerank", "chat")
    told = karat(*many, "--rewrite", "hyde", *model, "--calls", "calls.sqlite")
    assert told.code == 5
    assert "1 of 3 questions failed: hyde: " in told.err
    rows = {row["id"]: row for row in map(json.loads, (folder / "hits.jsonl").read_text().splitlines())}
    assert rows["q2"]["status"] == "failed"
    assert rows["q1"]["retrieved"][0]["id"] == "radio"
    told = karat(
        "search", "i", "--questions", "qa.jsonl", "--explain", "q1", "--engine", "bm25", "--rewrite", "hyde", *model
    )
    assert told.code == 0, told.err
    assert "The radio room answers to a call name." in told.out


@pytest.mark.slow
def test_a_run_by_a_chat_model_has_failed_rows_and_asks_only_those_again(station, karat, folder):
    told = karat("run")
    assert told.code == 5, told.err
    (made,) = runs_in(folder / "runs")
    rows = pl.read_parquet(made.path / "rows.parquet").to_dicts()
    found = {(row["system"], row["question_id"]): (row["Hit@1"], row["Hit@1.status"]) for row in rows}
    reranked = "bm25+translate:de+rerank:chat"
    assert found["bm25+hyde", "q1"] == (1.0, "ok")
    assert found[reranked, "q1"][1] == found["bm25", "q2"][1] == "ok"
    assert found["bm25+hyde", "q2"] == found[reranked, "q2"] == (None, "failed")
    reason = next(r["reason"] for r in rows if (r["system"], r["question_id"]) == ("bm25+hyde", "q2"))
    assert reason.startswith("hyde: ")
    answers = {row["id"]: row for row in map(json.loads, (made.path / "answers.jsonl").read_text().splitlines())}
    assert set(answers) == {"q0", "q1", "q2"}
    assert (answers["q2"]["error"].partition(": ")[0], answers["q2"].get("answer")) == ("hyde", None)
    assert (answers["q1"]["answer"], answers["q1"]["context_ids"]) == ("Lantern [1].", ["radio"])
    asked = station.count
    assert karat("run", "--retry-errors").code == 5
    again = station.requests[asked:]
    assert again
    assert all("Broken" in request.user for request in again)
    for path in folder.rglob("*"):
        assert not path.is_file() or KEY.encode() not in path.read_bytes(), path
