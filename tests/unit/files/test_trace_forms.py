"""Forms of what spans hold: conventions, vendors, questions and answers, and hostile ones."""

import json

import pytest
from tests.builders import traces as made
from tests.builders.traces import (
    ONE,
    TRACES,
    another,
    lines,
    run_of,
    with_spans,
    writer,
)

from karat.core.errors import InputError
from karat.files import read_results


@pytest.fixture
def put(tmp_path):
    return writer(tmp_path)


def test_events_of_earlier_conventions(put):
    events = [
        {"name": "gen_ai.user.message", "attributes": [{"key": "content", "value": {"stringValue": ONE["question"]}}]},
        {"name": "gen_ai.choice", "attributes": [
            {"key": "message", "value": {"stringValue": json.dumps({"role": "assistant", "content": "Two years."})}}]},
    ]  # fmt: skip
    usage = {"gen_ai.operation.name": "chat", "gen_ai.usage.prompt_tokens": 3, "gen_ai.usage.completion_tokens": 4}
    run, _ = with_spans(put, made.otlp_span(ONE, 0, None, "chat", usage, events=events))
    assert (run.texts[ONE["id"]], run.answers[ONE["id"]].text) == (ONE["question"], "Two years.")
    assert run.answers[ONE["id"]].tokens == 7


def test_observations_of_langfuse_one_a_row(put):
    rows = [row for trace in TRACES for row in made.langfuse(trace)["observations"]]
    rows = [{**row, "parent_observation_id": row.pop("parentObservationId"), "trace_id": row.pop("traceId"),
             "output": json.dumps(row["output"])} for row in rows]  # fmt: skip
    run, taken = run_of(put(lines(rows)))
    assert (taken.format, list(run.docs)[:2]) == ("langfuse", ["manual-3", "manual-4"])
    failed = made.langfuse(ONE)
    failed["observations"][0] |= {"level": "ERROR", "statusMessage": "no model"}
    assert run_of(put(lines([failed])))[0].answers[ONE["id"]].error == "no model"


def test_child_runs_of_langsmith(put):
    root, *children = made.langsmith(ONE)
    for run in (root, *children):
        del run["trace_id"]
    for child in children:
        child["parent_run_id"] = None
    run, _ = run_of(put(lines([{**root, "child_runs": children}])))
    assert (list(run.docs), run.answers[root["id"]].text) == (["manual-3", "manual-4"], "Two years.")
    by_order = [{**run, "dotted_order": f"20231114T221320000000Z{root['id']}.x"} for run in made.langsmith(ONE)]
    for run in by_order:
        del run["trace_id"]
    assert run_of(put(lines(by_order)))[0].asked == (root["id"],)


@pytest.mark.parametrize(
    ("outputs", "docs"),
    [
        (lambda docs: {"query": ONE["question"], "result": "Two years.", "source_documents": docs}, ["3", "4"]),
        (lambda docs: {"input": ONE["question"], "context": docs, "answer": "Two years."}, ["3", "4"]),
        (lambda docs: json.dumps({"output": {"answer": "Two years.", "documents": docs}}), ["3", "4"]),
        (lambda docs: {"answer": "Two years.", "context": "manual-3, manual-4"}, []),
        (lambda docs: {"answer": "Two years.", "documents": [{"role": "user", "content": "manual-3"}]}, []),
    ],
)
@pytest.mark.parametrize("dumped", [False, True])
def test_documents_that_the_root_of_a_trace_without_a_retriever_returned(put, outputs, docs, dumped):
    root, retriever, _ = made.langsmith(ONE)
    documents = retriever["outputs"]["documents"]
    for one in documents:
        one["metadata"]["page"] = 33
    if dumped:
        kind = ["langchain", "schema", "document", "Document"]
        documents = [{"lc": 1, "type": "constructor", "id": kind, "kwargs": one} for one in documents]
    root["outputs"] = outputs(documents)
    run, taken = run_of(put(lines([root])))
    assert list(run.docs) == [f"manual-{number}" for number in docs]
    assert (run.answers[root["id"]].text, run.failed, run.steps) == ("Two years.", {}, {})
    note = "without a retriever: the documents that its root returned are its hits"
    assert f"1 trace {note if docs else 'without retrieval'} ({root['id']})" in taken.notes
    assert sum("counts from 0" in note for note in taken.notes) == bool(docs)

    run, taken = run_of(put(lines([root, retriever])))  # which counts, and its pages once
    assert list(run.docs) == ["manual-3", "manual-4"]
    assert not any("its root returned" in note for note in taken.notes)
    assert any("1 added 2 times" in note for note in taken.notes)
    run, _ = run_of(put(lines([root, *made.langsmith(TRACES[1])])), columns={"span": retriever["name"]})
    assert list(run.docs) == [doc["id"] for doc in TRACES[1]["docs"]]  # and nothing else, as was asked for


def test_pages_of_langchain_count_from_0(put):
    runs = made.langsmith(ONE)
    runs[1]["outputs"]["documents"][0]["metadata"] = {"source": "manual.pdf", "page": 33}
    run, _ = run_of(put(lines(runs)))
    assert run.fields["page"][0] == "34"


def test_earlier_spans_of_mlflow(put):
    trace = made.mlflow(ONE)
    for span in trace["data"]["spans"]:
        span["context"] = {"trace_id": "0x1", "span_id": span.pop("span_id")}
        span["parent_id"] = span.pop("parent_span_id")
        span["start_time"], span["end_time"] = span.pop("start_time_unix_nano"), span.pop("end_time_unix_nano")
        span["status_code"], span["status_message"] = "OK", ""
        del span["status"], span["trace_id"]
    trace["info"] = {"request_id": "tr-1", "status": "ERROR"}
    run, _ = run_of(put(trace))
    assert list(run.docs) == ["manual-3", "manual-4"]
    assert run.answers["tr-1"].error == "failed, for a reason that the trace does not say"


@pytest.mark.slow
@pytest.mark.parametrize(
    "value",
    [
        "Why?",
        '"Why?"',
        {"question": "Why?", "history": []},
        {"input": {"query": "Why?"}, "config": {"k": 3}},
        {"kwargs": {"user_query": "Why?", "k": 3}},
        {"args": ["Why?"]},
        {"q": "Why?"},
        {"messages": [["user", "Hello."], ["assistant", "Hi."], ["user", "Why?"]]},
        {"messages": [{"role": "user", "content": [{"type": "text", "text": "Why?"}]}]},
        {"messages": [{"type": "human", "content": "Why?"}, {"type": "ai", "content": "Because."}]},
        {"new_message": {"role": "user", "parts": [{"text": "Why?"}]}},
    ],
)  # fmt: skip
def test_forms_of_a_question(put, value):
    text = value if isinstance(value, str) else json.dumps(value)
    run, _ = with_spans(put, made.otlp_span(ONE, 0, None, "x", {"input.value": text, "output.value": "Because."}))
    assert run.texts == {ONE["id"]: "Why?"}


@pytest.mark.parametrize(
    "value",
    [
        "Because.",
        {"answer": "Because.", "context": [{"page_content": "x"}], "input": "Why?"},
        {"messages": [{"type": "human", "content": "Why?"}, {"type": "ai", "content": "Because."}]},
        {"choices": [{"message": {"role": "assistant", "content": "Because."}}]},
        {"generations": [[{"text": "Because.", "type": "ChatGeneration"}]]},
        {"content": "Because.", "additional_kwargs": {}, "type": "ai"},
        [{"role": "assistant", "parts": [{"type": "text", "content": "Because."}]}],
    ],
)
def test_forms_of_an_answer(put, value):
    text = value if isinstance(value, str) else json.dumps(value)
    run, _ = with_spans(put, made.otlp_span(ONE, 0, None, "x", {"input.value": "Why?", "output.value": text}))
    assert run.answers[ONE["id"]].text == "Because."


HOSTILE = {
    "an index without end": {f"retrieval.documents.{10**n - 1}.document.id": f"d{n}" for n in range(1, 30)},
    "many documents": {f"retrieval.documents.{n}.document.id": f"d{n}" for n in range(5000)},
    "odd scores": {f"retrieval.documents.0.document.{k}": v for k, v in (("id", "d"), ("score", "high"))},
    "no number": {"retrieval.documents.0.document.id": "d", "retrieval.documents.0.document.score": float("nan")},
    "nothing named": {"retrieval.documents.0.document.score": 0.5, "retrieval.documents.1.document.id": "d"},
    "wrong types": {"retrieval.documents": [1, None, [], {}, {"document": 3}, ["a", 1.0]], "input.value": True},
    "nested text": {"output.value": "[" * 5000, "input.value": '{"a":' * 5000},
    "odd metadata": {"retrieval.documents.0.document.id": "d", "retrieval.documents.0.document.metadata": "[[1]"},
    "odd pages": {"retrieval.documents.0.document.id": "d", "retrieval.documents.0.document.metadata":
                  json.dumps({"page": "xyz", "page_number": 10**40, "span": "a"})},
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_attributes(put, name):
    spans = made.openinference(ONE)
    spans[1] = made.otlp_span(ONE, 1, 0, "retrieve", {"openinference.span.kind": "RETRIEVER", **HOSTILE[name]})
    run, _ = with_spans(put, *spans)
    assert run.texts == {ONE["id"]: ONE["question"]}
    sizes = {"an index without end": 9, "many documents": 5000, "nothing named": 2, "wrong types": 6, "nested text": 0}
    assert len(run) == sizes.get(name, 1)


def test_documents_that_are_missing_are_counted(put):
    spans = made.openinference(ONE)
    found = {f"retrieval.documents.{n}.document.id": f"d{n}" for n in (3, 5, 10**11, "x")}
    found["retrieval.documents.x.document.content"] = "text"
    spans[1] = made.otlp_span(ONE, 1, 0, "retrieve", {"openinference.span.kind": "RETRIEVER", **found})
    spans[1]["droppedAttributesCount"] = 40
    spans[0]["droppedAttributesCount"] = 0
    run, taken = with_spans(put, *spans)
    assert list(run.docs) == ["d3", "d5"]
    assert taken.notes[1:4] == (
        "documents are missing from 1 list: their ranks may be too good",
        "2 documents under an index that is no number of up to 9 digits: left out",
        "1 span lost attributes before the export: documents may be missing",
    )
    assert not any("missing" in note for note in with_spans(put, *made.openinference(ONE))[1].notes)


def test_hostile_spans(put):
    first, second, third = (made.otlp_span(ONE, n, p, "x", {}) for n, p in ((1, 2), (2, 1), (3, 3)))
    chain = made.openinference(TRACES[1])
    odd = [
        {"traceId": None, "spanId": "x"},
        {"traceId": 7, "spanId": 10**30, "name": [], "attributes": {"a": 1}, "events": 3, "status": 7,
         "startTimeUnixNano": 10**400, "endTimeUnixNano": {}},
        {"traceId": "t", "spanId": "s", "attributes": [None, {"key": 3}, {"key": "input.value", "value": 7}],
         "events": [None, {"name": "exception", "attributes": "x"}], "startTimeUnixNano": "-5", "parentSpanId": []},
    ]  # fmt: skip
    run, taken = with_spans(put, first, second, third, *odd, *chain)
    assert run.asked == (TRACES[1]["id"],)
    assert "1 record without any span" in taken.notes
    for number, span in enumerate((first, second), 1):
        found = made.documents([{**ONE["docs"][0], "id": number}])
        span["attributes"] = another("Why?", [], 0, (0, 1), **found)["attributes"]
    run, taken = with_spans(put, first, second, third)
    assert (list(run.docs), run.texts) == (["1"], {ONE["id"]: "Why?"})
    assert f"1 trace without a root: cut off, or begun by another service ({ONE['id']})" in taken.notes
    nest = '{"a": ' * 15 + '"x"' + "}" * 15
    assert not with_spans(put, made.otlp_span(ONE, 0, None, "x", {"input.value": nest}), *chain)[0].texts.get("x")
    deep = [made.otlp_span(ONE, 0, None, "x", {"input.value": "Why?"})]
    for number in range(1, 3000):
        span = made.otlp_span(ONE, 0, None, "x", {})
        span |= {"spanId": f"{number:016x}", "parentSpanId": f"{number - 1:016x}" if number > 1 else deep[0]["spanId"]}
        deep.append(span)
    deep[-1] |= {"attributes": [{"key": "retrieval.documents.0.document.id", "value": {"stringValue": "d"}}]}
    assert list(with_spans(put, *deep)[0].docs) == ["d"]


def test_nesting_without_end_is_refused(put):
    for text in ('{"resourceSpans":' + "[" * 500, '{"resourceSpans":[{"scopeSpans":[{"spans":[' + '{"a":' * 200_000):
        with pytest.raises(InputError, match="nested too deeply"):
            read_results(put(text))
    with pytest.raises(InputError, match="too many digits"):
        read_results(put('{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":' + "9" * 5000 + "}]}]}]}"))
