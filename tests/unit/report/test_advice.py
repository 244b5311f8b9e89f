"""Advice: commands that can be copied as they stand."""

import pytest

from karat.report.build.next_steps import next_steps
from karat.results.study import Configuration, FailureCount, Study

INPUTS = {"testset": {"path": "qa.jsonl", "file": "my questions.jsonl"}, "indexes": [{"path": "runs/indexes/a"}]}
BM25 = {"engine": "bm25", "chunk": "page"}
HYBRID = {"engine": "hybrid", "legs": ["dense", "bm25"], "fusion": "weighted", "alpha": 0.0, "depth": 50}
EXPLAIN = "karat explain 'my questions.jsonl' runs/indexes/a --question q5 -k 3 --engine "


@pytest.mark.parametrize(
    ("settings", "manifest", "told"),
    [
        (BM25, {"inputs": INPUTS}, EXPLAIN + "bm25"),
        (
            HYBRID,
            {"inputs": INPUTS, "spec": {"match": "doc", "pages": "physical", "page_offset": 2, "map": {"Q A": "id"}}},
            EXPLAIN + "hybrid --legs dense,bm25 --fusion weighted --alpha 0 --depth 50 --match doc --page-offset 2"
            " --map 'Q A=id'",
        ),
        (
            {"engine": "dense", "alpha": 1.0, "rewrite": ["spell"]},
            {"inputs": INPUTS},
            EXPLAIN + "dense --rewrite spell",
        ),
        (BM25, {}, "question q5 in report.html."),
        (BM25, {"inputs": INPUTS | {"testset": {"file": "-mevil:f"}}}, "question q5 in report.html."),
        (BM25, {"inputs": INPUTS | {"indexes": [{"path": "--measure=evil:f"}]}}, "question q5 in report.html."),
        (BM25, {"inputs": INPUTS | {"indexes": [{"path": "a"}, {"path": "b"}]}}, "question q5 in report.html."),
        ({"results": "hits.run"}, {"inputs": INPUTS}, "question q5 in report.html."),
        ({"engine": "faiss:store"}, {"inputs": INPUTS}, "question q5 in report.html."),
        (BM25 | {"rewrite": ["hyde"]}, {"inputs": INPUTS}, "question q5 in report.html."),
    ],
)
def test_a_command_names_the_paths_of_the_run_and_the_system(make, settings, manifest, told):
    counts = (FailureCount("best", "not_in_pool", questions=("q5",), gain=0.1),)
    systems = (Configuration("best", settings),)
    made = Study(
        "s",
        evaluation=make(("best",)),
        configurations=systems,
        main="MRR",
        k=3,
        failure_counts=counts,
        manifest=manifest,
    )
    assert next_steps(made)[1] == f"See why: {told}"


def test_gold_that_is_not_there_is_checked(make):
    counts = (FailureCount("best", "gold_not_indexed", questions=("q5",), gain=0.1),)
    systems = (Configuration("best", {"results": "hits.run"}),)
    made = Study(
        "s",
        evaluation=make(("best",)),
        configurations=systems,
        main="MRR",
        k=3,
        failure_counts=counts,
        manifest={"inputs": INPUTS},
    )
    assert next_steps(made)[1] == "See why: karat check 'my questions.jsonl' runs/indexes/a"
