"""Traces that failed, were cut or say too little: rows that fail with their reason, and what is counted and said."""

import json

import pytest
from tests.builders import traces as made
from tests.builders.traces import (
    ONE,
    SHAPES,
    TESTSET,
    TRACES,
    all_of,
    lines,
    run_of,
    with_spans,
    writer,
)

import karat
from karat.core.errors import InputError
from karat.files import read_results


@pytest.fixture
def put(tmp_path):
    return writer(tmp_path)


def test_failed_traces(put):
    broken = {"status": {"code": 2, "message": "rate limit"}}
    first, second = made.openinference(ONE), made.openinference(TRACES[1])
    first[0] |= broken
    second[0] |= {"status": {"code": "STATUS_CODE_ERROR"}}
    second[1] |= {"status": {"code": 2}, "events": [{"name": "exception", "attributes": [
        {"key": "exception.type", "value": {"stringValue": "TimeoutError"}},
        {"key": "exception.message", "value": {"stringValue": "no reply"}}]}]}  # fmt: skip
    del second[1]["attributes"][2:]
    run, taken = with_spans(put, *first, *second)
    assert run.failed == {TRACES[1]["id"]: "failed, for a reason that the trace does not say"}
    answer = run.answers[ONE["id"]]
    assert (answer.text, answer.error, list(run.docs)) == (None, "rate limit", ["manual-3", "manual-4"])
    assert any(note.startswith("1 trace failed after retrieval") for note in taken.notes)
    second[0] |= {"status": {}}
    run, taken = with_spans(put, *first, *second)
    assert run.failed == {TRACES[1]["id"]: "TimeoutError: no reply"}
    again = {**made.openinference(TRACES[1])[1], "spanId": "f" * 16}
    run, taken = with_spans(put, *first, *second, again)
    assert (run.failed, len(run)) == ({}, 5)
    assert any(note.startswith("1 trace with a retrieval that failed") for note in taken.notes)


def test_what_is_missing_is_listed(put):
    first, second = made.openinference(ONE), made.openinference(TRACES[1])
    lone = made.otlp_span({"id": "c3" * 16}, 1, None, "tick", {}, (0, 1))
    del second[0]
    run, taken = with_spans(put, *first, first[1], *second, lone)
    assert len(run.asked) == 2
    assert run.texts[TRACES[1]["id"]] == TRACES[1]["question"]
    assert list(taken.notes[:5]) == [
        "9 spans in 3 traces",
        f"1 trace without a question: left out ({'c3' * 16})",
        f"1 trace without a root: cut off, or begun by another service ({TRACES[1]['id']})",
        f"2 spans whose parent is not in the file ({TRACES[1]['id']} ...)",
        f"1 span twice: counted once ({ONE['id']})",
    ]


def test_of_a_span_that_stands_twice_the_one_that_ended_counts(put):
    spans = made.openinference(ONE)
    begun = {**spans[0], "endTimeUnixNano": "0", "attributes": spans[0]["attributes"][:2]}
    run, taken = with_spans(put, begun, *spans)
    assert run.answers[ONE["id"]].seconds["total"] == pytest.approx(4)
    run, taken = with_spans(put, begun, *spans[1:])
    assert f"1 trace without an end ({ONE['id']})" in taken.notes


def test_a_question_that_is_asked_again(put):
    first = made.openinference(ONE)
    again = made.openinference({**ONE, "id": "d4" * 16, "question": "how long is the warranty", "docs": []})
    for span in again:
        span["startTimeUnixNano"] = made.nano(-60)  # earlier, though it stands behind
    again[1]["attributes"].append({"key": "output.value", "value": {"stringValue": "[]"}})
    run, taken = with_spans(put, *first, *again)
    assert (run.asked, len(run)) == (("d4" * 16,), 0)
    note = "1 trace of a question that was asked before: the first of each that can be read counts"
    assert f'{note} ("How long is the warranty?")' in taken.notes
    del again[1]["attributes"][-1]
    for earlier in (again, [again[0]], [{**again[0], "status": {"code": 2, "message": "down"}}]):
        run, taken = with_spans(put, *first, *earlier)
        assert (run.asked, run.failed, len(run)) == ((ONE["id"],), {}, 2)
        assert any(text.startswith(note) for text in taken.notes)


UNREAD = "the retriever's documents cannot be read"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"outputs": "<masked>"}, UNREAD),
        ({"outputs": {"documents": "<masked>"}}, UNREAD),
        ({"outputs": {"documents": [None]}}, UNREAD),
        ({"outputs": None}, UNREAD),
        ({"outputs": None, "error": "timeout"}, "timeout"),
        ({"outputs": {"documents": []}, "error": "timeout"}, "timeout"),
        ({"outputs": {"documents": []}}, None),
    ],
)
def test_documents_that_are_not_known_are_not_none(put, change, reason):
    runs = all_of(made.langsmith)
    runs[1] |= change
    run, taken = run_of(put(lines(runs)))
    assert run.failed == ({} if reason is None else {runs[0]["id"]: reason})
    assert (len(run), len(run.question_ids)) == (3, 1 if reason else 2)
    assert any("documents cannot be read" in note for note in taken.notes) == (reason == UNREAD)
    testset = put(lines(TESTSET), "testset.jsonl")
    assert karat.score(testset, put(lines(runs)), measures=["MRR"]).mean("MRR") == (0.5 if reason else 0.25)


def test_a_null_among_documents_is_counted(put):
    runs = made.langsmith(ONE)
    runs[1]["outputs"]["documents"].insert(1, None)
    run, taken = run_of(put(lines(runs)))
    assert list(run.docs) == ["manual-3", "N/A", "manual-4"]
    assert "1 document null: the rank stays, what stood there is not known" in taken.notes


def test_answers_remain_where_no_documents_can_be_read_at_all(put):
    runs = all_of(made.langsmith)
    for span in runs:
        if span["run_type"] == "retriever":
            span["outputs"] = "<masked>"
    run, taken = run_of(put(lines(runs)))
    assert (run.has_rankings, run.failed, [answer.text for answer in run.answers.values()]) == (
        False, {}, [trace["answer"] for trace in TRACES])  # fmt: skip
    assert any(note.startswith("2 traces with a retriever whose documents cannot be read") for note in taken.notes)
    run, _ = run_of(put(lines(runs)), columns={"span": "VectorStoreRetriever"})
    assert list(run.failed.values()) == [UNREAD, UNREAD]


def test_a_file_that_ends_before_a_retrieval(put):
    spans = [*made.openinference(TRACES[1]), *made.openinference(ONE)]
    whole = json.dumps(made.otlp(spans))
    run, _ = run_of(put(whole[: whole.index("manual-3")]))
    assert run.failed == {ONE["id"]: "the file ends in the middle of the trace"}
    assert len(run) == 3


def test_a_file_that_was_cut_off(put):
    whole = SHAPES["otlp, lines"][1]
    run, taken = run_of(put(whole[:-400]))
    assert len(run.asked) == 2
    assert "the file ends in the middle of line 8: what stands there is not read" in taken.notes
    run, taken = run_of(put(SHAPES["otlp"][1][:-2500]))
    assert any(note.startswith("the file ends in the middle of line 1") for note in taken.notes)
    with pytest.raises(InputError, match=r"line 2: not valid JSON"):
        read_results(put(whole.replace("\n", "\n{oh,", 1)))
