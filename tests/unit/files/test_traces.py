import base64
import json
import random

import polars as pl
import pytest
from tests.builders import traces as made
from tests.builders.traces import TESTSET, TRACES

import karat
from karat.core.errors import InputError, UsageError
from karat.experiment.inputs import align
from karat.files import convert, read_results, read_testset


def lines(rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


def all_of(spans_of):
    return [span for trace in TRACES for span in spans_of(trace)]


SHAPES = {
    "otlp": ("otlp", json.dumps(made.otlp(all_of(made.openinference)))),
    "otlp, indented": ("otlp", json.dumps(made.otlp(all_of(made.openinference)), indent=2)),
    "otlp, lines": ("otlp", lines(made.otlp([span]) for span in all_of(made.openinference))),
    "otlp, gen_ai": ("otlp", json.dumps(made.otlp(all_of(made.gen_ai)))),
    "otlp, list": ("otlp", json.dumps([made.otlp(made.openinference(trace)) for trace in TRACES])),
    "phoenix": ("phoenix", lines(all_of(made.phoenix))),
    "phoenix, list": ("phoenix", json.dumps(all_of(made.phoenix))),
    "phoenix, by columns": ("phoenix", json.dumps(
        {name: {str(i): row[name] for i, row in enumerate(all_of(made.phoenix))} for name in made.phoenix(TRACES[0])[0]}
    )),
    "phoenix, API": ("phoenix", json.dumps({"data": all_of(made.phoenix_nested), "next_cursor": None})),
    "langfuse": ("langfuse", lines(made.langfuse(trace) for trace in TRACES)),
    "langfuse, API": ("langfuse", json.dumps({"data": [made.langfuse(trace) for trace in TRACES], "meta": {}})),
    "langfuse, one": ("langfuse", json.dumps(made.langfuse(TRACES[0]))),
    "langsmith": ("langsmith", lines(all_of(made.langsmith))),
    "langsmith, list": ("langsmith", json.dumps(all_of(made.langsmith))),
    "langsmith, API": ("langsmith", json.dumps({"runs": all_of(made.langsmith), "cursors": {}})),
    "mlflow": ("mlflow", lines(map(made.mlflow, TRACES))),
    "mlflow, list": ("mlflow", json.dumps(list(map(made.mlflow, TRACES)))),
    "mlflow, one": ("mlflow", json.dumps(made.mlflow(TRACES[0]), indent=1)),
}  # fmt: skip


@pytest.fixture
def put(tmp_path):
    def write(content, name="traces.json"):
        path = tmp_path / name
        text = content if isinstance(content, str) else json.dumps(content)
        path.write_text(text, encoding="utf-8")
        return path

    return write


def run_of(path, **options):
    (run,), taken = read_results(path, **options)
    return run, taken


def same(run, other):
    """Whether two runs hold the same rows, but for the ids of questions."""
    assert [run.texts[q] for q in run.question_ids] == [other.texts[q] for q in other.question_ids]
    assert list(run.docs) == list(other.docs)
    assert run.scores.tolist() == other.scores.tolist()
    assert run.offsets.tolist() == other.offsets.tolist()
    assert run.fields == other.fields
    for one, two in zip(run.answers.values(), other.answers.values(), strict=True):
        assert (one.text, one.model, one.tokens, one.error) == (two.text, two.model, two.tokens, two.error)
        assert one.seconds == pytest.approx(two.seconds, abs=1e-5)


@pytest.mark.parametrize("name", SHAPES)
def test_each_shape_is_told_by_content_and_holds_the_same_results(put, name):
    format, content = SHAPES[name]
    run, taken = run_of(put(content, "x.dat"))
    assert taken.format == format
    wanted = made.canonical(TRACES[:1] if name.endswith("one") else TRACES)
    expected, _ = run_of(put(lines(wanted), "canonical.jsonl"))
    same(run, expected)


@pytest.mark.parametrize("name", [name for name in SHAPES if not name.endswith("one")])
def test_scores_are_those_of_the_same_results(put, name):
    testset = put(lines(TESTSET), "testset.jsonl")
    measures = ["nDCG@3", "Recall@1", "MRR", "token_f1", "tokens", "seconds"]
    wanted = karat.score(testset, put(lines(made.canonical()), "x.jsonl"), measures=measures[:4])
    scored = karat.score(testset, put(SHAPES[name][1], "x.dat"), measures=measures[:4])
    for measure in measures[:4]:
        assert scored.mean(measure) == pytest.approx(wanted.mean(measure), abs=1e-9)
    assert scored.mean("MRR") == pytest.approx(0.75)


def test_conversion_loses_nothing(put, tmp_path):
    for format, content in SHAPES.values():
        taken, written, lost = convert(put(content, "x.dat"), tmp_path / "rows.jsonl")
        assert (taken.format, written, lost) == (format, "canonical", [])
        same(run_of(tmp_path / "rows.jsonl")[0], run_of(put(content, "x.dat"))[0])


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_dataframe_of_phoenix_as_a_table(tmp_path, ending):
    rows = all_of(made.phoenix)
    path = tmp_path / f"spans.{ending}"
    if ending == "csv":  # as pandas prints lists of dicts
        rows = [{key: str(value) if isinstance(value, list) else value for key, value in row.items()} for row in rows]
        pl.DataFrame(rows).write_csv(path)
    else:
        pl.DataFrame(rows).write_parquet(path)
    run, taken = run_of(path)
    assert (taken.format, list(run.docs)) == ("phoenix", ["manual-3", "manual-4", "manual-9", "oil-1", "manual-1"])
    assert run.fields["doc"][3] == "oil.pdf"


def test_spans_as_python_has_them():
    from karat.files import as_runs

    for rows in (all_of(made.phoenix), all_of(made.langsmith), [made.otlp(all_of(made.openinference))]):
        (run,), (taken,) = as_runs(rows)
        assert taken.format in ("phoenix", "langsmith", "otlp")
        assert len(run) == 5


def test_order_and_spelling_of_ids_do_not_matter(put):
    spans = all_of(made.openinference)
    for span in spans:
        for name in ("traceId", "spanId", "parentSpanId"):
            span[name] = base64.b64encode(bytes.fromhex(span[name])).decode()
    random.Random(1).shuffle(spans)
    run, _ = run_of(put(lines(made.otlp([span]) for span in spans)))
    expected, _ = run_of(put(SHAPES["otlp"][1], "y.json"))
    same(run, expected)
    assert run.question_ids == expected.question_ids == [trace["id"] for trace in TRACES]


def with_spans(put, *spans, columns=None):
    return run_of(put(made.otlp(spans)), columns=columns)


ONE = TRACES[0]
HTTP = {"http.request.method": "POST", "url.path": "/ask", "input.value": json.dumps({"query": "k=3"})}


def test_a_root_that_is_a_request(put):
    chain, retriever, _, model = made.openinference(ONE)
    request = made.otlp_span(ONE, 9, None, "POST /ask", HTTP, (0, 5), kind=2)
    chain["parentSpanId"] = request["spanId"]
    run, _ = with_spans(put, model, retriever, chain, request)
    assert run.texts == {ONE["id"]: ONE["question"]}
    assert run.answers[ONE["id"]].text == ONE["answer"]
    assert run.answers[ONE["id"]].seconds["total"] == pytest.approx(5)


def test_without_chains_the_retriever_asks_and_the_last_model_answers(put):
    _, retriever, _, model = made.openinference(ONE)
    request = made.otlp_span(ONE, 0, None, "POST /ask", HTTP, (0, 5), kind=2)
    first = made.otlp_span(ONE, 8, 0, "rewrite", {
        "openinference.span.kind": "LLM", "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.content": "warranty length"}, (0, 0.4))  # fmt: skip
    run, _ = with_spans(put, request, first, retriever, model)
    assert (run.texts[ONE["id"]], run.answers[ONE["id"]].text) == (ONE["question"], ONE["answer"])


def reranker(docs, *, given=None, number=5, times=(1.6, 1.9), parent=0):
    attributes = {"openinference.span.kind": "RERANKER", "reranker.query": ONE["question"]}
    attributes |= made.documents(docs, "reranker.output_documents")
    attributes |= made.documents(given or [], "reranker.input_documents")
    return made.otlp_span(ONE, number, parent, "rerank", attributes, times)


@pytest.mark.parametrize("given", [None, ONE["docs"]])
def test_a_reranker_replaces_what_it_was_given(put, given):
    run, _ = with_spans(put, *made.openinference(ONE), reranker(ONE["docs"][1:], given=given))
    assert (list(run.docs), run.steps) == (["manual-4"], {})
    assert run.answers[ONE["id"]].seconds["retrieve"] == pytest.approx(1.3)
    chain, retriever, *others = made.openinference(ONE)
    del retriever["attributes"][2:]  # what it returned is not said
    run, _ = with_spans(put, chain, retriever, *others, reranker(ONE["docs"][1:], given=given))
    assert (list(run.docs), run.steps) == (["manual-4"], {})


def another(query, docs, number, times, **attributes):
    attributes = {"openinference.span.kind": "RETRIEVER", "input.value": query, **made.documents(docs), **attributes}
    return made.otlp_span(ONE, number, 0, "second", attributes, times)


def test_several_retrievals_make_steps(put, tmp_path):
    more = [TRACES[1]["docs"][0], ONE["docs"][0]]
    run, taken = with_spans(put, *made.openinference(ONE), another("warranty years", more, 6, (1.6, 1.8)))
    assert list(run.docs) == ["manual-3", "manual-4", "manual-9"]
    first, second = run.steps[ONE["id"]]
    assert [hit["id"] for hit in second["retrieved"]] == ["manual-9", "manual-3"]
    assert (first["query"], first["tool"], second["query"]) == (ONE["question"], "retrieve", "warranty years")
    assert second["seconds"] == pytest.approx(0.2)
    assert any(note.startswith("1 trace with several retrievals: steps") for note in taken.notes)
    convert(tmp_path / "traces.json", tmp_path / "rows.jsonl")
    again, _ = run_of(tmp_path / "rows.jsonl")
    assert again.steps == run.steps
    assert convert(tmp_path / "traces.json", tmp_path / "rows.ragas.jsonl")[2][-1] == (
        "the retrievals of questions that had several"
    )
    testset = tmp_path / "testset.jsonl"
    testset.write_text(lines(TESTSET))
    assert karat.score(testset, tmp_path / "traces.json", measures=["MRR"]).mean("MRR") == 0.5
    aligned, _ = align(karat.load_testset(testset), run)
    assert aligned.steps == {"q1": run.steps[ONE["id"]]}


def test_a_reranker_that_was_given_other_documents_is_a_step_of_its_own(put):
    spans = [*made.openinference(ONE), another("oil", TRACES[1]["docs"], 6, (1.6, 1.8))]
    run, _ = with_spans(put, *spans, reranker(ONE["docs"][1:], given=ONE["docs"], times=(1.9, 2)))
    assert [step["tool"] for step in run.steps[ONE["id"]]] == ["second", "rerank"]
    assert list(run.docs) == ["manual-9", "oil-1", "manual-1", "manual-4"]


def test_of_retrievers_inside_a_retriever_the_outer_one_counts(put):
    chain, retriever, embedding, model = made.openinference(ONE)
    inner = another("rephrased", TRACES[1]["docs"], 6, (0.6, 0.8))
    inner["parentSpanId"] = embedding["spanId"]
    run, _ = with_spans(put, chain, retriever, embedding, model, inner)
    assert (list(run.docs), run.steps) == (["manual-3", "manual-4"], {})
    del retriever["attributes"][2:]  # a retriever that does not say what it returned
    run, _ = with_spans(put, chain, retriever, embedding, model, inner)
    assert list(run.docs) == ["manual-9", "oil-1", "manual-1"]


def mistyped(kind):
    spans = made.openinference(ONE)
    found = [{"id": doc["id"], "content": doc["text"], "score": doc["score"]} for doc in ONE["docs"]]
    output = {"input.value": json.dumps({"q": ONE["question"]}), "output.value": json.dumps(found)}
    spans[1] = made.otlp_span(ONE, 1, 0, "search_docs", {**kind, **output}, (0.5, 1.5))
    return spans


@pytest.mark.parametrize("kind", [{}, {"openinference.span.kind": "CHAIN"}, {"openinference.span.kind": "TOOL"}])
def test_a_retriever_of_another_kind_is_named(put, kind):
    run, taken = with_spans(put, *mistyped(kind))
    assert not len(run)
    assert f"1 trace without retrieval ({ONE['id']})" in taken.notes
    run, taken = with_spans(put, *mistyped(kind), columns={"span": "search_docs"})
    assert list(run.docs) == ["manual-3", "manual-4"]
    assert not any("--map" in note for note in taken.notes)


def test_a_named_span_counts_alone(put):
    spans = [*made.openinference(ONE), reranker(ONE["docs"][1:])]
    run, _ = with_spans(put, *spans, columns={"span": "retrieve"})
    assert list(run.docs) == ["manual-3", "manual-4"]
    run, _ = with_spans(put, *spans, columns={"span": "rerank"})
    assert list(run.docs) == ["manual-4"]


def test_a_name_that_no_span_has(put):
    with pytest.raises(UsageError, match=r"no span of that name. Did you mean retrieve\? Its spans are") as caught:
        with_spans(put, *made.openinference(ONE), columns={"span": "retrieved"})
    assert '"chat" (1)' in str(caught.value)


def test_the_name_of_a_span_is_for_traces(put):
    traces = put(made.otlp(mistyped({})))
    testset = put(lines(TESTSET), "testset.jsonl")
    assert karat.score(testset, traces, measures=["MRR"], columns={"span": "search_docs"}).mean("MRR") == 0.5
    with pytest.raises(UsageError, match=r"--map span=search: there are no traces here"):
        karat.score(testset, put(lines(made.canonical()), "r.jsonl"), measures=["MRR"], columns={"span": "search"})


def test_tokens_that_a_parent_repeats_count_once(put):
    chain, retriever, embedding, model = made.openinference(ONE)
    chain["attributes"].append({"key": "llm.token_count.total", "value": {"intValue": "150"}})
    second = made.otlp_span(ONE, 7, 0, "chat", {"openinference.span.kind": "LLM", "llm.token_count.total": 30}, (1, 2))
    inner = made.otlp_span(ONE, 8, 7, "openai", {"openinference.span.kind": "LLM", "llm.token_count.total": 30}, (1, 2))
    run, _ = with_spans(put, chain, retriever, embedding, model, second, inner)
    assert run.answers[ONE["id"]].tokens == 150
    del chain["attributes"][-1]
    run, _ = with_spans(put, chain, retriever, embedding, model, second, inner)
    assert run.answers[ONE["id"]].tokens == 150


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


def test_traces_are_no_test_set(put):
    with pytest.raises(InputError, match="holds results"):
        read_testset(put(SHAPES["otlp"][1]))
    with pytest.raises(InputError, match="none of 1 trace makes a row: 1 trace without a question"):
        with_spans(put, made.otlp_span(ONE, 0, None, "tick", {}))
    with pytest.raises(InputError, match="no spans"):
        read_results(put({"resourceSpans": []}))


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
