"""Claims end to end: judged once, stored beside the run, corrected, imported, and told beforehand what they cost."""

import csv
import json
import subprocess
import sys
import time

import polars as pl
import pytest
from claims_judge import SPLIT, asked_of, judge

from karat.experiment.store import runs_in
from karat.testing import FakeLLM, Fault

ROWS = [
    {"id": "q1", "question": "What is oil?", "gold": [{"doc": "a"}], "answers": ["Oil is black. Oil is thick."]},
    {"id": "q2", "question": "What is snow?", "gold": [{"doc": "b"}], "answers": ["Snow is white."]},
]
TEXTS = ["Oil is black and wet", "Snow is white and cold"]
ANSWERS = {
    "mine": ["Oil is black. Oil is wet.", "Snow is white."],
    "other": ["Oil is black. Oil is cheap.", "[1][2]"],
}
SPEC = """\
name: shop
testset: qa.jsonl
systems: [{results: mine.jsonl}, {results: other.jsonl}]
measures: [TokenF1]
outputs: [csv]
"""
MEASURES = '''\
import numpy as np
from karat.core.measure import MeasureResult, measure


@measure(name="InPassages", stage="answer", needs_gold=False, relations=("answer by passage", "reference by passage"))
def in_passages(answered):
    """Share of the answer's claims that a passage entails."""
    table = answered.claims
    total = table.per_pair(table.of_side("answer"))
    found = table.per_pair(table.by_passages("answer"))
    failed = {pair: why for (pair, _), why in table.failed.items()}
    return MeasureResult(np.divide(found, total, out=np.full(len(total), np.nan), where=total > 0), failed=failed)
'''


@pytest.fixture
def shop(put, folder):
    put("qa.jsonl", ROWS)
    hits = [{"id": name, "text": text, "score": 1.0} for name, text in zip("ab", TEXTS, strict=True)]
    for name, answers in ANSWERS.items():
        put(f"{name}.jsonl", [
            {"id": row["id"], "answer": answer, "retrieved": hits} for row, answer in zip(ROWS, answers, strict=True)
        ])  # fmt: skip
    put("karat.yaml", SPEC)
    put("own.py", MEASURES)
    return folder


def last(folder):
    return runs_in(folder / "runs")[-1]


def scores(folder, name="ClaimPrecision"):
    rows = pl.read_parquet(last(folder).path / "rows.parquet")
    return {(row["system"], row["question_id"]): row[name] for row in rows.to_dicts()}


def by_model(llm, *more):
    return ("--model", "m", "--base-url", llm.base_url, *more)


PRECISION = {("mine", "q1"): 0.5, ("mine", "q2"): 1.0, ("other", "q1"): 0.5, ("other", "q2"): None}


@pytest.mark.slow
def test_a_claim_and_a_premise_are_judged_once_over_measures_and_repeats_of_the_command(shop, karat):
    assert karat("run", "-q").code == 0
    with FakeLLM(judge) as llm:
        told = karat("judge", "-m", "ClaimPrecision", *by_model(llm))
        assert told.code == 0, told.err
        assert scores(shop) == PRECISION
        assert "4 claims" not in told.out
        assert "5 claims, 5 verdicts by m " in told.out
        pairs = asked_of(llm)
        assert len(pairs) == len(set(pairs)) == 4  # both answers to q1 say that oil is black
        splits = [request for request in llm.requests if request.system.startswith(SPLIT)]
        assert (len(splits), llm.count) == (3, 6)
        (last(shop).path / "calls.sqlite").unlink()
        (shop / "runs" / "calls.sqlite").unlink(missing_ok=True)
        assert karat("judge", "-q", "-m", "ClaimPrecision", *by_model(llm)).code == 0
        assert llm.count == 6  # the stored table knows all
        assert karat("judge", "-q", "-m", "own:in_passages", "-m", "ClaimPrecision", *by_model(llm)).code == 0
        pairs = asked_of(llm)
        assert len(pairs) == len(set(pairs))
        assert scores(shop) == PRECISION
        assert scores(shop, "InPassages")["other", "q1"] == 0.5
        asked = llm.count
        assert karat("judge", "-q", "-m", "ClaimPrecision", "-m", "own:in_passages", *by_model(llm)).code == 0
        assert llm.count == asked
    stored = pl.read_parquet(last(shop).path / "claims.parquet")
    assert stored.filter(pl.col("premise") != "")["key"].n_unique() == len(pairs)
    assert stored["judge"].unique().str.contains(r"^(m [0-9a-f]{8}|)$").all()


@pytest.mark.slow
def test_faults_are_got_over_and_nonsense_fails_its_rows_with_the_reason(shop, karat):
    assert karat("run", "-q").code == 0
    with FakeLLM(judge, faults=0.4) as llm:
        assert karat("judge", "-q", "-m", "ClaimPrecision", *by_model(llm)).code == 0
        assert llm.count > 6
    assert scores(shop) == PRECISION

    def confused(request):
        return "Well, hard to say." if "Snow" in request.user else judge(request)

    with FakeLLM(confused) as llm:
        told = karat("judge", "-m", "ClaimPrecision", "--model", "weak", "--base-url", llm.base_url)
        assert told.code == 5
    rows = pl.read_parquet(last(shop).path / "rows.parquet").to_dicts()
    status = {(row["system"], row["question_id"]): row["ClaimPrecision.status"] for row in rows}
    assert status == {**dict.fromkeys(PRECISION, "ok"), ("mine", "q2"): "failed", ("other", "q2"): "undefined"}
    (reason,) = [row["ClaimPrecision.reason"] for row in rows if row["ClaimPrecision.status"] == "failed"]
    assert "the reply holds no JSON object" in reason


@pytest.mark.parametrize("broken", ['{"verdicts": []}', '{"verdicts": [{"claim": 1, "verdict": "maybe"}]}', "{}"])
def test_a_judge_that_leaves_claims_out_gives_failed_rows_never_a_verdict(shop, karat, broken):
    assert karat("run", "-q").code == 0
    with FakeLLM(lambda request: judge(request) if request.system.startswith(SPLIT) else broken) as llm:
        assert karat("judge", "-q", "-m", "ClaimPrecision", *by_model(llm)).code == 5
    assert set(scores(shop).values()) == {None}
    assert set(pl.read_parquet(last(shop).path / "claims.parquet")["verdict"]) == {"failed", None}


def test_a_budget_ends_it_and_more_budget_goes_on_from_there(shop, karat):
    assert karat("run", "-q").code == 0
    with FakeLLM(judge) as llm:
        assert karat("judge", "-q", "-m", "ClaimPrecision", *by_model(llm, "--max-calls", "4", "-j", "1")).code == 5
        assert llm.count == 4
        some = [value for value in scores(shop).values() if value is not None]
        assert 0 < len(some) < 3
        assert karat("judge", "-q", "-m", "ClaimPrecision", *by_model(llm)).code == 0
        assert llm.count == 6
    assert scores(shop) == PRECISION


@pytest.mark.slow
def test_killed_in_the_middle_it_goes_on_without_asking_again(shop, karat):
    assert karat("run", "-q").code == 0
    stops = [True]

    def answered():
        return [request.digest for request in llm.requests if request.answered]

    with FakeLLM(judge, faults=lambda _: Fault("hang") if stops[0] and len(answered()) >= 4 else None) as llm:
        words = ["judge", "-q", "-m", "ClaimPrecision", *by_model(llm, "-j", "1")]
        code = "from karat.cli.main import main; main()"
        with subprocess.Popen([sys.executable, "-c", code, *words], cwd=shop) as process:
            begun = time.monotonic()
            while llm.count < 5 and time.monotonic() - begun < 60:
                time.sleep(0.02)
            process.kill()
        assert len(answered()) == 4
        assert not (last(shop).path / "claims.parquet").exists()
        stops[0] = False
        assert karat(*words).code == 0
        assert len(answered()) == len(set(answered())) == 6
    assert scores(shop) == PRECISION


@pytest.mark.slow
def test_the_dry_run_tells_pairs_tokens_and_price_and_asks_and_writes_nothing(shop, karat):
    assert karat("run", "-q").code == 0
    before = {path: path.stat().st_mtime_ns for path in (shop / "runs").rglob("*")}
    priced = ("--price-in", "1", "--price-out", "2")
    with FakeLLM(judge) as llm:
        told = karat("judge", "-m", "ClaimPrecision", "--dry-run", *by_model(llm, *priced))
        assert told.code == 0, told.err
        assert told.out.startswith("2 questions, 2 systems; nothing was run. 4 pairs of claim and premise to judge")
        assert "judge claims: claims: asking m 3 times" in told.out
        assert "judge claims: verdicts: asking m 3 times" in told.out
        assert " USD at most" in told.out
        planned = json.loads(karat("judge", "-m", "ClaimPrecision", "--dry-run", "--json", *by_model(llm, *priced)).out)
        assert (planned["calls"], planned["claim_pairs"], llm.count) == (6, 4, 0)
        read, written = planned["prompt_tokens"], planned["completion_tokens_most"]
        assert planned["cost_usd_most"] == pytest.approx((read + 2 * written) / 1e6)
        assert {path: path.stat().st_mtime_ns for path in (shop / "runs").rglob("*")} == before
        assert karat("judge", "-q", "-m", "ClaimPrecision", *by_model(llm)).code == 0
        assert llm.count == 6
        told = karat("judge", "-m", "ClaimPrecision", "--dry-run", *by_model(llm))
        assert "0 pairs of claim and premise" in told.out
        assert "No chat model is asked" in told.out
    told = karat("judge", "-m", "ClaimPrecision", "--dry-run", "--claims", "lexical")
    assert "4 pairs of claim and premise" in told.out
    assert "No chat model is asked: 0 calls" in told.out


def test_a_run_counts_claims_in_its_dry_run_and_judges_them(shop, karat, put):
    put("corpus.jsonl", [{"id": name, "text": text} for name, text in zip("ab", TEXTS, strict=True)])
    with FakeLLM(lambda request: judge(request) if "JSON" in request.system else "Oil is black.") as llm:
        put(
            "karat.yaml",
            "corpus: corpus.jsonl\ntestset: qa.jsonl\nchunk: whole\nsystems: [pure_sparse]\nk: [1]\nmain: MRR\n"
            f"outputs: [csv]\nanswer: chat\nmodel: {{name: m, base_url: '{llm.base_url}'}}\njudge: [ClaimPrecision]\n",
        )
        planned = json.loads(karat("run", "--dry-run", "--json").out)
        purposes = {one["purpose"]: one["calls"] for one in planned["purposes"]}
        assert purposes == {"answer": 2, "judge claims: claims": 2, "judge claims: verdicts": 2}
        told = karat("run")
        assert told.code == 0, told.err
        assert llm.count <= 6
        assert scores(shop) == {("pure_sparse", "q1"): 1.0, ("pure_sparse", "q2"): 0.0}
        asked = llm.count
        assert karat("judge", "-q", "-m", "ClaimPrecision").code == 0
        assert llm.count == asked


def test_a_question_is_shown_with_its_claims_and_their_verdicts(shop, karat):
    assert karat("run", "-q").code == 0
    assert karat("judge", "-q", "-m", "ContextClaimRecall", "--claims", "lexical").code == 0
    shown = " ".join(karat("show", "LAST", "q1", "--system", "mine").out.split())
    assert "ContextClaimRecall 1.0000 2 claims of the reference: 2 entailed." in shown
    assert 'entailed by context 1: "Oil is black." (holds 100% of its content words and figures)' in shown
    assert 'entailed by context 1: "Oil is thick." (holds 50% of its content words and figures)' in shown


@pytest.mark.slow
def test_corrections_win_over_what_is_stored_stay_and_are_counted(shop, karat):
    assert karat("run", "-q").code == 0
    assert karat("judge", "-q", "-m", "ClaimPrecision", "--claims", "lexical").code == 0
    before = scores(shop)
    with (last(shop).path / "claims.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    (wrong,) = [row for row in rows if row["text"] == "Oil is wet."]
    assert wrong["verdict"] == "entailed"  # half of its words are there
    wrong["verdict"] = "contradicted"
    (wet,) = [row for row in rows if row is wrong]
    with open("corrections.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, list(wet))
        writer.writeheader()
        writer.writerow(wet)
    told = karat("judge", "-m", "ClaimPrecision", "--claims", "corrections.csv")
    assert told.code == 0, told.err
    assert "1 stored verdict changed by what was given" in " ".join(told.out.split())
    assert scores(shop) == {**before, ("mine", "q1"): 0.5}
    told = karat("judge", "-m", "ClaimPrecision", "--claims", "corrections.csv")
    assert "0 stored verdicts changed" in " ".join(told.out.split())
    for judged_by in ((), ("--claims", "lexical")):
        assert karat("judge", "-q", "-m", "ClaimPrecision", *judged_by).code == 0
        assert scores(shop) == {**before, ("mine", "q1"): 0.5}
    stored = pl.read_parquet(last(shop).path / "claims.parquet").filter(pl.col("judge") == "given")
    assert stored["text"].to_list() == ["Oil is wet."]


def test_a_stored_table_that_somebody_changed_is_refused(shop, karat):
    assert karat("run", "-q").code == 0
    assert karat("judge", "-q", "-m", "ClaimPrecision", "--claims", "lexical").code == 0
    path = last(shop).path / "claims.parquet"
    pl.read_parquet(path).with_columns(verdict=pl.lit("entailed")).write_parquet(path)
    told = karat("judge", "-m", "ClaimPrecision", "--claims", "lexical")
    assert told.code == 2
    assert "its checksum differs" in told.sentence


def test_another_judge_of_one_system_takes_the_column_of_the_others_away(shop, karat):
    assert karat("run", "-q").code == 0
    for system in ("mine", "other"):
        assert karat("judge", "-q", "-m", "ClaimPrecision", "--claims", "lexical", "--system", system).code == 0
    assert scores(shop)["mine", "q2"] == 1.0
    with FakeLLM(judge) as llm:
        assert karat("judge", "-q", "-m", "ClaimPrecision", "--system", "other", *by_model(llm)).code == 0
    assert scores(shop)["mine", "q2"] is None
    assert scores(shop)["other", "q1"] == 0.5


def test_scores_by_the_lexical_rule_with_the_table_in_the_output_folder(shop, karat):
    words = ("score", "qa.jsonl", "mine.jsonl", "other.jsonl", "-m", "ClaimPrecision", "--claims", "lexical")
    told = karat(*words, "-o", "out")
    assert told.code == 0, told.err
    notes = " ".join(told.out.split())
    assert "Claims: 5 claims, 5 verdicts by lexical (4 verdicts judged now)." in notes
    assert "which see no negation" in notes
    following = told.out.rpartition("significant: karat ")[2].split()
    assert following == ["compare", "out/rows.csv", "-m", "ClaimPrecision"]
    assert karat(*following).code == 0
    assert "significant: " not in karat(*words).out
    first = (shop / "out" / "claims.parquet").read_bytes()
    assert "(5 known before)" in " ".join(karat(*words, "-o", "out").out.split())
    assert (shop / "out" / "claims.parquet").read_bytes() == first
    table = shop / "out" / "claims.csv"
    told = karat("score", "qa.jsonl", "mine.jsonl", "other.jsonl", "-m", "ClaimPrecision", "--claims", table)
    assert told.code == 0, told.err
    assert "5 verdicts by given (5 given)" in " ".join(told.out.split())


def test_what_cannot_be_is_refused_in_one_sentence(shop, karat, put):
    score = ("score", "qa.jsonl", "mine.jsonl", "-m", "ClaimPrecision")
    for words, needle in (
        (score, "ClaimPrecision needs claims and their verdicts"),
        ((*score, "--claims", "model"), "none is named. Add --model"),
        ((*score, "--claims", "lexicl"), "did you mean"),
        ((*score, "--claims", "lexical", "--claims", "model"), "names 2 judges (lexical, model)"),
        ((*score, "--claims", "lexical", "--model", "m"), "--model would change nothing"),
        ((*score, "--claims", "nli:nowhere"), "does not exist"),
        (("score", "qa.jsonl", "mine.jsonl", "-m", "TokenF1", "--claims", "lexical"), "--claims would change nothing"),
    ):
        told = karat(*words)
        assert told.code == 2, words
        assert needle in told.sentence.lower() if needle == "did you mean" else needle in told.sentence
    put("bad.csv", "system,question,side,claim,text,premise,verdict\nmine,q1,answer,1,,reference,entailed\n")
    told = karat(*score, "--claims", "bad.csv")
    assert (told.code, "without text" in told.sentence) == (2, True)


def test_from_python(shop):
    import karat

    report = karat.score("qa.jsonl", "mine.jsonl", measures="ClaimPrecision", claims="lexical")
    assert report.mean("ClaimPrecision") == 1.0
    done = karat.run(runs_dir="runs")
    judged = karat.judge(done, "ClaimPrecision", claims="lexical")
    assert judged.mean("ClaimPrecision", system="mine") == 1.0
    evaluated = karat.evaluate(
        "qa.jsonl", {"x": lambda q: "Oil is black."}, measures="ClaimPrecision", claims="lexical"
    )
    assert evaluated.mean("ClaimPrecision") == 0.5


def test_without_a_reference_or_contexts_scores_are_undefined_and_say_so(shop, karat, put):
    put(
        "qa.jsonl",
        [{key: value for key, value in row.items() if key != "answers" or row["id"] == "q1"} for row in ROWS],
    )
    put("mine.jsonl", [{"id": "q1", "answer": "Oil is black."}, {"id": "q2", "answer": "Snow is white."}])
    told = karat(
        "score", "qa.jsonl", "mine.jsonl", "-m", "ClaimF1", "-m", "ClaimPrecision", "-m", "ContextClaimRecall",
        "--claims", "lexical", "-o", "rows.parquet",
    )  # fmt: skip
    assert told.code == 0, told.err
    rows = pl.read_parquet("rows.parquet").to_dicts()
    assert [row["ClaimPrecision"] for row in rows] == [1.0, None]
    assert rows[0]["ClaimF1"] == 1.0
    for name in ("ClaimPrecision", "ClaimF1"):
        assert (rows[1][f"{name}.status"], rows[1][f"{name}.reason"]) == (
            "undefined", "there is no reference answer that claims anything",
        )  # fmt: skip
    assert {row["ContextClaimRecall.status"] for row in rows} == {"undefined"}
    assert rows[0]["ContextClaimRecall.reason"] == "no context texts are known"


def test_a_karat_yaml_says_who_judges_and_whose_claims_a_file_has(shop, karat, put):
    spec = SPEC.replace("TokenF1", "TokenF1, ClaimPrecision")
    put("karat.yaml", spec)
    told = karat("run")
    assert told.code == 2
    assert "karat.yaml line 4" in told.sentence
    assert "ClaimPrecision needs claims. Add claims: lexical" in told.sentence
    for claims, needle in (
        ("nowhere.csv", "'nowhere.csv' does not exist"), ("nli:models/x", "'models/x' does not exist"),
        ("model", "model asks a chat model, and none is named"),
    ):  # fmt: skip
        put("karat.yaml", f"{spec}claims: {claims}\n")
        told = karat("run")
        assert (told.code, needle in told.sentence) == (2, True), told.err
    put("karat.yaml", f"{spec}claims: lexical\n")
    told = karat("run")
    assert told.code == 0, told.err
    lexical = scores(shop)
    assert lexical["mine", "q2"] == 1.0
    assert (last(shop).path / "claims.csv").exists()
    assert karat("judge", "-q", "-m", "ClaimRecall").code == 0  # by the judge of the spec
    assert scores(shop, "ClaimRecall")["mine", "q2"] == 1.0
    rows = [{"question": "q2", "side": "answer", "claim": 1, "text": "Snow is white.", "premise": "reference",
             "verdict": "Contradiction"}]  # fmt: skip
    put("theirs.jsonl", rows)
    put("karat.yaml", f"{spec}claims: [lexical, mine=theirs.jsonl]\n")
    assert karat("run", "-q").code == 0
    assert scores(shop) == {**lexical, ("mine", "q2"): 0.0}
    assert karat("run", "-q", "--fresh", "--claims", "lexical").code == 0
    assert scores(shop) == lexical


def test_a_stranger_s_spec_may_not_load_an_nli_model(shop, karat, put):
    (shop / "weights").mkdir()
    put("karat.yaml", SPEC.replace("TokenF1", "ClaimPrecision") + "claims: nli:weights\n")
    told = karat("run", "--no-code")
    assert told.code == 2
    assert "nli:weights" in told.sentence


def test_batches_of_1_and_20_change_calls_and_not_the_table():
    from karat.core.answered import AnswerTable
    from karat.core.claims import RELATIONS
    from karat.core.types import Nugget
    from karat.experiment.models import ModelSettings, close, models_of
    from karat.measures.entailment.chat import ChatJudge
    from karat.measures.entailment.fill import fill, places_of

    answered = AnswerTable(
        ("mine",), ("q1",), texts=["What is oil?"], answers=["Oil is black [1]. Oil is wet [2][1]. Oil is cheap."],
        references=[("Oil is black. Oil is thick. Not oil is cheap.",)], answerable=[True],
        contexts=[("Oil is black and wet. So is ink.", "Snow")],
        nuggets=[(Nugget("Oil is black and thick", True), Nugget("Oil burns", False))],
    )  # fmt: skip
    tables, calls = [], []
    for most in (1, 20):
        with FakeLLM(judge) as llm:
            models = models_of(ModelSettings.of({"model": "m", "base_url": llm.base_url}))
            filled = fill(answered, RELATIONS, ChatJudge(models, most))
            close(models)
            pairs = asked_of(llm)
            assert len(pairs) == len(set(pairs))
            tables.append([*zip(places_of(filled.table), filled.table.verdict.tolist(), strict=True)])
            calls.append(llm.count)
        assert filled.table.failed == {}
        assert set(filled.table.verdict.tolist()) == {2, 1, 0, -1}
    assert tables[0] == tables[1]
    assert calls[0] > calls[1]
