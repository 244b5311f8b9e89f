"""Rows that are read together say what they say when each is read alone."""

import json

import polars as pl
import pytest

from karat.core.errors import InputError
from karat.files import read_results, read_testset
from karat.files._questions import QuestionReader
from karat.files._results import ResultReader
from karat.io.source import Source

MANY = 600  # more than two blocks


def results(place, change=None):
    hits = [{"id": f"d{h}", "doc": "a/b.pdf", "text": f"t{h}", "score": 1 / (h + 1)} for h in range(4)]
    rows = [
        {"id": f"q{n}", "question": f"what is {n}?" if n % 3 else None, "retrieved": hits[: n % 5]} for n in range(MANY)
    ]
    return written(place / "results.jsonl", rows, change)


def questions(place, change=None):
    rows = [
        {"id": f" q{n}", "question": f"what is {n}?", "kind": "even" if n % 2 == 0 else None, "answers": [str(n)],
         "gold": [{"doc": f"d{n % 50}", "grade": 1 + n % 2}, {"doc": "x", "grade": 1}][: n % 3]}
        for n in range(MANY)
    ]  # fmt: skip
    return written(place / "questions.jsonl", rows, change)


def written(path, rows, change):
    lines = [json.dumps(row) for row in rows]
    for number, line in (change or {}).items():
        lines[number - 1] = line if isinstance(line, str) else json.dumps(line)
    path.write_text("\n".join(lines) + "\n")
    return path


def shown(run):
    fields = {name: list(values) for name, values in run.fields.items()}
    scores = None if run.scores is None else run.scores.tolist()
    return list(run.question_ids), run.offsets.tolist(), run.doc_list, scores, fields, run.texts, run.answers


ODD_RESULTS = [
    {},
    {300: {"id": 7, "retrieved": ["a", "b"]}},
    {300: {"id": "n", "retrieved": []}},
    {300: {"id": "n", "retrieved": [{"id": "a"}, {"id": "b", "score": 2}]}},
    {300: {"id": "n", "retrieved": [{"id": "a", "metadata": {"page": 3}}], "answer": "yes"}},
    {300: {"ID": "n", "Retrieved": [{"id": "a", "score": "0.5"}]}},
    {300: ""},
]


@pytest.mark.parametrize("change", ODD_RESULTS)
def test_results(change, tmp_path, monkeypatch):
    path = results(tmp_path, change)
    (together,), about = read_results(path)
    monkeypatch.setattr(ResultReader, "read_lists", lambda self, rows: None)
    (alone,), about_alone = read_results(path)
    assert shown(together) == shown(alone)
    assert about == about_alone


ODD_QUESTIONS = [
    {},
    {300: {"id": "n", "question": "who?", "gold": ["a", {"id": "b"}]}},
    {300: {"id": "n", "question": "who?", "gold": [{"doc": "a", "page": 3}], "tags": {"a": "b"}}},
    {300: {"id": 7, "question": 8, "gold": [{"doc": "a"}]}},
    {300: {"id": "n", "question": "who?", "answers": "I", "gold": []}},
    {300: {"id": "n", "question": "who?", "answers": ["I"]}},
]


@pytest.mark.parametrize("change", ODD_QUESTIONS)
def test_questions(change, tmp_path, monkeypatch):
    path = questions(tmp_path, change)
    together, about = read_testset(path)
    monkeypatch.setattr(QuestionReader, "read_alike", lambda self, rows: None)
    alone, about_alone = read_testset(path)
    assert together.questions == alone.questions
    assert about == about_alone


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ({"id": "q3", "retrieved": []}, 'line 300: question id "q3" stands twice (first in line 4)'),
        ({"id": " ", "retrieved": []}, "line 300: no id"),
        ({"id": "n", "retrieved": [{"id": "a", "score": "high"}]}, "hit 1: score"),
        ({"id": "n", "retrieved": [{"id": "a"}, {"colour": "red"}]}, "hit 2: the entry names no unit"),
        ('{"id": "n", "id": "m"}', 'line 300: the field "id" stands twice in one object'),
        ('{"id": "n", "retrieved": [{"id": "a", "id": "b"}]}', "stands twice in one object"),
        ('{"id": "n", "retrieved": [{"id": "a", "score": NaN}]}', "is not a finite number"),
    ],
)
def test_a_fault_is_named_by_its_line(line, problem, tmp_path):
    later = {450: "no JSON"}  # of the same block, and read before what stands above it is looked at
    with pytest.raises(InputError) as caught:
        read_results(results(tmp_path, {300: line, **later}))
    assert problem in str(caught.value)
    assert "line 300" in str(caught.value)


def test_a_fault_of_gold_is_named_by_its_line(tmp_path):
    with pytest.raises(InputError, match=r"line 300 field \"gold\": .*1.5"):
        read_testset(questions(tmp_path, {300: {"id": "n", "gold": [{"doc": "a", "grade": 1.5}]}, 450: "no JSON"}))


HITS = [("q1", "d1", 0.5), ("q2", "d1", 2.0), ("q1", "d2", 0.25), ("q2", "d9", -1.0)]


def test_a_parquet_run_is_read_in_pieces_as_a_trec_run_is(tmp_path, monkeypatch):
    monkeypatch.setattr("karat.io.parquet._FIRST", 1)
    monkeypatch.setattr("karat.io.parquet._PIECE", 2)
    monkeypatch.setattr("karat.io.input.SAMPLE", 1)
    frame = pl.DataFrame(HITS, schema=["Query ID", "doc_id", "score"], orient="row")
    frame.with_columns(text_length=pl.lit(3)).write_parquet(tmp_path / "run.parquet")
    (tmp_path / "run.trec").write_text("".join(f"{q} Q0 {d} 1 {s} t\n" for q, d, s in HITS))
    (of_parquet,), about = read_results(tmp_path / "run.parquet")
    (of_text,), _ = read_results(tmp_path / "run.trec")
    assert shown(of_parquet) == shown(of_text)
    assert isinstance(of_parquet.docs, pl.Series)
    assert about.notes == ("used Query ID, doc_id, score; ignored text_length",)


@pytest.mark.parametrize(
    ("hit", "problem"),
    [
        (("q1", "d1", 3.0), 'row 5: document "d1" stands twice for question "q1"'),
        (("q1", None, 3.0), 'row 5 field "doc_id": no doc'),
        (("q1", "d7", float("inf")), "is not a finite number"),
        (("q1", "d7", None), "no score"),
    ],
)
def test_an_odd_row_of_parquet_is_named(hit, problem, tmp_path):
    frame = pl.DataFrame([*HITS, hit], schema=["query_id", "doc_id", "score"], orient="row")
    frame.write_parquet(tmp_path / "run.parquet")
    with pytest.raises(InputError) as caught:
        read_results(tmp_path / "run.parquet")
    assert problem in str(caught.value)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("run.csv", "query_id,doc_id,score\nq1,d1,.5\nq1,d2,1e-3\n q2 ,d1,+2\n"),
        ("run.csv", "query_id,doc_id,score\nq1,d1,0.5\nq1,d2,1e-3\n q2 ,d1,+2\n"),
        ("run.csv", "query_id,doc_id,score\n1.0,7.0,1\n2.0,8.0,2\n"),
        ("run.csv", 'query_id,doc_id,score\nq1,"d,1",1\n'),
        ("run.tsv", "query_id\tdoc_id\tscore\tscorer\nq1\td1\t1\tx\n"),
        ("run.trec", "q1 Q0 d1 1 0.5 t\n\nq2  Q0 d1\t1 1e-3 t\nq1 Q0 d2 2 0.25 t\n"),
        ("run.trec", "q1 Q0 d1 1 0.5 t more\nq2 Q0 d1 1 1e-3 t\n"),
    ],
)
def test_a_small_file_is_read_as_a_large_one(name, text, tmp_path, monkeypatch):
    path = tmp_path / name
    path.write_text(text)
    (small,), about = read_results(path)
    monkeypatch.setattr(Source, "is_small", False)
    (large,), about_large = read_results(path)
    assert (shown(small), about, small.unique, small.order) == (shown(large), about_large, True, "score")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("run.csv", "query_id,doc_id,score\nq1,d1,1\nq1,d1,2\n"),
        ("run.csv", "query_id,doc_id,score\nq1,d1,1_0\n"),
        ("run.csv", "query_id,doc_id,score\nq1,,1\n"),
        ("run.csv", "query_id,doc_id,score\nq1,d1,1,3\n"),
        ("run.trec", "q1 Q0 d1 1 0.5 t\nq1 Q0 d1 2 0.4 t\n"),
        ("run.trec", "q1 Q0 d1 1 0.5 t\nq1 Q0 d\u00a01 2 0.4\n"),
        ("run.trec", "q1 Q0 d1 1 1e999 t\n"),
    ],
)
def test_what_is_wrong_with_a_small_file_is_said_as_of_a_large_one(name, text, tmp_path, monkeypatch):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as small:
        read_results(path)
    monkeypatch.setattr(Source, "is_small", False)
    with pytest.raises(InputError) as large:
        read_results(path)
    assert str(small.value) == str(large.value)
