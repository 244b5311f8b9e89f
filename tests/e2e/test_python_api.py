"""karat.score from a notebook: whatever is at hand goes in, every figure is within reach."""

import json

import pandas as pd
import polars as pl
import pytest

import karat

GOLD = {"q1": {"d1": 1}, "q2": {"d2": 2, "d3": 1}}
SCORED = {"q1": {"d9": 2.0, "d1": 1.0}, "q2": {"d2": 3.0, "d9": 1.0}}
LISTED = {"q1": ["d9", "d1"], "q2": ["d2", "d9"]}
HITS = {"query": ["q1", "q1", "q2", "q2"], "doc": ["d9", "d1", "d2", "d9"], "score": [2.0, 1.0, 3.0, 1.0]}
RECORDS = [{"id": q, "retrieved": docs} for q, docs in LISTED.items()]
MRR, RECALL = (0.5 + 1) / 2, (1 + 0.5) / 2


@pytest.fixture
def paths(put):
    put("qa.jsonl", [{"id": q, "question": q, "gold": [{"id": d, "grade": g} for d, g in docs.items()], "kind": k}
                     for (q, docs), k in zip(GOLD.items(), ("fact", "steps"), strict=True)])  # fmt: skip
    put("qrels.txt", "q1 0 d1 1\nq2 0 d2 2\nq2 0 d3 1\n")
    put("bm25.run", "".join(f"{q} Q0 {d} 0 {s} t\n" for q, hits in SCORED.items() for d, s in hits.items()))


TESTSETS = {
    "dict": GOLD,
    "lists": {q: list(docs) for q, docs in GOLD.items()},
    "records": [{"id": q, "question": q, "gold": list(docs)} for q, docs in GOLD.items()],
    "path": "qa.jsonl",
    "qrels": "qrels.txt",
    "polars": pl.DataFrame({"query_id": ["q1", "q2", "q2"], "doc_id": ["d1", "d2", "d3"], "relevance": [1, 2, 1]}),
    "pandas": pd.DataFrame({"query_id": ["q1", "q2", "q2"], "doc_id": ["d1", "d2", "d3"], "relevance": [1, 2, 1]}),
}
RESULTS = {
    "scores": SCORED,
    "lists": LISTED,
    "records": RECORDS,
    "path": "bm25.run",
    "paths": ["bm25.run"],
    "polars": pl.DataFrame(HITS),
    "pandas": pd.DataFrame(HITS),
    "named": {"bm25": SCORED},
    "named path": {"bm25": "bm25.run"},
    "named frame": {"bm25": pd.DataFrame(HITS)},
}


FORMS = [
    (testset, results) if next(iter(TESTSETS)) == testset or next(iter(RESULTS)) == results
    else pytest.param(testset, results, marks=pytest.mark.slow)
    for testset in TESTSETS
    for results in RESULTS
]  # fmt: skip


@pytest.mark.parametrize(("testset", "results"), FORMS)
def test_any_test_set_with_any_results(paths, testset, results):
    report = karat.score(TESTSETS[testset], RESULTS[results], measures=["MRR", "Recall@5"])
    assert (report.mean("MRR"), report.mean("R@5")) == (MRR, RECALL)


def test_several_systems_of_several_kinds(paths):
    report = karat.score(
        "qa.jsonl", {"bm25": SCORED, "dense": "bm25.run", "frame": pl.DataFrame(HITS)}, measures=["MRR", "Recall@{1,5}"]
    )
    assert report.systems == ("bm25", "dense", "frame")
    assert report.measures == ("MRR", "Recall@1", "Recall@5")
    assert {report.mean("MRR", system=s) for s in report.systems} == {MRR}
    with pytest.raises(karat.KaratError, match="which system"):
        report.mean("MRR")
    with pytest.raises(karat.KaratError, match=r"no system 'bm52'\. Did you mean bm25"):
        report.mean("MRR", system="bm52")
    with pytest.raises(karat.KaratError, match="nDCG@10 was not computed"):
        report.mean("nDCG@10", system="bm25")


@pytest.fixture
def report(paths):
    return karat.score("qa.jsonl", {"a": SCORED, "b": LISTED}, measures=["MRR", "Recall@5"], by="kind")


def test_summary_rows_and_slices(report):
    assert report.summary.shape[0] == 4
    assert "slice" not in report.summary.columns
    (row,) = report.summary.filter((pl.col("system") == "a") & (pl.col("measure") == "MRR")).to_dicts()
    assert (row["n"], row["mean"]) == (2, MRR)
    assert row["low"] <= row["mean"] <= row["high"]
    rows = report.per_query
    assert rows.shape[0] == 4
    assert rows.filter(pl.col("system") == "a")["MRR"].to_list() == [0.5, 1.0]
    by = report.by("kind")
    assert set(by["kind"]) == {"fact", "steps"}
    assert by.filter((pl.col("system") == "a") & (pl.col("measure") == "Recall@5"))["mean"].to_list() == [1.0, 0.5]
    with pytest.raises(karat.KaratError, match="no slice 'colour'"):
        report.by("colour")
    assert report.failures().shape[0] == report.n_failed == 0


def test_a_slice_that_was_not_asked_for_is_the_one_that_would_have_been(paths, report):
    later = karat.score("qa.jsonl", {"a": SCORED, "b": LISTED}, measures=["MRR", "Recall@5"])
    assert later.by("kind").equals(report.by("kind"))


def test_frames_and_texts(report):
    assert report.to_pandas().shape == report.to_polars().shape
    assert report.to_polars().shape[0] == 4 * 3
    assert "| " in report.to_markdown()
    assert "tabular" in report.to_latex()
    assert json.loads(report.to_json())["systems"] == ["a", "b"]
    assert "Recall@5" in str(report)
    assert repr(report) == "Report(a, b; 2 questions; 2 measures)"


def test_saving_returns_what_was_written(report, folder):
    written = report.save("out", export=["trec"])
    assert all(path.is_file() for path in written)
    assert {p.name for p in written} >= {"rows.parquet", "summary.csv", "run.a.trec", "run.b.trec"}
    assert [p.name for p in report.save(folder / "t.md")] == ["t.md"]


def test_failures_have_a_reason(paths):
    results = [{"id": "q1", "retrieved": ["d1"]}, {"id": "q2", "status": "failed", "error": "no reply"}]
    report = karat.score("qa.jsonl", {"rag": results}, measures="MRR")
    assert report.n_failed == 1
    assert report.failures().to_dicts() == [{"system": "rag", "question_id": "q2", "reason": "no reply"}]
    assert report.mean("MRR") == 1.0


def test_inputs_are_left_as_they_were():
    gold, run = json.loads(json.dumps(GOLD)), json.loads(json.dumps(SCORED))
    frame = pl.DataFrame(HITS)
    karat.score(gold, {"a": run, "b": frame}, measures="MRR")
    assert (gold, run) == (GOLD, SCORED)
    assert frame.equals(pl.DataFrame(HITS))


@pytest.mark.parametrize(
    ("testset", "results", "sentence"),
    [
        (GOLD, {"q1": {"d1": float("nan")}}, "not a finite number"),
        (GOLD, {"x": ["d1"]}, "shares no question"),
        (GOLD, {"q1": ["z"]}, "none of the gold"),
        (GOLD, {}, ""),
        ({}, SCORED, ""),
        (None, SCORED, ""),
        (GOLD, None, ""),
        (GOLD, 7, ""),
        (GOLD, [], ""),
        ({"q1": {"d1": 0.5}}, SCORED, "0.5"),
    ],
)
def test_what_cannot_be_scored_is_a_karat_error(testset, results, sentence):
    with pytest.raises(karat.KaratError) as error:
        karat.score(testset, results, measures="MRR")
    assert sentence in str(error.value)
    assert str(error.value)


def test_loading(paths):
    testset = karat.load_testset("qa.jsonl")
    assert isinstance(testset, karat.TestSet)
    assert testset.ids == ("q1", "q2")
    (run,) = karat.load_results("bm25.run")
    assert karat.score(testset, run, measures="MRR").mean("MRR") == MRR
    assert karat.score(testset, [run], measures="MRR").mean("MRR") == MRR


def test_a_report_is_held_to_rules():
    report = karat.score(GOLD, {"one": SCORED}, measures=["MRR", "Recall@5"])
    passed = karat.gate(report, [f"MRR >= {MRR}", "questions == 2"])
    assert passed.passed
    broken = karat.gate(report, "MRR > .99")
    assert (broken.passed, broken.verdicts[0].system) == (False, "one")
    assert "fail" in str(broken)
    with pytest.raises(karat.KaratError, match="there are no rules"):
        karat.gate(report)
