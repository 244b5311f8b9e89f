from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

from karat.core.errors import InputError, UsageError
from karat.core.run import Run
from karat.core.types import Gold, TestSet
from karat.files import as_runs, as_testset


def one(given, **options):
    (run,), (taken,) = as_runs(given, **options)
    return run, taken


def test_qrels_dicts():
    testset, taken = as_testset({1: {"a": 2, 3: 0}, 2.0: {"b": np.int64(1)}})
    assert testset.qrels == {"1": {"a": 2, "3": 0}, "2": {"b": 1}}
    assert (taken.place, taken.format, taken.what) == ("test set (dict)", "dict", "2 questions, 3 judgements")
    assert as_testset({"q": ["a", "b"]})[0].qrels == {"q": {"a": 1, "b": 1}}
    assert as_testset({"q": {"a", "b"}})[0].qrels == {"q": {"a": 1, "b": 1}}


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"q": {"a": 0.5}}, "grade 0.5 is not a whole number"),
        ({"q": "a"}, "has str where its documents are meant"),
        ({}, "no questions"),
        ({1: {"a": 1}, "1": {"a": 1}}, 'ids 1 and "1" are the same'),
        ({True: {"a": 1}}, "True is no id"),
    ],
)
def test_bad_qrels(given, problem):
    with pytest.raises(InputError, match=problem):
        as_testset(given)


def test_test_sets_pass_through():
    testset = TestSet(qrels={"q": {"a": 1}})
    assert as_testset(testset)[0] is testset


def test_records_and_frames_as_test_sets():
    rows = [{"id": 7, "question": "a?", "gold": ["d"]}, {"id": 8, "question": "b?", "gold": [{"doc": "x", "page": 3}]}]
    expected = [("7", (Gold(id="d"),)), ("8", (Gold(doc="x", page="3"),))]
    assert [(q.id, q.gold) for q in as_testset(rows)[0]] == expected
    frame = {
        "qid": [7, 8],
        "question": ["a?", "b?"],
        "document_ids": [["d"], ["e", "f"]],
        "user_level": ["novice", None],
    }
    for made in (pl.DataFrame(frame), pd.DataFrame(frame), pl.DataFrame(frame).lazy()):
        testset, _ = as_testset(made)
        assert [(q.id, len(q.gold), q.tags) for q in testset] == [("7", 1, {"user_level": "novice"}), ("8", 2, {})]


def test_run_dicts():
    hits = {"q1": {"a": 1.5, "b": 2}, "q2": {}}
    run, taken = one(hits)
    assert run.by_question is hits
    assert (run.name, run.order, run.scores.tolist()) == ("results", "score", [1.5, 2.0])
    assert (taken.place, taken.what) == ("results (dict)", "results: 2 hits for 2 questions")
    run, _ = one({1: {10: 0.5}, 2: {11: 1}})
    assert (run.question_ids, run.doc_list) == (["1", "2"], ["10", "11"])
    run, _ = one({"q": ["b", 3, "a"], "r": []})
    assert (run.order, run.doc_list, run.offsets.tolist()) == ("given", ["b", "3", "a"], [0, 3, 3])
    run, _ = one({"q": np.array(["b", "a"])})
    assert run.doc_list == ["b", "a"]
    run, _ = one({"q": "Paris", "r": ""})
    assert {qid: answer.text for qid, answer in run.answers.items()} == {"q": "Paris", "r": ""}


def test_only_the_first_document_of_each_question_is_looked_at():
    class Watched(dict):
        def keys(self):
            raise AssertionError("walked over the documents")

        items = keys

    as_runs({"q": Watched({f"d{n}": n for n in range(5)})})


def test_several_systems(tmp_path):
    path = tmp_path / "dense.run"
    path.write_text("q Q0 a 1 2.5 tag\n")
    frame = pl.DataFrame({"query": ["q"], "doc": ["a"], "score": [1.0]})
    runs, takens = as_runs(
        {
            "bm25": {"q": {"a": 1.0}},
            "lists": {"q": ["a"]},
            "file": str(path),
            "path": path,
            "polars": frame,
            "pandas": frame.to_pandas(),
            "records": [{"id": "q", "retrieved": ["a"]}],
            "run": Run.from_lists("other", {"q": ["a"]}),
            "answers": {"q": "Paris"},
        }
    )
    assert [run.name for run in runs] == [
        "bm25", "lists", "file", "path", "polars", "pandas", "records", "run", "answers",
    ]  # fmt: skip
    assert all(run.asked == ("q",) for run in runs)
    assert [run.doc_list for run in runs[:-1]] == [["a"]] * 8
    assert len(takens) == 9


def test_lists_of_paths(tmp_path):
    paths = []
    for name in ("one", "two"):
        path = tmp_path / f"{name}.run"
        path.write_text("q Q0 a 1 2.5 tag\n")
        paths.append(path)
    runs, _ = as_runs(paths)
    assert [run.name for run in runs] == ["one", "two"]
    assert [run.name for run in as_runs([str(p) for p in paths])[0]] == ["one", "two"]


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"q": {"a": 1.0}, "r": ["a"]},
        {"q": {"a": 1.0}, "r": "text"},
        {"q": {"a": 1.0}, "s": {"q": {"a": 1.0}}},
        {"s": {"t": {"q": {"a": 1.0}}}},
        {"q": 5},
        [{"id": 1, "retrieved": ["a"]}, "path"],
        7,
        None,
    ],
)
def test_what_cannot_be_told(given):
    with pytest.raises(UsageError):
        as_runs(given)


def test_bad_scores():
    with pytest.raises(InputError, match="score nan of question 'q'"):
        _ = as_runs({"q": {"a": 1.0, "b": float("nan")}})[0][0].scores


def test_pandas_hits_with_a_nan():
    frame = pd.DataFrame({"query": ["q", "q"], "doc": ["a", "b"], "score": [1.0, np.nan]})
    with pytest.raises(InputError, match="score"):
        as_runs(frame)


def test_pandas_mixed_ids():
    frame = pd.DataFrame({"query": [1, "x", 2.0], "doc": ["a", 5, "b"], "score": [1, 2, 3]})
    run, _ = one(frame)
    assert (run.question_ids, run.doc_list) == (["1", "x", "2"], ["a", "5", "b"])


def test_missing_path():
    with pytest.raises(InputError, match="does not exist"):
        as_runs(Path("no") / "such.run")
