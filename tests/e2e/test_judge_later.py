"""karat judge on what a run has stored: what failed stays failed, contexts stay, notes, models and budgets are true."""

import json
import re

import polars as pl
import pytest

from karat.experiment.store import runs_in
from karat.testing import FakeLLM

ROWS = [
    {"id": "q1", "question": "How long is the warranty?", "gold": [{"doc": "a"}], "answers": ["Two years."]},
    {"id": "q2", "question": "How long does shipping take?", "gold": [{"doc": "b"}], "answers": ["Five days."]},
]
SPEC = """\
name: shop
testset: qa.jsonl
systems: [{name: mine, results: mine.jsonl}]
measures: [TokenF1, "Responsiveness(by=heuristic)", "Faithfulness(by=heuristic)", "ContextRelevance(by=heuristic)"]
outputs: [csv]
"""
HEURISTIC = [f"{name}(by=heuristic)" for name in ("Responsiveness", "Faithfulness", "ContextRelevance")]
FULLY = '{"reason": "r", "grade": "fully"}'


@pytest.fixture
def shop(put, folder):
    hit = {"id": "a", "text": "The warranty lasts two years.", "score": 1.0}
    put("qa.jsonl", ROWS)
    put("mine.jsonl", [
        {"id": "q1", "answer": "It lasts two years.", "retrieved": [hit]}, {"id": "q2", "error": "boom"},
    ])  # fmt: skip
    put("karat.yaml", SPEC)
    return folder


def last(folder):
    return runs_in(folder / "runs")[-1]


def scores(folder, names):
    rows = pl.read_parquet(last(folder).path / "rows.parquet").to_dicts()
    return [[(row[name], row[f"{name}.status"], row[f"{name}.reason"]) for name in names] for row in rows]


def test_what_the_run_scored_is_scored_the_same_later(shop, karat):
    assert karat("run", "-q").code == 5
    before = scores(shop, ["TokenF1", *HEURISTIC])
    assert before[1] == [(None, "failed", "boom")] * 4
    assert karat("judge", "-q", "-m", "TokenF1", *(word for name in HEURISTIC for word in ("-m", name))).code == 5
    assert scores(shop, ["TokenF1", *HEURISTIC]) == before


def test_the_notes_name_who_judged_last_and_what_failed(shop, karat):
    assert karat("run", "-q").code == 5
    with FakeLLM(FULLY) as llm, FakeLLM("no") as lame:
        for model, place in (("lame", lame), ("good", llm)):
            told = karat("judge", "-m", "Responsiveness", "--model", model, "--base-url", place.base_url)
            assert told.code == 5
            notes = told.out.partition("\nNotes\n")[2]
            assert notes.count("was judged by") == 1
            assert f"Responsiveness was judged by {model}" in notes
            failed = "2 of 2 questions failed" if model == "lame" else "1 of 2 questions failed"
            assert notes.count("failed rows") == 1
            assert failed in notes


def test_the_model_the_budget_and_the_repeats_of_the_spec_hold(shop, karat, put):
    with FakeLLM(FULLY) as llm:
        about = f"model: {{name: m, base_url: '{llm.base_url}'}}\njudge_repeat: 2\nbudgets: {{max_calls: 1}}\n"
        put("karat.yaml", SPEC + about)
        assert karat("run", "-q").code == 5
        assert karat("judge", "-m", "Responsiveness", "-q").code == 5
        assert llm.count == 1
        assert karat("judge", "-m", "Responsiveness", "-q", "--max-calls", "0", "--repeat", "1").code == 5
        assert llm.count == 1
        assert karat("judge", "-m", "Responsiveness", "-q", "--max-calls", "9", "--repeat", "3").code == 5
        assert llm.count == 3
    kept = [json.loads(line) for line in (last(shop).path / "judgements.jsonl").read_text().splitlines()]
    assert [row["repeats"] for row in kept if row["measure"] == "Responsiveness"] == [[1.0, 1.0, 1.0]]
    assert [spent["calls"] for spent in last(shop).manifest["models"]] == [1, 0, 2]


def test_limits_without_a_model_are_refused(shop, karat):
    assert karat("run", "-q").code == 5
    for option in ("--max-calls", "--jobs"):
        told = karat("judge", "-m", "Responsiveness(by=heuristic)", option, "3")
        assert told.code == 2
        assert option in told.sentence


def test_the_tamper_test_says_what_it_takes_and_keeps_its_calls(shop, karat):
    assert karat("run", "-q").code == 5
    words = ("judge", "--tamper-test", "-m", "Responsiveness", "--model", "m")
    with FakeLLM(FULLY) as llm:
        told = karat(*words, "--base-url", llm.base_url)
        assert told.code == 0, told.err
        assert "asking m" in told.err
        assert "It hardly tells good from bad" in " ".join(told.out.split())  # it says the same of everything
        asked = llm.count
        assert karat(*words, "--base-url", llm.base_url).out == told.out
        assert llm.count == asked
        assert karat(*words, "--base-url", llm.base_url, "--repeat", "3").code == 2
    with FakeLLM("no") as lame:
        assert karat(*words, "--base-url", lame.base_url).code == 5


def test_a_measure_that_is_not_of_answers_is_refused(shop, karat):
    assert karat("run", "-q").code == 5
    told = karat("judge", "-m", "Faithfulness(by=heuristic)", "-m", "nDCG@10")
    assert told.code == 2
    assert "nDCG@10 is no measure of answers" in told.sentence


def test_what_was_spent_adds_up_and_judgements_that_a_retry_drops_are_told(shop, karat, put):
    with FakeLLM(FULLY) as llm:
        put("karat.yaml", f"{SPEC}judge: [Responsiveness]\nmodel: {{name: m, base_url: '{llm.base_url}'}}\n")
        assert karat("run", "-q").code == 5
        assert karat("judge", "-q", "-m", "ContextRelevance", "-m", "Responsiveness").code == 5
        told = karat("run", "--retry-errors")
    spent = [one["calls"] for one in last(shop).manifest["models"]]
    assert spent == [1, 2, 0]  # FULLY is no grade of a context, and is sent back
    notes = " ".join(told.out.partition("\nNotes\n")[2].split())
    assert "ContextRelevance was judged later, by karat judge" in notes
    again = karat("run", "--retry-errors")
    assert "judged later" not in again.out


@pytest.mark.parametrize("leak", ["key_env: hf_hunter2hunter2hunter2", "extra: {headers: {api_key: hunter2}}"])
def test_a_key_in_the_wrong_place_is_refused_before_anything_is_written(shop, karat, put, leak):
    put("karat.yaml", f"{SPEC}judge: [Responsiveness]\nmodel: {{name: m, base_url: 'http://127.0.0.1:1/v1', {leak}}}\n")
    told = karat("run")
    assert told.code == 2
    assert "karat.yaml line" in told.sentence
    assert "hunter2" not in told.out + told.err
    assert not (shop / "runs").exists()


def test_systems_judged_one_after_the_other_stand_together_if_the_judge_is_the_same(shop, karat, put):
    put("other.jsonl", [{"id": "q1", "answer": "Two years."}, {"id": "q2", "answer": "Five days."}])
    put(
        "karat.yaml", SPEC.replace("{name: mine, results: mine.jsonl}", "{results: mine.jsonl}, {results: other.jsonl}")
    )
    assert karat("run", "-q").code == 5
    with FakeLLM(FULLY) as llm:
        for system, model, both in (("mine", "a", False), ("other", "a", True), ("mine", "b", False)):
            options = ("--system", system, "--model", model, "--base-url", llm.base_url)
            karat("judge", "-m", "Responsiveness", "-q", *options)
            rows = pl.read_parquet(last(shop).path / "rows.parquet")
            found = dict(rows.filter(pl.col("question_id") == "q1").select("system", "Responsiveness").iter_rows())
            assert found[system] == 1.0
            assert (found["mine"] == found["other"] == 1.0) is both


@pytest.mark.slow
def test_from_python_a_finished_run_is_judged_and_returned(shop):
    import karat

    done = karat.run(runs_dir="runs")
    with FakeLLM(FULLY) as llm:
        chat = {"model": "m", "base_url": llm.base_url, "max_calls": 9}
        judged = karat.judge(done, "Responsiveness", chat=chat)
        assert llm.count == 1
    assert judged.mean("Responsiveness", allow_incomplete=True) == 1.0
    assert "Responsiveness" in str(judged)
    again = karat.gate("LAST", "Responsiveness >= 1", runs_dir="runs", allow_incomplete=True)
    assert [verdict.outcome for verdict in again.verdicts] == ["pass"]
    for run in (str(last(shop).path), last(shop).path, last(shop)):
        assert karat.judge(run, "TokenF1", runs_dir="runs").mean("TokenF1", allow_incomplete=True) > 0
    with pytest.raises(karat.KaratError, match=r"in no folder\. Give a run"):
        karat.judge(karat.score(ROWS, "mine.jsonl", measures="TokenF1"), "TokenF1")


@pytest.mark.slow
def test_outcomes_by_sufficiency_are_shown_later_and_cost_nothing_again(shop, karat):
    assert karat("run", "-q").code == 5
    told = karat("judge", "-m", "CRAG, ContextSufficient, eRAG@3")
    assert "Outcomes by sufficiency of the contexts" in told.out
    assert "mine    sufficient" in told.out
    told = json.loads(karat("judge", "-m", "CRAG, ContextSufficient", "--json").out)
    (table,) = told["outcomes"]
    assert [(row["sufficient"], row["n"]) for row in table["rows"]] == [(True, 1), (False, 0)]
    assert "Outcomes by sufficiency" in karat("show", "LAST").out
    assert "Selective accuracy" in karat("show", "LAST").out
    with FakeLLM("It lasts two years [1].") as llm:
        model = ("--model", "m", "--base-url", llm.base_url)
        assert karat("judge", "-q", "-m", "eRAG(by=chat)@3", *model).code == 5  # the row that failed
        assert karat("judge", "-q", "-m", "eRAG(by=chat, of=Hit)@3", *model).code == 5
        assert llm.count == 1
    names = ["eRAG@3", "eRAG(by=chat)@3", "eRAG(of=Hit, by=chat)@3"]
    assert [value for value, *_ in scores(shop, names)[0]] == [1.0, 1.0, 1.0]


def test_a_calibration_is_refused_for_another_model(folder, put, karat):
    """Eight answers that the fake judge grades by their number, labelled, and judged again by another model."""
    grades = ("fully", "mostly", "barely", "not")

    def reply(request):
        number = int(re.search(r"Answer number (\d)", request.body["messages"][-1]["content"])[1])
        return json.dumps({"reason": "r", "grade": grades[number % 4]})

    ids = [f"q{i}" for i in range(8)]
    put("qa.jsonl", [{"id": i, "question": f"What is {i}?", "gold": [{"doc": i}], "answers": ["It."]} for i in ids])
    put("mine.jsonl", [
        {"id": i, "answer": f"Answer number {n}.", "retrieved": [{"id": i, "text": "t", "score": 1.0}]}
        for n, i in enumerate(ids)
    ])  # fmt: skip
    put("karat.yaml", SPEC)
    put("labels.csv", "id,measure,label\n" + "".join(f"{i},Responsiveness,{n % 4 < 2:d}\n" for n, i in enumerate(ids)))
    assert karat("run", "-q").code == 0
    with FakeLLM(reply) as llm:
        words = ("judge", "-q", "-m", "Responsiveness", "--base-url", llm.base_url, "--model")
        assert karat(*words, "first").code == 0
        assert karat("judge", "calibrate", "LAST", "labels.csv", "-q", *words[2:4], "-o", "c.json").code == 0
        told = karat("judge", "calibrate", "LAST", "c.json", "--json")
        (one,) = json.loads(told.out)["measures"]
        assert (one["judge"]["model"], one["judge"]["prompt"]) == ("first", "responsiveness/1")
        assert len(one["judge"]["prompt_digest"]) == 16
        assert one["systems"][0]["mean"] == pytest.approx(0.5)
        assert karat(*words, "second").code == 0
        refused = karat("judge", "calibrate", "LAST", "c.json")
    assert refused.code == 2
    digest = one["judge"]["prompt_digest"]
    assert f"is of Responsiveness by first (prompt responsiveness/1, {digest})" in refused.sentence
    assert f"was judged by second (prompt responsiveness/1, {digest})" in refused.sentence
