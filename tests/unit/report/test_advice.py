"""Advice: commands that can be copied as they stand."""

import pytest

from karat.core.study import Configuration, FailureCount, Study
from karat.report.advice import next_steps

TESTSET = {"path": "my questions.jsonl"}


@pytest.mark.parametrize(
    ("manifest", "command"),
    [
        ({}, "karat explain TESTSET INDEX --question q5"),
        (
            {"inputs": {"testset": TESTSET, "indexes": [{"path": "runs/indexes/a"}]}},
            "karat explain 'my questions.jsonl' runs/indexes/a --question q5",
        ),
        (
            {"inputs": {"testset": TESTSET, "indexes": [{"path": "a"}, {"path": "b"}]}},
            "karat explain 'my questions.jsonl' INDEX --question q5",
        ),
    ],
    ids=["unknown", "one index", "two indexes"],
)
def test_a_command_names_the_paths_of_the_run(make, manifest, command):
    counts = (FailureCount("bm25", "not_in_pool", ("q5",), 0.1),)
    made = Study("s", make(("bm25",)), (Configuration("bm25"),), "MRR", 5, failure_counts=counts, manifest=manifest)
    assert next_steps(made)[1] == f"See one of them step by step: {command}"
