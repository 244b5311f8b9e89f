"""answer.limit of karat.yaml: who is answered, what stands for the others, and what a judge is asked later."""

import json

import polars as pl
import pytest

from karat.experiment.store import runs_in
from karat.testing import FakeLLM

TOPICS = ("watch", "fuel", "radio", "power", "water", "galley", "sledge", "lamp")
SPEC = """\
name: station
corpus: corpus.jsonl
testset: qa.jsonl
chunk: whole
systems: [balanced, pure_sparse]
answer: {by: extractive, limit: 6}
measures: [Recall@1, TokenF1, Refusal, SemanticSimilarity]
k: [1]
main: MRR
seed: 5
outputs: [csv, json]
"""
REASON = "not among the 6 questions that were answered"


@pytest.fixture
def station(put, folder):
    put("corpus.jsonl", [{"id": t, "text": f"The {t} is kept by the {t} keeper for {n} hours."}
                         for n, t in enumerate(TOPICS, 3)])  # fmt: skip
    put("qa.jsonl", [
        {"id": f"{kind}-{t}", "question": f"{ask} the {t}?", "answers": [f"the {t} keeper"], "kind": kind,
         "gold": [{"doc": t, "chunk": t}]}
        for kind, ask in (("literal", "Who keeps"), ("paraphrase", "By whom is kept"))
        for t in TOPICS
    ])  # fmt: skip
    put("karat.yaml", SPEC)
    return folder


def last(folder):
    return runs_in(folder / "runs")[-1].path


@pytest.mark.slow
def test_only_the_sample_is_answered(station, karat):
    told = karat("run")
    assert told.code == 0, told.err
    assert "6 of 16 questions were answered, a sample over kinds and over 6 pieces of gold (seed 5)." in " ".join(
        told.out.split()
    )
    rows = [json.loads(line) for line in (last(station) / "answers.jsonl").read_text().splitlines()]
    by_system = {}
    for row in rows:
        by_system.setdefault(row["system"], []).append(row["id"])
    assert {name: len(ids) for name, ids in by_system.items()} == {"balanced": 6, "pure_sparse": 6}
    asked = set(by_system["balanced"])
    assert asked == set(by_system["pure_sparse"])
    assert len({qid.partition("-")[2] for qid in asked}) == 6
    results = json.loads((last(station) / "results.json").read_text())
    for system in results["systems"]:
        assert system["answers"]["answers"] == 6
        assert system["answers"]["empty"] == 0
        for question in system["questions"]:
            assert question["scores"]["Recall@1"] is not None
            for measure in ("TokenF1", "Refusal", "SemanticSimilarity"):
                if question["id"] in asked:
                    assert question["reasons"].get(measure) != REASON
                else:
                    assert (question["scores"][measure], question["reasons"][measure]) == (None, REASON)
        assert system["summary"]["TokenF1"]["n"] == 6
        assert system["summary"]["TokenF1"]["n_undefined"] == 10
        assert system["summary"]["Recall@1"]["n"] == 16
        if "refusals" in system["answers"] and system["answers"]["refusals"]:
            assert system["answers"]["refusals"]["declined"] <= 6
    summary = pl.read_csv(last(station) / "summary.csv")
    assert not summary.is_empty()


@pytest.mark.slow
def test_the_same_answers_as_without_a_limit(station, karat, put):
    """What is answered is answered alike, and the floor of a similarity counts only what was answered."""
    karat("run")
    few = json.loads((last(station) / "results.json").read_text())["systems"][0]
    put("karat.yaml", SPEC.replace(", limit: 6", ""))
    karat("run")
    all_ = json.loads((last(station) / "results.json").read_text())["systems"][0]
    whole = {q["id"]: q for q in all_["questions"]}
    for question in few["questions"]:
        if question["answer"] is not None:
            assert question["answer"] == whole[question["id"]]["answer"]
            assert question["scores"]["TokenF1"] == whole[question["id"]]["scores"]["TokenF1"]
    assert all_["summary"]["TokenF1"]["n"] == 16


@pytest.mark.slow
def test_a_judge_is_asked_only_about_what_was_answered(station, karat, monkeypatch):
    karat("run")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    with FakeLLM(lambda request: '{"score": 2, "reason": "it is"}') as llm:
        told = karat("judge", "LAST", "-m", "Relevance", "--model", "m", "--base-url", llm.base_url)
        assert told.code in (0, 5), told.err
        assert 0 < len({request.digest for request in llm.requests}) <= 24
        texts = " ".join(json.dumps(request.body) for request in llm.requests)
    results = json.loads((last(station) / "results.json").read_text())
    for system in results["systems"]:
        reasons = [q["reasons"].get("Relevance") for q in system["questions"]]
        assert reasons.count(REASON) == 10
    silent = [q["id"] for q in results["systems"][0]["questions"] if q["reasons"].get("Relevance") == REASON]
    assert silent
    for qid in silent:
        kind, _, topic = qid.partition("-")
        assert f"{'Who keeps' if kind == 'literal' else 'By whom is kept'} the {topic}?" not in texts


@pytest.mark.parametrize("limit", ["0", "-3", "many"])
def test_a_limit_is_a_number_of_questions(station, karat, put, limit):
    put("karat.yaml", SPEC.replace("limit: 6", f"limit: {limit}"))
    assert "answer.limit" in karat("run").sentence.replace(" ", "") or "limit" in karat("run").sentence
