"""Rows over rows.parquet: each filter, order, page, facet and export by hand, and files that nobody should trust."""

import csv
import io
import json
import os
from datetime import date

import polars as pl
import pytest
from viewed import Browser, run_with, small_study

from karat.web.rows import QuestionTable

NAMED = "a=one&b=two"


@pytest.fixture
def rows(browser, run):
    """The ids of the rows that parameters let through, in order."""

    def asked(query):
        return [row["id"] for row in browser.json(f"/api/run/{run.name}/rows?{query}")["rows"]]

    return asked


@pytest.mark.parametrize(
    ("query", "ids"),
    [
        ("", "q1 q2 q3 q4"),
        ("text=boat", "q1"), ("text=BOAT+where", "q1"), ("text=boat+cooks", ""), ("text=q3", "q3"),
        ("text=cook+does", "q2"), ("text=cook+does&system=two", ""), ("text=harbour&system=two", "q1"),
        ("text=.*", ""), ("text=%28", ""),
        ("kind=factual", "q1 q2"), ("kind=factual&kind=scenario", "q1 q2 q3"), ("kind=(none)", "q4"), ("kind=x", ""),
        ("tag.area=sea", "q1 q3"), ("tag.area=(none)", "q4"), ("tag.area=sea&kind=factual", "q1"),
        ("failure=below_k", "q3"), ("failure=below_k&failure=not_in_pool", "q3 q4"), ("failure=below_k&system=two", ""),
        ("failure=(none)", "q1 q2"),
        ("min=.5", "q1 q2"), ("max=.3", "q3 q4"), ("min=.3&max=.5", "q2 q4"), ("min=.4&measure=MRR", "q1 q4"),
        ("min=0&system=two", "q1 q2 q4"),
        (f"{NAMED}&differ=.2", "q1 q4"), (f"{NAMED}&differ=.2&side=a", "q1 q4"), (f"{NAMED}&differ=.2&side=b", ""),
        (f"{NAMED}&differ=-.5", "q1"), (f"{NAMED}&differ=0", "q1 q2 q4"), (f"{NAMED}&differ=.2&measure=MRR", "q2 q3"),
        (f"{NAMED}&differ=.2&measure=MRR&side=b", "q2 q3"), ("a=two&b=one&differ=.2&side=b", "q1 q4"),
        ("status=failed&system=two", "q3"), ("status=ok&system=two", "q1 q2 q4"), ("status=undefined", ""),
        ("labelled=yes", ""), ("labelled=no", "q1 q2 q3 q4"), ("disagree=yes", ""), ("disagree=no", "q1 q2 q3 q4"),
        ("order=down", "q4 q3 q2 q1"), ("sort=id&order=down", "q4 q3 q2 q1"), ("sort=text", "q3 q1 q2 q4"),
        ("sort=kind&order=down", "q3 q1 q2 q4"), ("sort=kind", "q1 q2 q3 q4"),
        ("sort=one:Recall@5", "q3 q4 q2 q1"), ("sort=two:Recall@5", "q4 q1 q2 q3"),
        ("sort=two:Recall@5&order=down", "q1 q2 q4 q3"), (f"{NAMED}&sort=difference", "q1 q4 q2 q3"),
        (f"{NAMED}&sort=difference&order=down", "q2 q4 q1 q3"),
        ("offset=1&limit=2", "q2 q3"), ("offset=9", ""), ("limit=0", ""), ("open=q1", "q1 q2 q3 q4"),
    ],
)  # fmt: skip
def test_filters_and_orders(rows, query, ids):
    assert rows(query) == ids.split()


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("nothing=1", "there is no parameter 'nothing'"),
        ("knd=x", "Did you mean kind?"),
        ("kind=a&text=a&text=b", "text stands twice"),
        ("system=three", "no system 'three'"),
        ("measure=Recal@5", "Did you mean Recall@5?"),
        ("tag.are=sea", "no tag 'are'. Did you mean area?"),
        ("min=abc", "min='abc': write a number"),
        ("min=nan", "write a number"),
        ("max=1e999", "write a number"),
        ("differ=.2", "give both a and b"),
        ("a=one", "give both a and b"),
        ("sort=difference", "give both a and b"),
        ("sort=one:MAP", "sort='one:MAP': write number, id"),
        ("side=left", "write any, a, b"),
        ("status=fine", "write ok, undefined, failed"),
        ("order=sideways", "write up, down"),
        ("labelled=1", "write yes, no"),
        ("offset=-1", "offset='-1': write a whole number"),
        ("limit=501", "from 0 to 500"),
        ("limit=²", "write a whole number"),
        (f"text={'a' * 2001}", "2,001 characters"),
        ("&".join(["kind=x"] * 201), "201 parameters"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(browser, run, query, sentence):
    reply = browser.get(f"/api/run/{run.name}/rows?{query}")
    assert reply.status == 400
    assert sentence in reply.json["error"]


def test_a_row_has_what_a_list_shows_and_no_more(browser, run):
    page = browser.json(f"/api/run/{run.name}/rows?measure=Recall@5&measure=MRR&offset=2&limit=1")
    assert {name: page[name] for name in ("total", "offset", "of", "measures", "systems")} == {
        "total": 4, "offset": 2, "of": 4, "measures": ["Recall@5", "MRR"], "systems": ["one", "two"],
    }  # fmt: skip
    assert page["rows"] == [{
        "n": 2, "id": "q3", "text": "When does it sail?", "kind": "scenario", "tags": {"area": "sea"},
        "scores": {"one": [0.0, 0.0], "two": [None, 0.2]}, "status": {"one": "ok", "two": "failed"},
        "failure": {"one": "below_k"}, "labels": 0,
    }]  # fmt: skip


def test_systems_stand_as_they_are_asked_for_and_the_best_first_else(browser, run):
    page = browser.json(f"/api/run/{run.name}/rows?system=two&system=one&system=two")
    assert page["systems"] == ["two", "one"]
    assert browser.json(f"/api/run/{run.name}/rows?{NAMED}&limit=1")["systems"] == ["one", "two"]


def test_facets_count_under_the_other_filters(browser, run):
    facets = browser.json(f"/api/run/{run.name}/facets?kind=factual&failure=below_k")
    assert facets["total"] == 0
    assert facets["kinds"] == [{"value": "scenario", "n": 1}]  # whatever the kind, what fails so
    assert facets["tags"] == {"area": []}
    assert facets["failures"] == {"one": [], "two": []}  # however it fails, the factual ones
    every = browser.json(f"/api/run/{run.name}/facets")
    assert every["kinds"] == [{"value": "factual", "n": 2}, {"value": "(none)", "n": 1}, {"value": "scenario", "n": 1}]
    assert every["failures"]["one"] == [{"value": "below_k", "n": 1}, {"value": "not_in_pool", "n": 1}]


def test_means_are_of_the_rows_that_are_shown(browser, run):
    means = browser.json(f"/api/run/{run.name}/facets?tag.area=sea")["means"]
    assert means == {"one": {"mean": 0.5, "n": 2}, "two": {"mean": 0.5, "n": 1}}
    assert browser.json(f"/api/run/{run.name}/facets?text=zebra")["means"]["one"] == {"mean": None, "n": 0}


def test_an_export_has_the_filtered_rows_with_every_measure(browser, run):
    reply = browser.get(f"/api/run/{run.name}/export?kind=factual&system=two&format=csv")
    assert reply.header("content-disposition") == f'attachment; filename="{run.name}.csv"'
    head, *lines = csv.reader(io.StringIO(reply.text))
    assert head == ["id", "text", "kind", "tag.area", "two Recall@5", "two MRR", "two status", "two failure"]
    assert lines == [["q1", "Where is the Boat?", "factual", "sea", "0.5", "1.0", "ok", ""],
                     ["q2", "Who cooks?", "factual", "land", "0.5", "0.5", "ok", ""]]  # fmt: skip
    lines = browser.get(f"/api/run/{run.name}/export?{NAMED}&sort=difference&format=jsonl").text.splitlines()
    assert [json.loads(line)["id"] for line in lines] == ["q1", "q4", "q2", "q3"]
    assert json.loads(lines[3])["scores"]["two"] == {"Recall@5": None, "MRR": 0.2}
    assert browser.get(f"/api/run/{run.name}/export?format=xml").status == 400


def test_formulas_in_an_export_are_no_formulas(tmp_path):
    from karat.core.types import Question, TestSet

    run = run_with(tmp_path, small_study(testset=TestSet([Question(f"q{i}", "=1+1") for i in range(4)], name="x")))
    text = Browser(tmp_path).get(f"/api/run/{run.id}/export").text
    assert "'=1+1" in text
    assert ",=1+1" not in text


def test_rows_are_read_without_the_study(tmp_path, monkeypatch):
    run = run_with(tmp_path, small_study())
    monkeypatch.setattr("karat.web.runs.load_study", lambda folder: pytest.fail("the study was read"))
    browser = Browser(tmp_path)
    for page in ("rows?failure=below_k", "facets", "export"):
        assert browser.get(f"/api/run/{run.id}/{page}").status == 200
    assert browser.get(f"/run/{run.id}/questions").status == 200


def test_failures_of_older_runs_come_from_the_study(tmp_path):
    run = run_with(tmp_path, small_study())
    path = run.path / "rows.parquet"
    pl.read_parquet(path).drop("failure").write_parquet(path)
    browser = Browser(tmp_path)
    assert [row["id"] for row in browser.json(f"/api/run/{run.id}/rows?failure=below_k")["rows"]] == ["q3"]
    (run.path / "study.json.gz").unlink()
    assert browser.json(f"/api/run/{run.id}/rows")["rows"][2]["failure"] == {"one": "below_k"}  # held
    assert Browser(tmp_path).json(f"/api/run/{run.id}/rows")["rows"][2]["failure"] == {}


def test_a_file_that_is_written_again_is_read_again(tmp_path):
    run = run_with(tmp_path, small_study())
    browser, path = Browser(tmp_path), run.path / "rows.parquet"
    assert browser.json(f"/api/run/{run.id}/rows")["total"] == 4
    pl.read_parquet(path).filter(pl.col("question_id") != "q4").write_parquet(path)
    assert browser.json(f"/api/run/{run.id}/rows")["total"] == 3


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda rows: rows.drop("question_id"), "has no column 'question_id'"),
        (lambda rows: rows.drop("system"), "has no column 'system'"),
        (lambda rows: rows.with_columns(system=pl.lit(7)), "no texts in the column 'system'"),
        (lambda rows: rows.with_columns(question_id=pl.lit("q1")), "a question stands twice"),
        (lambda rows: rows.with_columns(question_id=pl.lit(None, pl.String)), "a question stands twice, or without"),
        (lambda rows: rows.head(7), "do not have the same questions"),
        (lambda rows: rows.reverse().vstack(rows), "do not have the same questions"),
        (lambda rows: pl.concat([rows.head(4), rows.tail(4).reverse()]), "in the same order"),
        (lambda rows: rows.with_columns(status=pl.lit("odd")), "no status 'odd'"),
        (lambda rows: rows.with_columns(pl.lit("high").alias("Recall@5")), "'Recall@5' has no numbers"),
        (lambda rows: rows.with_columns(pl.lit(1).alias("Recall@5.status")), "no texts in the column"),
        (lambda rows: rows.with_columns(pl.col("question").cast(pl.Binary)), "no texts in the column 'question'"),
        (lambda rows: rows.with_columns(failure=pl.lit([1])), "no texts in the column 'failure'"),
        (lambda rows: rows.with_columns(kind=pl.lit(date(2026, 1, 1))), "no texts in the column 'kind'"),
        (lambda rows: rows.with_columns(answer=pl.lit(1)), "no texts in the column 'answer'"),
        (
            lambda rows: rows.with_columns(pl.lit(date(2026, 1, 1)).alias("tag.area")),
            "no texts in the column 'tag.area'",
        ),
        (lambda rows: rows.with_columns(pl.lit(b"x").alias("MRR.reason")), "no texts in the column 'MRR.reason'"),
        (
            lambda rows: rows.with_columns(pl.lit(1).alias(f"c{i}") for i in range(5_001)),
            "columns, and 5,000 is the most",
        ),
        (lambda rows: rows.clear(), "do not have the same questions"),
    ],
)
def test_a_file_from_anybody_is_refused_in_a_sentence(tmp_path, change, sentence):
    run = run_with(tmp_path, small_study())
    path = run.path / "rows.parquet"
    change(pl.read_parquet(path)).write_parquet(path)
    reply = Browser(tmp_path).get(f"/api/run/{run.id}/rows")
    assert reply.status == 409
    assert sentence in reply.json["error"]
    assert Browser(tmp_path).get(f"/api/run/{run.id}/export").status == 409  # and not a half of a file
    (run.path / "study.json.gz").unlink()
    if sentence != "no status 'odd'":  # which a question says as it stands
        assert Browser(tmp_path).get(f"/run/{run.id}/question?id=q1").status == 409
        assert Browser(tmp_path).get(f"/api/run/{run.id}/question?id=q1").status == 409


@pytest.mark.parametrize("content", [b"", b"PAR1", b"PAR1" + b"\0" * 100 + b"PAR1", b"x" * 1000])
def test_a_file_that_is_none_is_refused(tmp_path, content):
    run = run_with(tmp_path, small_study())
    (run.path / "rows.parquet").write_bytes(content)
    reply = Browser(tmp_path).get(f"/api/run/{run.id}/rows")
    assert (reply.status, "damaged Parquet file" in reply.json["error"]) == (409, True)


def test_damaged_bytes_anywhere_are_a_sentence(tmp_path):
    run = run_with(tmp_path, small_study())
    path = run.path / "rows.parquet"
    whole = path.read_bytes()
    for place in range(0, len(whole), len(whole) // 40):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 255]) + whole[place + 1 :])
        os.utime(path, ns=(place, place))
        assert Browser(tmp_path).get(f"/api/run/{run.id}/rows").status in (200, 409)


def test_numbers_that_are_none_are_null(tmp_path):
    run = run_with(tmp_path, small_study())
    path = run.path / "rows.parquet"
    rows = pl.read_parquet(path)
    rows.with_columns(pl.Series("Recall@5", [float("inf"), float("nan"), 1, 2] * 2)).write_parquet(path)
    page = Browser(tmp_path).json(f"/api/run/{run.id}/rows")
    assert [row["scores"]["one"] for row in page["rows"]] == [[None], [None], [1.0], [2.0]]


def test_a_long_question_is_cut_in_lists_and_whole_in_exports(tmp_path):
    run = run_with(tmp_path, small_study())
    path = run.path / "rows.parquet"
    pl.read_parquet(path).with_columns(question=pl.lit("long " * 1000)).write_parquet(path)
    browser = Browser(tmp_path)
    assert len(browser.json(f"/api/run/{run.id}/rows")["rows"][0]["text"]) == 1000
    assert "long " * 1000 in browser.get(f"/api/run/{run.id}/export").text


def test_columns_that_are_not_used_go_first(run, monkeypatch):
    table = QuestionTable(run / "rows.parquet")
    table._held.room = 40  # bytes: one column of four numbers
    first = table.values("one", "MRR")
    assert table.values("one", "MRR") is first
    table.values("two", "MRR")
    assert table.values("one", "MRR") is not first
    assert table.values("one", "MRR").tolist() == first.tolist()
