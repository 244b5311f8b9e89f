import csv as stdlib_csv
import dataclasses
import io
import json as stdlib_json
from datetime import datetime
from types import MappingProxyType

import numpy as np
import polars as pl
import pytest

from karat.core.types import Gold, Question
from karat.report import frame, liverag
from karat.report.outputs import csv, json, latex, markdown, parquet
from karat.results.evaluation import Matching
from karat.stats.summary import usage

TIME = datetime(2026, 3, 4, 5, 6)


def read(text, delimiter=","):
    return list(stdlib_csv.DictReader(io.StringIO(text), delimiter=delimiter))


def test_rows_csv_has_a_row_per_system_and_question(make):
    evaluation = make(("a", "b"), n=10, measures=["Recall@5", "MRR"], undefined=1, failed=2)
    rows = read(csv.render(evaluation))
    assert len(rows) == 20
    assert list(rows[0]) == [
        "system",
        "question_id",
        "question",
        "kind",
        "ranked",
        "relevant",
        "status",
        "reason",
        "Recall@5",
        "MRR",
    ]
    assert [r["status"] for r in rows[:4]] == ["undefined", "failed", "failed", "ok"]
    assert [r["reason"] for r in rows[:4]] == ["no relevant gold", "timed out", "timed out", ""]
    assert rows[0]["MRR"] == ""
    assert float(rows[13]["MRR"]) == evaluation.scores.values[1, 3, 1]
    assert stdlib_json.loads(rows[3]["ranked"]) == ["d3", "d0"]


def test_rows_csv_has_settings_times_pages_and_gold_where_they_are_known(make):
    questions = [Question("q0", gold=(Gold(page="7"), Gold(page="9", grade=0))), Question("q1", gold=(Gold(page="8"),))]
    evaluation = dataclasses.replace(
        make(("a", "b"), measures=["MRR"], questions=questions, undefined=0),
        settings={"a": {"alpha": 0.7, "k": 5}}, seconds={"b": [0.02, None]},
        docs={"a": [["x.pdf"], []]}, pages={"a": [["7"], []]},
    )  # fmt: skip
    a0, a1, b0, b1 = read(csv.render(evaluation))
    assert (a0["alpha"], a0["k"], a0["retrieval_time_ms"]) == ("0.7", "5", "")
    assert (b0["alpha"], b0["k"], b0["retrieval_time_ms"], b1["retrieval_time_ms"]) == ("", "", "20.0", "")
    assert (a0["retrieved_docs"], a0["retrieved_pages"], a1["retrieved_pages"]) == ('["x.pdf"]', '["7"]', "[]")
    assert (b0["retrieved_docs"], b0["relevant"], b0["relevant_pages"]) == ("", '["7"]', '["7"]')
    assert "retrieval_time_ms" not in pl.read_parquet(io.BytesIO(parquet.render(evaluation))).columns


@pytest.mark.parametrize(("gold", "page"), [(Gold(doc="x.pdf", page="7"), "7"), (Gold(page="7"), "7,8")])
def test_pages_of_gold_stand_apart_only_where_pages_alone_decide(make, gold, page):
    evaluation = make(("a",), measures=["MRR"], questions=[Question("q0", gold=(gold,))], undefined=0)
    (row,) = read(csv.render(dataclasses.replace(evaluation, pages={"a": [[page]]})))
    assert "relevant_pages" not in row
    assert row["retrieved_pages"] == f'["{page}"]'


def test_k_is_the_length_of_the_lists_where_nothing_says_it(make):
    evaluation = make(("a",), n=2, measures=["MRR"], undefined=0)
    scores = dataclasses.replace(evaluation.scores, lists_end={"a": 10})
    assert {row["k"] for row in read(csv.render(dataclasses.replace(evaluation, scores=scores)))} == {"10"}


def test_a_reason_of_some_measures_names_them(make):
    evaluation = make(n=3, measures=["Recall@5", "MRR"], undefined=0)
    status = evaluation.scores.status.copy()
    status[0, 1, 1] = 2
    scores = dataclasses.replace(evaluation.scores, status=status, reasons={(0, 1, 1): "broke"})
    rows = read(csv.render(dataclasses.replace(evaluation, scores=scores)))
    assert (rows[1]["status"], rows[1]["reason"], rows[1]["MRR"]) == ("failed", "broke (MRR)", "")
    assert rows[1]["Recall@5"] != ""


def test_formulas_are_disarmed_in_csv_and_kept_in_parquet(make):
    questions = [Question("=cmd|x", '=HYPERLINK("http://x")', tags={"=t": "+1+1"}), Question("-17", "plain")]
    evaluation = make(("@sys",), measures=["MRR"], questions=questions, undefined=0)
    rows = read(csv.render(evaluation))
    assert rows[0]["question_id"] == "'=cmd|x"
    assert rows[0]["question"] == '\'=HYPERLINK("http://x")'
    assert rows[0]["tag.=t"] == "'+1+1"
    assert rows[0]["system"] == "'@sys"
    assert rows[1]["question_id"] == "-17"
    kept = pl.read_parquet(io.BytesIO(parquet.render(evaluation)))
    assert kept["question_id"].to_list() == ["=cmd|x", "-17"]


def test_lone_surrogates_do_not_stop_a_file(make):
    questions = [Question("q\ud800", "t\udfff"), Question("q2", "ok")]
    evaluation = make(measures=["MRR"], questions=questions, undefined=0)
    csv.render(evaluation).encode("utf-8")
    parquet.render(evaluation)
    json.render(evaluation, rows=True).encode("ascii")
    markdown.render(evaluation).encode("utf-8")
    for content in liverag.render(evaluation, results="r.tsv", time=TIME).values():
        content.encode("utf-8")


def test_summary_csv_has_the_columns_of_a_run_folder(make):
    rows = read(csv.summary(make(by=("kind",), n=30, measures=["MRR"], failed=1)))
    titles = "system measure slice value n n_undefined n_failed mean low high worst best std min 25% 50% 75% max"
    titles += " n_missing mean_answered mean_with_missing note seconds_p50"
    assert " ".join(rows[0]) == titles
    assert (rows[0]["slice"], rows[1]["slice"], rows[1]["value"]) == ("", "kind", "factual")
    assert len(rows) == 4


def test_parquet_holds_value_status_and_reason_and_is_the_same_every_time(make):
    evaluation = make(("a", "b"), n=10, measures=["MRR"], undefined=1, failed=1)
    table = pl.read_parquet(io.BytesIO(parquet.render(evaluation)))
    assert table["MRR.status"].to_list()[:3] == ["undefined", "failed", "ok"]
    assert table["MRR.reason"].to_list()[:3] == ["no relevant gold", "timed out", None]
    assert table["MRR"].to_list()[:2] == [None, None]
    assert table["ranked"].to_list()[2] == ["d2", "d0"]
    assert parquet.render(evaluation) == parquet.render(make(("a", "b"), n=10, measures=["MRR"], undefined=1, failed=1))


def test_a_value_that_is_no_number_is_null_everywhere(make):
    values = np.array([[[np.inf], [0.5], [np.nan]]])
    evaluation = make(measures=["MRR"], n=3, values=values, undefined=0)
    assert frame.rows(evaluation)["MRR"].to_list() == [None, 0.5, None]
    found = stdlib_json.loads(json.render(evaluation, rows=True))
    assert [r["scores"]["MRR"]["value"] for r in found["rows"]] == [None, 0.5, None]
    assert [r["scores"]["MRR"]["status"] for r in found["rows"]] == ["failed", "ok", "failed"]
    assert frame.rows(evaluation)["MRR.status"].to_list() == ["failed", "ok", "failed"]
    rows = liverag.render(evaluation, results="r.tsv", time=TIME)["r.eval03040506.karat.rows.tsv"]
    assert [(r["MRR"], r["status"]) for r in read(rows, "\t")] == [("", "failed"), ("0.5", "ok"), ("", "failed")]


def test_json_says_what_the_console_says(make, warning):
    evaluation = make(("a", "b"), by=("kind",), notes=(warning,), measures=["Recall@5", "Retrieved"], failed=1)
    text = json.render(evaluation)
    assert text.isascii()
    found = stdlib_json.loads(text, parse_constant=lambda name: 1 / 0)
    assert list(found) == [
        "format",
        "dialect",
        "testset",
        "inputs",
        "matching",
        "systems",
        "measures",
        "summaries",
        "targets",
        "usage",
        "pareto",
        "refusals",
        "outcomes",
        "selective",
        "verdicts",
        "leaders",
        "notes",
    ]
    assert found["systems"] == ["a", "b"]
    assert found["summaries"][0]["mean"] == evaluation.summaries[0].mean
    assert found["measures"][1]["range"] == [0.0, None]
    assert found["notes"][0]["guard"] == "questions not in the run"
    assert found["measures"][0]["best"] == ["b"]
    assert text == json.render(
        make(("a", "b"), by=("kind",), notes=(warning,), measures=["Recall@5", "Retrieved"], failed=1)
    )


def test_json_takes_any_mapping(make):
    matching = Matching(
        matcher="exact", unit="chunk", why="", share=MappingProxyType({"a": 0.5}), others=MappingProxyType({})
    )
    found = stdlib_json.loads(json.render(dataclasses.replace(make(n=5), matching=matching)))
    assert found["matching"]["share"] == {"a": 0.5}


def test_json_rows_carry_status_and_reason(make):
    found = stdlib_json.loads(json.render(make(n=4, measures=["MRR"], undefined=1, answers=True), rows=True))
    assert found["rows"][0]["scores"]["MRR"] == {"value": None, "status": "undefined", "reason": "no relevant gold"}
    assert found["rows"][1]["answer"] == "yes"
    assert found["rows"][1]["ranked"] == ["d1", "d0"]


def test_latex_holds_every_measure_and_marks_the_best(make):
    shown = latex.render(make(("bm_25", "50% & more"), n=30, measures=["Recall@5", "AnyGold"]))
    assert "bm\\_25 & 50\\% \\& more \\\\" in shown
    assert "\\textbf{." in shown
    assert "over 28 questions with 95\\% intervals" in shown
    many = latex.render(make(tuple(f"s{i}" for i in range(7)), n=12, measures=["Recall@5", "MRR"]))
    assert "\\begin{tabular}{lrrr}" in many  # two measures and seconds


def test_liverag_writes_its_names_in_percent_where_it_does(make):
    measures = ["Recall", "Precision", "F1", "nDCG(ideal=retrieved)@10", "AnyGold", "AllGold", "Correct", "MRR"]
    evaluation = make(("grag",), n=10, measures=measures, undefined=0, failed=1)
    files = liverag.render(evaluation, results="data/run.v1.tsv.gz", time=TIME)
    assert list(files) == ["run.v1.eval03040506.karat.aggregated.tsv", "run.v1.eval03040506.karat.rows.tsv"]
    (over_all,) = read(files["run.v1.eval03040506.karat.aggregated.tsv"], "\t")
    assert list(over_all)[:5] == ["evaluator_name", "sample_count", "system_name", "timestamp", "is_aggregated"]
    by_name = {s.measure: s.mean for s in evaluation.summaries}
    assert float(over_all["avg_context_recall"]) == by_name["Recall"]
    assert float(over_all["avg_context_precision"]) == by_name["Precision"]
    assert float(over_all["avg_context_f1"]) == by_name["F1"]
    assert float(over_all["ndcg_10"]) == by_name["nDCG(ideal=retrieved)@10"]
    assert float(over_all["pct_records_with_at_least_one_ref"]) == 100 * by_name["AnyGold"]
    assert float(over_all["pct_records_with_all_refs"]) == 100 * by_name["AllGold"]
    assert float(over_all["MRR"]) == by_name["MRR"]
    assert over_all["sample_count"] == "9"
    rows = read(files["run.v1.eval03040506.karat.rows.tsv"], "\t")
    assert len(rows) == 10
    assert (rows[0]["status"], rows[0]["context_recall"]) == ("failed", "")
    assert float(rows[1]["correct_docs_count"]) == evaluation.scores.values[0, 1, 6]


def test_liverag_has_the_command_the_time_and_the_cost_of_all_questions(make):
    spent = (usage("a", "seconds retrieve", [0.1] * 5), usage("a", "seconds answer", [0.2] * 5),
             usage("a", "cost_usd", [0.01] * 4))  # fmt: skip
    evaluation = dataclasses.replace(make(("a",), n=5, measures=["Recall"]), usage=spent)
    files = liverag.render(evaluation, results="r.tsv", time=TIME, command="karat score 'a b' r.tsv")
    (row,) = read(files["r.eval03040506.karat.aggregated.tsv"], "\t")
    assert (row["full_command"], row["total_cost"]) == ("karat score 'a b' r.tsv", "")  # the cost of one is not known
    assert float(row["total_time_ms"]) == pytest.approx(1500)
    whole = dataclasses.replace(evaluation, usage=(*spent[:2], usage("a", "seconds total", [0.4] * 5)))
    (row,) = read(liverag.render(whole, results="r.tsv", time=TIME)["r.eval03040506.karat.aggregated.tsv"], "\t")
    assert float(row["total_time_ms"]) == pytest.approx(2000)
    assert row["full_command"] == ""


def test_liverag_takes_plain_ndcg_for_ndcg_10_when_it_is_the_only_one(make):
    files = liverag.render(make(n=5, measures=["nDCG@10"]), results="r.tsv", time=TIME)
    assert "ndcg_10" in files["r.eval03040506.karat.aggregated.tsv"]
    both = liverag.render(make(n=5, measures=["nDCG@10", "nDCG(ideal=retrieved)@10"]), results="r.tsv", time=TIME)
    titles = both["r.eval03040506.karat.aggregated.tsv"].split("\n")[0].split("\t")
    assert titles[-2:] == ["nDCG@10", "ndcg_10"]


def test_liverag_keeps_systems_of_one_file_apart_and_inside_the_folder(make):
    files = liverag.render(make(("a/../x", "a_.._x", "b"), n=5, measures=["Recall"]), results="../r.tsv", time=TIME)
    assert len(files) == 6
    assert all("/" not in name and not name.startswith(".") for name in files)
    apart = liverag.render(make(("a", "b"), n=5, measures=["Recall"]), results={"a": "1.tsv", "b": "2.tsv"}, time=TIME)
    assert [n for n in apart if "rows" in n] == ["1.eval03040506.karat.rows.tsv", "2.eval03040506.karat.rows.tsv"]
