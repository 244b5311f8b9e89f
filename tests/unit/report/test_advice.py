"""Advice: commands that can be copied as they stand."""

import pytest
from studies import study_with

from karat.report.build.next_steps import next_steps
from karat.results.study import Configuration, FailureCount

INPUTS = {"testset": {"path": "qa.jsonl", "file": "my questions.jsonl"}, "indexes": [{"path": "runs/indexes/a"}]}


def study(make, label, question="q5", **manifest):
    counts = (FailureCount("best", label, questions=(question,), gain=0.1),)
    systems = (Configuration("best", {"results": "hits.run"}),)
    return study_with(
        make(("best",)), configurations=systems, main="MRR", k=3, failure_counts=counts, manifest=manifest
    )


@pytest.mark.parametrize(
    ("place", "question", "told"),
    [
        ("my runs/one", "q5", "karat show 'my runs/one' q5"),
        ("runs/one", "-q 5", "karat show runs/one -- '-q 5'"),
        ("", "q5", "question q5 in report.html."),
    ],
)
def test_a_failed_question_is_shown(make, place, question, told):
    assert next_steps(study(make, "not_in_pool", question), place)[1] == f"See why: {told}"


@pytest.mark.parametrize(
    ("inputs", "told"),
    [
        (INPUTS, "karat testset check 'my questions.jsonl' runs/indexes/a --match doc --page-offset 2 --map 'Q A=id'"),
        (INPUTS | {"testset": {"file": "-mevil:f"}}, "question q5 in report.html."),
        (INPUTS | {"indexes": [{"path": "--measure=evil:f"}]}, "question q5 in report.html."),
        (INPUTS | {"indexes": [{"path": "a"}, {"path": "b"}]}, "question q5 in report.html."),
        ({}, "question q5 in report.html."),
    ],
)
def test_gold_that_is_not_there_is_checked(make, inputs, told):
    spec = {"match": "doc", "pages": "physical", "page_offset": 2, "map": {"Q A": "id"}}
    first, second = next_steps(study(make, "gold_not_indexed", inputs=inputs, spec=spec), "runs/one")[:2]
    assert second == f"See why: {told}"
    assert ": karat" not in first  # it would be taken for a command
