"""karat run with answers and judges: offline, by a chat server that misbehaves, by a function; and karat judge."""

import json
import re

import polars as pl
import pytest

from karat.experiment.store import runs_in
from karat.results.serial import load_study
from karat.testing import FakeLLM, Fault

PASSAGES = {
    "watch": "The night watch lasts four hours and is kept by two people.",
    "fuel": "Each tank holds 42,000 litres of fuel and is dipped every Monday.",
    "radio": "The radio room answers to the call name Lantern at all hours.",
    "power": "Three generators give electricity: Asta, Brun and Cille.",
    "water": "Snow is melted for drinking; a wash may take three minutes.",
    "galley": "Hot meals are served at seven, at noon and at half past six.",
}
QUESTIONS = [
    ("How long does the night watch last?", "watch", "four hours"),
    ("How much fuel does a tank hold?", "fuel", "42,000 litres"),
    ("What is the call name of the radio room?", "radio", "Lantern"),
    ("Which generators give electricity?", "power", "Asta, Brun and Cille"),
    ("How long may a wash take?", "water", "three minutes"),
    ("Who won the chess tournament of 1987?", None, None),
]
SPEC = """\
name: station
corpus: corpus.jsonl
testset: qa.jsonl
chunk: whole
systems: [balanced, pure_sparse]
k: [1, 3]
main: MRR
outputs: [csv]
"""
KEY = "sk-a-key-that-must-stand-nowhere"
ANSWERING = """
def answer(question, contexts):
    if "fuel" in question:
        raise ValueError("no fuel")
    return contexts[0] if contexts else None
"""


@pytest.fixture
def station(put, folder):
    put("corpus.jsonl", [{"id": name, "text": text} for name, text in PASSAGES.items()])
    rows = [
        {"id": f"q{n}", "question": q, "gold": [{"doc": d}], "answers": [a]}
        if d
        else {"id": f"q{n}", "question": q, "gold": [], "answerable": False}
        for n, (q, d, a) in enumerate(QUESTIONS)
    ]
    put("qa.jsonl", rows)
    put("karat.yaml", SPEC)
    return folder


def last(folder):
    return runs_in(folder / "runs")[-1].path


def rows_of(folder):
    return pl.read_parquet(last(folder) / "rows.parquet").to_dicts()


def answers_of(folder):
    return [json.loads(line) for line in (last(folder) / "answers.jsonl").read_text("utf-8").splitlines()]


def said(request):
    """An answer from the first context, as a model would give it."""
    return "Lantern [1]." if "call name of" in request.user else "It is so [1]."


def judged(request):
    """Replies of a judge: every claim is supported, whatever is asked."""
    return json.dumps(
        {"claims": ["It is so."], "verdicts": [{"claim": 1, "verdict": "supported", "contexts": [1], "reason": "r"}]}
    )


def test_offline_answers_are_scored_and_kept(station, karat):
    told = karat("run", "--answer", "extractive")
    assert told.code == 0, told.err
    rows = rows_of(station)
    assert len(rows) == 12
    assert {row["question_id"]: row["TokenF1"] for row in rows if row["system"] == "balanced"}["q2"] > 0
    answers = answers_of(station)
    assert {a["system"] for a in answers} == {"balanced", "pure_sparse"}
    assert all(set(a["context_ids"]) <= set(PASSAGES) and len(a["contexts"]) == len(a["context_ids"]) for a in answers)
    times = pl.read_parquet(last(station) / "times.parquet")
    assert times["seconds_answer"].null_count() == 0
    assert times["cost_usd"].null_count() == len(times)
    assert "refus" in told.out.lower()


def test_the_same_run_twice_gives_the_same_bytes(station, karat):
    for _ in range(2):
        assert karat("run", "--answer", "extractive", "--fresh", "-q").code == 0
    one, two = (run.path for run in runs_in(station / "runs"))
    for name in ("rows.parquet", "answers.jsonl", "judgements.jsonl", "summary.csv"):
        assert (one / name).read_bytes() == (two / name).read_bytes(), name


def test_a_failed_call_is_a_failed_row_and_only_that_is_asked_again(station, karat):
    down = True

    def reply(request):
        return Fault("bad_request", times=None) if down and "How much fuel" in request.user else said(request)

    with FakeLLM(reply) as llm:
        options = ("--answer", "chat", "--model", "fake", "--base-url", llm.base_url)
        told = karat("run", *options)
        assert told.code == 5, told.err
        assert "asking fake" in told.err
        failed = [row for row in rows_of(station) if row["TokenF1.status"] == "failed"]
        assert {row["question_id"] for row in failed} == {"q1"}
        assert all(row["MRR.status"] == "ok" for row in failed)
        before, down = llm.count, False
        told = karat("run", *options, "--retry-errors", "-q")
        assert told.code == 0, told.err
        assert all("How much fuel" in request.user for request in llm.requests[before:])
        assert len(runs_in(station / "runs")) == 1
        before = llm.count
        assert karat("run", *options, "--fresh", "-q").code == 0
        assert llm.count == before


@pytest.mark.slow
def test_judges_score_and_can_be_asked_later(station, karat):
    with FakeLLM(said) as llm, FakeLLM(judged) as judging:
        karat("run", "--answer", "chat", "--model", "fake", "--base-url", llm.base_url)
        before = llm.count
        told = karat("judge", "LAST", "-m", "Faithfulness", "--model", "judge", "--base-url", judging.base_url,
                     "--repeat", "2")  # fmt: skip
        assert told.code == 0, told.err + told.out
        assert llm.count == before
        rows = rows_of(station)
        assert {row["Faithfulness"] for row in rows if row["ranked"]} == {1.0}
        assert [row["Faithfulness"] for row in rows if not row["ranked"]] == [0.0]  # nothing found, yet it says so
        kept = [json.loads(line) for line in (last(station) / "judgements.jsonl").read_text("utf-8").splitlines()]
        faithful = [row for row in kept if row["measure"] == "Faithfulness"]
        assert len(faithful) == 12
        assert faithful[0]["repeats"] == [1.0, 1.0]
        assert faithful[0]["prompt"].startswith("faithfulness/")


def test_a_function_answers_and_its_failures_are_told(station, karat, put):
    put("mine.py", ANSWERING)
    told = karat("run", "--answer", "call:mine:answer")
    assert told.code == 5, told.err
    failed = [row for row in rows_of(station) if row["TokenF1.status"] == "failed"]
    assert {row["question_id"] for row in failed} == {"q1"}
    assert "no fuel" in failed[0]["TokenF1.reason"]


def test_a_budget_is_kept_and_what_was_not_asked_is_told(station, karat):
    with FakeLLM(said) as llm:
        told = karat("run", "--answer", "chat", "--model", "fake", "--base-url", llm.base_url, "--max-calls", "3")
    assert told.code == 5
    assert llm.count == 3
    reasons = {row["TokenF1.reason"] for row in rows_of(station) if row["TokenF1.status"] == "failed"}
    assert any("budget" in reason for reason in reasons)


def test_a_budget_answers_the_same_questions_for_all_systems(station, karat):
    def other(request):
        return json.dumps({"reason": "r", "grade": "fully"}) if "JSON" in request.system else said(request)

    with FakeLLM(other) as llm:
        model = ("--model", "fake", "--base-url", llm.base_url, "-j", "1")
        told = karat("run", "--answer", "chat", *model, "--max-calls", "4")
        assert told.code == 5, told.err
        assert llm.count == 4
        assert answered_questions(station, "answer") == {"balanced": ["q0", "q1"], "pure_sparse": ["q0", "q1"]}
        told = karat("run", "--answer", "chat", *model, "--retry-errors", "-q")
        assert told.code == 0, told.err
        told = karat("judge", "LAST", "-m", "Responsiveness", *model, "--max-calls", "4")
        assert told.code == 5, told.err
    judged = {}
    for row in rows_of(station):
        if row["Responsiveness.status"] == "ok":
            judged.setdefault(row["system"], []).append(row["question_id"])
    assert judged["balanced"] == judged["pure_sparse"] != []


def answered_questions(folder, field):
    """The questions of each system whose rows of answers hold a field."""
    held = {}
    for row in answers_of(folder):
        if row[field] is not None:
            held.setdefault(row["system"], []).append(row["id"])
    return held


def test_no_key_reaches_a_file_or_the_screen(station, karat, monkeypatch):
    monkeypatch.setenv("MY_KEY", KEY)

    def echo(request):
        if "How much fuel" in request.user:
            return Fault("bad_request", times=None, message=f"bad key Bearer {KEY}")
        return said(request)

    with FakeLLM(echo) as llm:
        told = karat("run", "--answer", "chat", "--model", "m", "--base-url", llm.base_url, "--key-env", "MY_KEY")
        assert told.code == 5
        assert any(KEY in str(request.headers) for request in llm.requests)
    written = [path for path in station.rglob("*") if path.is_file()]
    assert len(written) > 10
    assert [path for path in written if KEY.encode() in path.read_bytes()] == []
    assert KEY not in told.out + told.err


def test_a_wrong_key_is_one_sentence(station, karat, monkeypatch):
    monkeypatch.setenv("MY_KEY", KEY)
    with FakeLLM([Fault("unauthorized", times=None)]) as llm:
        told = karat("run", "--answer", "chat", "--model", "m", "--base-url", llm.base_url, "--key-env", "MY_KEY", "-q")
    assert told.code == 2
    assert "MY_KEY" in told.sentence
    assert KEY not in told.sentence


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--answer", "extractve"], "extractive"),
        (["--answer", "chat"], "model"),
        (["--judge", "Faithfulness", "--answer", "extractive"], "heuristic"),
        (["--judge", "TokenF1", "--answer", "extractive"], "no language model"),
        (["--base-url", "http://127.0.0.1:1/v1"], "--model"),
        (["--answer", "call:nothing"], "function"),
        (["--contexts", "0", "--answer", "extractive"], "contexts"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_done(station, karat, options, words):
    told = karat("run", *options)
    assert told.code == 2
    assert re.search(words, told.sentence, re.I), told.sentence
    assert not (station / "runs").exists()


def test_judging_a_run_without_answers_says_so(station, karat):
    karat("run", "-q")
    told = karat("judge", "LAST", "-m", "Faithfulness(by=heuristic)")
    assert told.code == 2
    assert "--answer" in told.sentence


def test_what_was_given_and_not_used_was_not_cut_by_the_budget(station, put, karat):
    put("karat.yaml", SPEC.replace("[balanced, pure_sparse]", "[pure_dense]").replace("k: [1, 3]", "k: [3]"))
    put("mine.py", "def answer(question, contexts):\n    return {'answer': 'none of it', 'used': [3]}\n")
    told = karat("run", "--answer", "call:mine:answer", "--json")
    assert told.code == 0, told.err
    assert {f["label"] for f in json.loads(told.out)["failures"]} == {"unsupported"}
    assert all(len(row["context_ids"]) == 1 for row in answers_of(station))


def test_a_dialect_has_its_measures_that_ask_a_model(station, put, karat):
    put("karat.yaml", SPEC + "dialect: momento\nmatch: doc\n")
    told = karat("run", "--answer", "reciter")
    assert told.code == 0, told.err
    assert "left out, because they need a model: CrossEncoder." in " ".join(told.out.split())
    columns = rows_of(station)[0]
    assert {f"{name}(norm=squad)" for name in ("EM", "AnswerRelevance", "SemanticSimilarity")} <= set(columns), columns


def test_answers_made_elsewhere_take_part_without_a_ranking_and_under_the_ids_of_the_test_set(station, put, karat):
    found = [
        {"question": q, "answer": a or "I do not know.", "contexts": [PASSAGES[d or "watch"]]} for q, d, a in QUESTIONS
    ]
    put("made.jsonl", found)
    put("karat.yaml", SPEC.replace("pure_sparse]", "{name: elsewhere, results: made.jsonl}]"))
    told = karat("run", "--answer", "reciter")
    assert told.code == 0, told.err
    assert "elsewhere: its hits are texts without ids: taken as contexts, not ranked." in " ".join(told.out.split())
    theirs = [row for row in rows_of(station) if row["system"] == "elsewhere"]
    assert {(row["MRR"], row["MRR.status"]) for row in theirs} == {(None, "undefined")}
    assert [row["EM"] for row in theirs] == [1, 1, 1, 1, 1, None]
    assert {row["SupportDensity"] for row in theirs[:5]} == {1.0}


def test_judging_by_nothing_names_a_measure_to_judge_by(station, karat):
    karat("run", "-q")
    assert "-m Faithfulness" in karat("judge", "LAST").sentence


def test_judging_later_renews_failures_targets_and_verdicts(station, karat, put):
    put("karat.yaml", SPEC.replace("[csv]", "[json, html]") + "measures: [MRR, Recall@3]\n")
    put("mine.py", "def answer(question, contexts):\n    return contexts[0] if contexts else ''\n")

    def not_found(request):
        return json.dumps(
            {"claims": ["A claim."], "verdicts": [{"claim": 1, "verdict": "not_found", "contexts": [], "reason": "r"}]}
        )

    assert karat("run", "--answer", "call:mine:answer", "-q").code == 0
    before = load_study(last(station))
    assert not [f for f in before.failures if "Faithfulness" in f.detail]
    page = (last(station) / "report.html").read_text("utf-8")
    with FakeLLM(not_found) as llm:
        model = ("--model", "judge", "--base-url", llm.base_url)
        assert karat("judge", "LAST", "-m", "Faithfulness", *model, "-q").code == 0
    after = load_study(last(station))
    judged = [f for f in after.failures if f.detail.startswith("Faithfulness is 0.00")]
    lost = {f for f in before.failures if f.label in ("gold_not_in_corpus", "not_in_pool", "below_k", "lost_in_fusion")}
    assert {f.label for f in judged} == {"unsupported"}
    assert lost <= set(after.failures)
    for system in ("balanced", "pure_sparse"):
        counted = {c.label: set(c.questions) for c in after.failure_counts if c.system == system}
        held = {f.question for f in after.failures if f.system == system and f.label == "unsupported"}
        assert counted["unsupported"] == held >= {f.question for f in judged if f.system == system} != set()
    shown = json.loads((last(station) / "results.json").read_text("utf-8"))
    assert '"failure": "unsupported"' in json.dumps(shown)
    assert (last(station) / "report.html").read_text("utf-8") != page
    assert all("Faithfulness" not in line for line in before.evaluation.verdicts.values())
    assert all("Faithfulness" in line for line in after.evaluation.verdicts.values())
    again = karat("judge", "LAST", "-m", "Faithfulness(by=heuristic)", "--system", "balanced", "-q")
    assert again.code == 0, again.err
    assert load_study(last(station)).failures == after.failures
