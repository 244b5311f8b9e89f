"""Formulas: no cell of a CSV or TSV file runs in a spreadsheet, and each reads back as it was."""

import csv

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.core.run import Run
from karat.core.types import Gold, Question, TestSet
from karat.files import read_results, read_testset, write
from karat.io import formulas

HOSTILE = ["=1+1", "+x", "-x", "@SUM(1)", "'=1", "''-x", "'tis", "plain", "-0.3"]


def test_cells_that_a_spreadsheet_would_run_get_an_apostrophe():
    assert [formulas.guarded_cell(t) for t in ("=HYPERLINK(1)", "+x", "@SUM(1)", "-2+3", "\tx")] == [
        "'=HYPERLINK(1)",
        "'+x",
        "'@SUM(1)",
        "'-2+3",
        "'\tx",
    ]
    assert [formulas.guarded_cell(t) for t in ("-17", "+1.5e3", "plain", "a=b", "")] == [
        "-17",
        "+1.5e3",
        "plain",
        "a=b",
        "",
    ]


@given(st.text(st.sampled_from("'=+-@\t\r1.ea"), max_size=6))
def test_what_was_marked_reads_back_as_it_was(text):
    assert formulas.unguarded_cell(formulas.guarded_cell(text)) == text
    assert formulas.guarded_cell(text)[:1] not in tuple("=@\t\r")


def _cells(path):
    with path.open(encoding="utf-8", newline="") as file:
        return [cell for row in csv.reader(file, delimiter="\t") for cell in row]


@pytest.mark.parametrize("format_", ["liverag", "beir"])
def test_a_test_set_is_written_without_formulas_and_reads_back(tmp_path, format_):
    questions = [Question(text, f"{text} what?", gold=(Gold(doc=text),), answers=(text,)) for text in HOSTILE]
    path = tmp_path / ("qa.tsv" if format_ == "liverag" else "set")
    write(TestSet(questions, name="qa"), path, format=format_)
    tables = [path] if path.is_file() else list(path.rglob("*.tsv"))
    cells = [cell for table in tables for cell in _cells(table)]
    assert [cell for cell in cells if formulas.guarded_cell(cell) != cell and not cell.startswith("'")] == []
    read, _ = read_testset(path)
    assert [(q.id, q.text, [g.label for g in q.gold]) for q in read] == [(t, f"{t} what?", [t]) for t in HOSTILE]


def test_results_are_written_without_formulas_and_read_back(tmp_path):
    path = tmp_path / "hits.csv"
    path.write_text("question_id,doc_id,rank\n'=q,'=d,1\nq2,'tis,1\n", encoding="utf-8")
    runs, _ = read_results(path)
    (run,) = runs
    assert isinstance(run, Run)
    assert sorted(run.doc_list) == ["'tis", "=d"]
    assert sorted(run.asked) == ["=q", "q2"]
